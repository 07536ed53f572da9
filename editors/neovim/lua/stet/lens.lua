--- Shows the evidence for changed code at the end of its first line, until that code changes again.
local window = require("stet.window")

local M = {}

local namespace = vim.api.nvim_create_namespace("stet.lens")

--- How a lens is drawn: at the end of the line if it fits the window, else above it.
local function at(bufnr, line, title)
  title = title:gsub("show$", ":Stet evidence · :Stet undo")
  local code = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1]
  local winid = vim.fn.bufwinid(bufnr)
  local room = winid == -1 and vim.o.columns or window.width(winid)
  if vim.fn.strdisplaywidth(code .. "  " .. title) <= room then
    return { virt_text = { { "  " .. title, "LspCodeLens" } }, hl_mode = "combine" }
  end
  local indent = code:match("^%s*")
  local rows = vim.tbl_map(function(row)
    return { { indent .. row, "LspCodeLens" } }
  end, window.folded(title, math.max(room - vim.fn.strdisplaywidth(indent), 20)))
  return { virt_lines = rows, virt_lines_above = true }
end

--- Requests the lenses of a buffer and replaces the shown ones.
function M.refresh(client, bufnr)
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  client:request("textDocument/codeLens", params, function(err, lenses)
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    for _, lens in ipairs(not err and lenses or {}) do
      local line = lens.range.start.line
      if line < vim.api.nvim_buf_line_count(bufnr) then
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, at(bufnr, line, lens.command.title))
      end
    end
  end, bufnr)
end

--- Handles `workspace/codeLens/refresh`, which is sent after an edit was applied and when one of its lines changed.
function M.on_refresh(_, _, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  if vim.g.stet_lens ~= false then
    for bufnr in pairs(client.attached_buffers) do
      M.refresh(client, bufnr)
    end
  end
  return vim.NIL
end

return M
