--- Messages of Stet. Neovim's own display of server messages ends in a line break, which prompts for <Enter>.
local M = {}

--- Makes room for a message. The prompt of `vim.ui.select` or `vim.ui.input` may stay on the screen after the choice:
--- a message below it would prompt for <Enter>, and block everything until then.
function M.clear()
  vim.cmd.redraw()
end

--- Shows a message. One that takes more than a line would prompt for <Enter>: it is cut, and is whole in `:messages`.
--- `more` is what then stands at its end.
function M.say(message, level, more)
  M.clear()
  local text = "Stet: " .. message
  local room = vim.o.columns - 12
  if vim.fn.strdisplaywidth(text) < room and not text:find("\n") then
    return vim.notify(text, level or vim.log.levels.INFO)
  end
  local options = vim.o.messagesopt
  vim.o.messagesopt = "wait:0," .. options:match("history:%d+")
  vim.notify(text, level or vim.log.levels.INFO)
  vim.cmd.redraw({ bang = true })
  vim.o.messagesopt = options
  if vim.endswith(vim.fn.execute("messages"), text) then -- else a plugin shows it, in a place of its own
    more = ("… (%s)"):format(more or ":messages")
    local line = vim.fn.strcharpart((text:gsub("\n", " ")), 0, room - vim.fn.strchars(more)) .. more
    vim.schedule(function() -- once the screen is drawn again, over which the whole one went
      M.clear()
      vim.api.nvim_echo({ { line, level and level >= vim.log.levels.WARN and "WarningMsg" or nil } }, false, {})
    end)
  end
end

--- Handles `window/showMessage`.
function M.show(_, params)
  -- From 1 (error) to 4; Neovim counts in reverse.
  M.say(params.message, vim.log.levels.ERROR + 1 - params.type)
  return vim.NIL
end

--- Adds a hint to the message that the server has just shown, which it would replace alone. `command` is what is left of
--- the hint where both do not fit.
function M.hint(message, text, command, level)
  M.say(message .. " " .. text, level, command)
end

return M
