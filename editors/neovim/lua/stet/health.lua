--- :checkhealth stet
local M = {}

function M.check()
  vim.health.start("stet")
  if vim.fn.has("nvim-0.11") == 1 then
    vim.health.ok("Neovim " .. tostring(vim.version()))
  else
    vim.health.error("Neovim 0.11 or newer is needed")
  end
  local command = (vim.lsp.config.stet or {}).cmd or { "stet" }
  if vim.fn.executable(command[1]) == 0 then
    vim.health.error(("%q is not on PATH"):format(command[1]), { "pip install 'stet-ls[local]'", "or: uv tool install 'stet-ls[local]'" })
    return
  end
  local version = vim.system({ command[1], "--version" }):wait(10000)
  if version.code == 0 then
    vim.health.ok(vim.trim(version.stdout))
  else
    vim.health.error("stet --version failed: " .. vim.trim(version.stderr or ""))
    return
  end
  local attached = #vim.lsp.get_clients({ name = "stet" })
  if attached > 0 then
    vim.health.ok(("%d server running"):format(attached))
  else
    vim.health.warn("no server is attached yet; open a file")
  end
  vim.health.info("Model, checkers and sandbox: run `stet doctor`")
end

return M
