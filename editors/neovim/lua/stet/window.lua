--- Where reports are shown: in a floating window that goes with the next movement, or in a window that stays.
local M = {}

local function lines_of(markdown)
  return vim.split(vim.trim(markdown), "\n")
end

--- Beside the cursor, until it moves.
function M.float(markdown)
  vim.lsp.util.open_floating_preview(lines_of(markdown), "markdown", {
    border = "rounded",
    max_width = math.min(100, vim.o.columns - 4),
    max_height = math.floor(vim.o.lines * 0.7),
    focus_id = "stet",
    wrap = true,
  })
end

--- In a window of its own.
function M.stay(markdown)
  vim.cmd("new")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines_of(markdown))
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.modifiable, vim.bo.filetype = "nofile", "wipe", false, "markdown"
end

--- A file that an edit changed, in a window beside if none shows it: who does not see it forgets to write it.
function M.beside(path)
  local bufnr = vim.fn.bufadd(path) -- by its name alone: to `bufnr` a path is a pattern
  if vim.fn.bufwinid(bufnr) == -1 then
    vim.bo[bufnr].buflisted = true
    vim.cmd.sbuffer(bufnr)
    vim.cmd.wincmd("p")
  end
end

--- A job's evidence, as `stet.evidence` answers: its report, and the files of the one check that was asked for.
function M.evidence(result, check)
  M.stay(result.markdown)
  for _, each in ipairs(check ~= "" and result.attachments or {}) do
    if each.uri ~= vim.NIL then
      vim.cmd.split(vim.fn.fnameescape(vim.uri_to_fname(each.uri)))
    end
  end
end

return M
