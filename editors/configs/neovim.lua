-- Neovim 0.11 or newer: put this into init.lua. The plugin in editors/neovim adds the command :Stet.
vim.lsp.config("stet", {
  cmd = { "stet", "--stdio" },
  root_markers = { ".stet.toml", ".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml" },
  flags = { debounce_text_changes = 0 }, -- the server hears of your typing before it sends an edit
})
vim.lsp.enable("stet")
-- Actions: select code, then  gra  (or :lua vim.lsp.buf.code_action()).
