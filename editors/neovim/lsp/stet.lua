-- Configuration of the Stet language server for Neovim 0.11 (`vim.lsp.enable("stet")`).
-- No `filetypes`: Stet works in every file. Without a root marker it runs on the single file.
return {
  cmd = { "stet", "--stdio" },
  root_markers = { ".stet.toml", ".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml" },
  -- Neovim does not check the version of an edit for a buffer that was never changed. Changes are sent at once, so
  -- that the server has them before its edit arrives.
  flags = { debounce_text_changes = 0 },
  init_options = { plugin = { name = "neovim", reports = true, offers = true } },
  -- Actions that are chosen from a menu run like those of :Stet, so that their reports are shown too.
  commands = require("stet").client_commands(),
  on_exit = vim.schedule_wrap(function(code, signal, client)
    require("stet.question").leave(client)
    require("stet.progress").forget()
    require("stet.server").on_exit(code, signal, client)
  end),
  -- Neovim 0.11 pulls diagnostics and lenses but cannot be asked to pull again; the plugin can.
  capabilities = { workspace = { diagnostics = { refreshSupport = true }, codeLens = { refreshSupport = true } } },
  handlers = {
    ["window/showMessage"] = require("stet.messages").show,
    ["window/showMessageRequest"] = require("stet.question").request,
    ["stet/offer"] = require("stet.question").offer,
    ["workspace/applyEdit"] = require("stet.edit").apply,
    ["workspace/codeLens/refresh"] = require("stet.lens").on_refresh,
    ["workspace/diagnostic/refresh"] = require("stet.diagnostics").refresh,
  },
}
