--- Messages of Stet. Neovim's own display of server messages ends in a line break, which prompts for <Enter>.
local M = {}

--- Makes room for a message. The prompt of `vim.ui.select` or `vim.ui.input` may stay on the screen after the choice:
--- a message below it would prompt for <Enter>, and block everything until then.
function M.clear()
  vim.cmd.redraw()
end

--- The columns of a message that does not prompt for <Enter>.
local function room()
  return vim.o.columns - 12
end

--- Whether a message takes more than one line.
local function is_long(text)
  return vim.fn.strdisplaywidth(text) >= room() or text:find("\n") ~= nil
end

--- Shows what fits a line, with `more` at its end; it is not kept in `:messages`. Addresses in parentheses give way
--- first: the cause stands behind them.
local function show_cut(text, level, more)
  more = ("… (%s)"):format(more)
  text = text:gsub("\n", " "):gsub("%s%(https?://[^)]*%)", "")
  local line = vim.fn.strcharpart(text, 0, room() - vim.fn.strchars(more)) .. more
  vim.schedule(function() -- once the screen is drawn again, over which the whole one went
    M.clear()
    vim.api.nvim_echo({ { line, level and level >= vim.log.levels.WARN and "WarningMsg" or nil } }, false, {})
  end)
end

--- Shows a message. One that takes more than a line would prompt for <Enter>: it is cut, and is whole in `:messages`.
function M.say(message, level)
  M.clear()
  local text = "Stet: " .. message
  if not is_long(text) then
    return vim.notify(text, level or vim.log.levels.INFO)
  end
  local options = vim.o.messagesopt
  vim.o.messagesopt = "wait:0," .. options:match("history:%d+")
  vim.notify(text, level or vim.log.levels.INFO)
  vim.cmd.redraw({ bang = true })
  vim.o.messagesopt = options
  if vim.endswith(vim.fn.execute("messages"), text) then -- else a plugin shows it, in a place of its own
    show_cut(text, level, ":messages")
  end
end

--- Handles `window/showMessage`.
function M.show(_, params)
  -- From 1 (error) to 4; Neovim counts in reverse.
  M.say(params.message, vim.log.levels.ERROR + 1 - params.type)
  return vim.NIL
end

--- Adds a hint to the message that the server has just shown. Where both do not fit, the message stays: it has the cause.
function M.hint(message, text, level)
  local both = message .. " " .. text
  if not is_long("Stet: " .. both) then
    M.say(both, level)
  end
end

return M
