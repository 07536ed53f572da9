-- Configuration of the Stet language server for Neovim 0.11 (`vim.lsp.enable("stet")`).
-- No `filetypes`: Stet works in every file. Without a root marker it runs on the single file.
return {
  cmd = require("stet.server").command(),
  root_markers = { ".stet.toml", ".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml" },
  -- Neovim does not check the version of an edit for a buffer that was never changed. Changes are sent at once, so
  -- that the server has them before its edit arrives.
  flags = { debounce_text_changes = 0 },
  init_options = { plugin = { name = "neovim", reports = true, offers = true, diffs = true, models = true } },
  -- Actions that are chosen from a menu run like those of :Stet, so that their reports are shown too.
  commands = require("stet").client_commands(),
  on_exit = function(code, signal, id)
    local client = vim.lsp.get_client_by_id(id) -- gone a moment later
    local wanted = client ~= nil and client._is_stopping == true
    vim.schedule(function()
      require("stet.edits.question").leave(id)
      require("stet.progress").forget()
      if not wanted then
        require("stet.server").on_crash(code, signal)
      end
    end)
  end,
  -- Neovim 0.11 pulls diagnostics and lenses but cannot be asked to pull again; the plugin can.
  capabilities = { workspace = { diagnostics = { refreshSupport = true }, codeLens = { refreshSupport = true } } },
  handlers = {
    ["window/showMessage"] = require("stet.messages").show,
    ["window/showMessageRequest"] = require("stet.edits.question").request,
    ["stet/offer"] = require("stet.edits.question").offer,
    ["stet/noModel"] = require("stet.edits.question").no_model,
    ["workspace/applyEdit"] = require("stet.edits.apply").apply,
    ["workspace/codeLens/refresh"] = require("stet.lens").on_refresh,
    ["workspace/diagnostic/refresh"] = require("stet.diagnostics").refresh,
  },
}
