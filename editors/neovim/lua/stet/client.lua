--- The running server of a buffer, or why there is none.
local server = require("stet.server")

local M = {}

--- Milliseconds that a command waits for a server that is starting (CTRL-C ends it), and for one that has not
--- started yet.
local ATTACH, START = 30000, 1500

--- The server of a buffer. Right after the start of the editor it may not be running yet.
function M.of(bufnr)
  if server.obstacle() then
    return nil
  end
  local function found()
    return vim.lsp.get_clients({ name = "stet", bufnr = bufnr, _uninitialized = true })[1]
  end
  -- A buffer with a file type gets its server soon after; finding the project root may take a moment.
  if vim.bo[bufnr].filetype ~= "" and vim.bo[bufnr].buftype == "" then
    vim.wait(START, found, 20)
  end
  vim.wait(ATTACH, function()
    local client = found()
    return client == nil or client.initialized
  end, 20)
  local client = found()
  return client and client.initialized and client or nil
end

--- Any running server: subcommands other than actions also work from a report's window.
function M.any()
  return vim.iter(vim.lsp.get_clients({ name = "stet" })):find(function(client)
    return client.initialized
  end)
end

--- Why no server serves a buffer.
function M.why_not(bufnr)
  if server.obstacle() then
    return server.obstacle()
  end
  if vim.startswith(vim.api.nvim_buf_get_name(bufnr), "stet://") then
    return "an edit waits here: `a` applies it, `q` discards it"
  end
  local why = vim.bo[bufnr].filetype == "" and "it has no type: `:setfiletype python`, for instance"
    or "`:Stet restart` starts it; see :checkhealth stet"
  return ("the server is not attached to this buffer (%s)"):format(why)
end

return M
