-- Actions: select code, then  gra  (or :lua vim.lsp.buf.code_action()).
vim.lsp.config("stet", {
  cmd = { "stet", "--stdio" },
  root_markers = { ".stet.toml", ".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml" },
  flags = { debounce_text_changes = 0 }, -- the server hears of your typing before it sends an edit
})
vim.lsp.enable("stet")
