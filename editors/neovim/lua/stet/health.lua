--- :checkhealth stet
local M = {}

local INSTALL = { "in a clone of Stet: uv tool install '.[full]'", "or: pipx install '.[full]'" }

--- The command that starts the server, with an option that prints its version instead.
local function version_command(cmd)
  local argv = vim.tbl_filter(function(word)
    return word ~= "--stdio"
  end, cmd)
  return vim.list_extend(argv, { "--version" })
end

local function check_command(cmd)
  if type(cmd) ~= "table" then
    vim.health.info("the server is reached by a function, not by a command")
    return
  end
  if vim.fn.executable(cmd[1]) == 0 then
    vim.health.error(("%q is not on PATH"):format(cmd[1]), INSTALL)
    return
  end
  local version = vim.system(version_command(cmd), { text = true }):wait(30000)
  if version.code == 0 then
    vim.health.ok(vim.trim(version.stdout))
  else
    vim.health.error(("%s --version failed: %s"):format(cmd[1], vim.trim(version.stderr or "")), INSTALL)
  end
end

function M.check()
  vim.health.start("stet")
  if vim.fn.has("nvim-0.11") == 0 then
    vim.health.error("Neovim 0.11 or newer is needed")
    return
  end
  vim.health.ok("Neovim " .. tostring(vim.version()))
  check_command(vim.lsp.config.stet.cmd)
  local clients = vim.lsp.get_clients({ name = "stet" })
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    vim.health.ok(("running on %s, %d buffers"):format(client.root_dir or "single files", buffers))
  end
  if #clients == 0 then
    vim.health.warn("no server is running; open a file (and see :help stet-setup)")
  end
  vim.health.info("Model, checkers and sandbox: run `stet doctor`")
end

return M
