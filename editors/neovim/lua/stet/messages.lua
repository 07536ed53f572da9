--- What Stet says in messages. Those that Neovim would show of a server end in a new line, and ask for <Enter> for it.
local M = {}

--- Makes room for a message. What `vim.ui.select` or `vim.ui.input` asked may stand on the screen after the choice, too:
--- a message below it would ask for <Enter>, and nothing would go on until then.
function M.clear()
  vim.cmd.redraw()
end

function M.say(message, level)
  M.clear()
  vim.notify("Stet: " .. message, level or vim.log.levels.INFO)
end

--- Handles `window/showMessage`.
function M.show(_, params)
  -- From 1, the error, to 4; Neovim counts the other way round.
  M.say(params.message, vim.log.levels.ERROR + 1 - params.type)
  return vim.NIL
end

--- Adds a hint to the message that the server has just shown; alone it would take the place of a message of one line.
function M.hint(message, text, level)
  if vim.fn.strdisplaywidth("Stet: " .. message) >= vim.o.columns then
    M.say(text)
  else
    M.say(message .. " " .. text, level)
  end
end

return M
