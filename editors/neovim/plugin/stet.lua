-- :Stet ACTION [TEXT], for a range, a visual selection, or the code at the cursor.
if vim.g.loaded_stet then
  return
end
vim.g.loaded_stet = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify("Stet needs Neovim 0.11 or newer", vim.log.levels.WARN)
  return
end

if vim.g.stet_enable ~= false then
  vim.lsp.enable("stet")
end

local group = vim.api.nvim_create_augroup("stet", {})

if vim.g.stet_progress ~= false then
  vim.api.nvim_create_autocmd("LspProgress", {
    group = group,
    callback = function(event)
      require("stet.progress").show(event)
    end,
  })
end

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  callback = vim.schedule_wrap(function(event)
    if vim.api.nvim_buf_is_valid(event.buf) then
      require("stet.server").tell_missing(event.buf)
    end
  end),
})

vim.api.nvim_create_autocmd("DiagnosticChanged", {
  group = group,
  callback = function(event)
    require("stet.diagnostics").tell(event.buf)
  end,
})

vim.api.nvim_create_autocmd("BufWritePost", {
  group = group,
  callback = function(event)
    require("stet.edits.marks").forget(event.buf)
  end,
})

-- No keys are taken: `vim.keymap.set({ "n", "x" }, "<Leader>sr", "<Plug>(stet-refactor)")`.
for _, action in ipairs({ "generate", "debug", "refactor", "optimize", "test", "explain", "analyze", "task", "document" }) do
  -- With a selection, `:` brings its range along.
  vim.keymap.set({ "n", "x" }, ("<Plug>(stet-%s)"):format(action), (":Stet %s<CR>"):format(action), { silent = true })
end
vim.keymap.set({ "n", "x" }, "<Plug>(stet)", ":Stet<CR>", { silent = true })

vim.api.nvim_create_user_command("Stet", function(call)
  require("stet").command(call)
end, {
  nargs = "*",
  bang = true,
  range = true,
  desc = "Run a Stet action: :Stet refactor make it shorter",
  complete = function(lead, line)
    return require("stet").complete(lead, line)
  end,
})

-- Plugin managers make the tags of the help; who only sets 'runtimepath' has none.
local doc = vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))), "doc")
if not vim.uv.fs_stat(vim.fs.joinpath(doc, "tags")) and vim.fn.filewritable(doc) == 2 then
  pcall(vim.cmd.helptags, vim.fn.fnameescape(doc))
end
