--- Edits of a buffer without a name. All such buffers have the URI "file://", which Neovim cannot map to a buffer.
local M = {}

local URI = vim.uri_from_fname("")

--- The one unnamed buffer of a client; nil if there are several, for then the server cannot tell them apart either.
local function buffer_of(client)
  local found = vim.tbl_filter(function(bufnr)
    return vim.api.nvim_buf_get_name(bufnr) == ""
  end, vim.tbl_keys(client.attached_buffers))
  return #found == 1 and found[1] or nil
end

--- Handles `workspace/applyEdit`: as Neovim does, except for an edit of only the unnamed buffer.
function M.apply_edit(err, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local changes = params.edit.documentChanges or {}
  local target = #changes == 1 and changes[1].textDocument
  local bufnr = target and target.uri == URI and buffer_of(client)
  -- Neovim prints the label in full: a long one would prompt for <Enter> before the edit is visible.
  params.label = nil
  if not bufnr then
    return vim.lsp.handlers["workspace/applyEdit"](err, params, context)
  end
  local version = vim.lsp.util.buf_versions[bufnr]
  if target.version ~= vim.NIL and target.version ~= version then
    return { applied = false, failureReason = ("the buffer has version %d"):format(version) }
  end
  vim.lsp.util.apply_text_edits(changes[1].edits, bufnr, client.offset_encoding)
  return { applied = true }
end

return M
