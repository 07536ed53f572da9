--- Messages of Stet. Neovim's own display of server messages ends in a line break, which prompts for <Enter>.
local M = {}

--- Makes room for a message. The prompt of `vim.ui.select` or `vim.ui.input` may stay on the screen after the choice:
--- a message below it would prompt for <Enter>, and block everything until then.
function M.clear()
  vim.cmd.redraw()
end

function M.say(message, level)
  M.clear()
  vim.notify("Stet: " .. message, level or vim.log.levels.INFO)
end

--- Handles `window/showMessage`.
function M.show(_, params)
  -- From 1 (error) to 4; Neovim counts in reverse.
  M.say(params.message, vim.log.levels.ERROR + 1 - params.type)
  return vim.NIL
end

--- Adds a hint to the message that the server has just shown; alone it would replace a message of one line.
function M.hint(message, text, level)
  if vim.fn.strdisplaywidth("Stet: " .. message) >= vim.o.columns then
    M.say(text)
  else
    M.say(message .. " " .. text, level)
  end
end

return M
