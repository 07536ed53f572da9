--- Shows the evidence for changed code at the end of its first line, until that code changes again.
local M = {}

local namespace = vim.api.nvim_create_namespace("stet.lens")

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
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, {
          virt_text = { { "  " .. lens.command.title:gsub("show$", ":Stet evidence"), "LspCodeLens" } },
          hl_mode = "combine",
        })
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
