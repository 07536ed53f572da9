--- The server's process: not installed, stopped by itself, restarted.
local messages = require("stet.messages")

local M = {}

--- Milliseconds within which a second stop is not answered by another start: the server would stop again.
local AGAIN = 60000

--- Milliseconds that a restart waits for the old process.
local STOP = 5000

--- When the server was last started after it had stopped by itself.
local restarted = -AGAIN

--- The command of the server: the one that installed this plugin (`stet editor neovim --install`), else that on PATH.
function M.command()
  local ok, installed = pcall(require, "stet.installed")
  return ok and vim.fn.executable(installed.cmd[1]) == 1 and installed.cmd or { "stet", "--stdio" }
end

--- Why the server cannot start, nil if nothing is known to be in its way.
function M.obstacle()
  local cmd = vim.lsp.config.stet.cmd
  if type(cmd) == "table" and vim.fn.executable(cmd[1]) == 0 then
    return ("the server %q is not installed or not on PATH. Install it (:help stet-setup), then run `:Stet restart`"):format(cmd[1])
  end
end

--- Tells once in a session that the server is missing: without a command, Neovim starts none and says nothing.
function M.tell_missing(bufnr)
  local obstacle = vim.bo[bufnr].buftype == "" and vim.lsp.is_enabled("stet") and M.obstacle()
  if obstacle then
    vim.notify_once("Stet: " .. obstacle, vim.log.levels.WARN)
  end
end

--- Starts the server for all open buffers; a running one is stopped first.
function M.restart()
  local obstacle = M.obstacle()
  if obstacle then
    messages.say(obstacle, vim.log.levels.WARN)
    return
  end
  local ids = {}
  for _, client in ipairs(vim.lsp.get_clients({ name = "stet", _uninitialized = true })) do
    table.insert(ids, client.id)
    client:stop(true)
  end
  vim.wait(STOP, function()
    return vim.iter(ids):all(function(id)
      return vim.lsp.get_client_by_id(id) == nil
    end)
  end, 20)
  vim.lsp.enable("stet")
  messages.say("the server was started")
end

--- Handles the end of a server that no one stopped: it is started again, once a minute at most.
function M.on_crash(code, signal)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local how = signal ~= 0 and "signal " .. signal or "exit code " .. code
  local text = ("the server ended (%s); no text was changed. "):format(how)
  if vim.uv.now() - restarted < AGAIN then
    messages.say(text .. "`:Stet restart` starts it again, `:Stet log` shows why", vim.log.levels.ERROR)
    return
  end
  restarted = vim.uv.now()
  vim.lsp.enable("stet")
  messages.say(text .. "It was started again; `:Stet retry` repeats the last job", vim.log.levels.WARN)
end

--- Opens the server's log, given by its path.
function M.log(path)
  vim.cmd.split(vim.fn.fnameescape(path))
  vim.bo.autoread = true
  vim.cmd("normal! G")
end

return M
