--- Edits of the server, as Neovim applies them, with two differences: each is an undo step of its own, and a buffer
--- without a name can be edited. All such buffers have the URI "file://", which Neovim cannot map to a buffer.
local marks = require("stet.edits.marks")

local M = {}

local URI = vim.uri_from_fname("")

--- The one unnamed buffer of a client; nil if there are several, for then the server cannot tell them apart either.
local function buffer_of(client)
  local found = vim.tbl_filter(function(bufnr)
    return vim.api.nvim_buf_get_name(bufnr) == ""
  end, vim.tbl_keys(client.attached_buffers))
  return #found == 1 and found[1] or nil
end

--- Ends the undo step of each buffer (:help undo-break): undoing the edit must not take typed text with it.
local function break_undo(bufnrs)
  for _, bufnr in ipairs(bufnrs) do
    vim.api.nvim_buf_call(bufnr, function()
      vim.cmd("let &undolevels = &undolevels")
    end)
  end
end

--- The loaded buffers that an edit changes.
local function buffers_of(changes, unnamed)
  local found = { unnamed }
  for _, change in ipairs(changes) do
    local uri = change.textDocument and change.textDocument.uri
    local bufnr = uri and uri ~= URI and vim.fn.bufnr(vim.uri_to_fname(uri)) or -1
    if bufnr ~= -1 and vim.api.nvim_buf_is_loaded(bufnr) then
      table.insert(found, bufnr)
    end
  end
  return found
end

--- Applies an edit of only the unnamed buffer.
local function apply_unnamed(client, bufnr, change)
  local version = vim.lsp.util.buf_versions[bufnr]
  if change.textDocument.version ~= vim.NIL and change.textDocument.version ~= version then
    return { applied = false, failureReason = ("the buffer has version %d"):format(version) }
  end
  vim.lsp.util.apply_text_edits(change.edits, bufnr, client.offset_encoding)
  return { applied = true }
end

--- Handles `workspace/applyEdit`.
function M.apply(err, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local changes = params.edit.documentChanges or {}
  local target = #changes == 1 and changes[1].textDocument
  local unnamed = target and target.uri == URI and buffer_of(client) or nil
  -- Neovim prints the label in full: a long one would prompt for <Enter> before the edit is visible.
  params.label = nil
  local changed = buffers_of(changes, unnamed)
  break_undo(changed)
  local mark = marks.before(changed)
  local result
  if unnamed then
    result = apply_unnamed(client, unnamed, changes[1])
  else
    result = vim.lsp.handlers["workspace/applyEdit"](err, params, context)
  end
  break_undo(changed)
  mark()
  return result
end

return M
