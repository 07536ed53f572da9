--- Diagnostics: pulls them again when the server asks, and sends it those of other servers.
local M = {}

--- Handles `workspace/diagnostic/refresh`: all buffers are pulled again.
function M.refresh(_, _, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  for bufnr in pairs(client.attached_buffers) do
    client:request("textDocument/diagnostic", { textDocument = vim.lsp.util.make_text_document_params(bufnr) }, nil, bufnr)
  end
  return vim.NIL
end

--- The first error of Stet with an error of another source on the same line, and that one.
local function doubled(bufnr)
  local errors = vim.diagnostic.get(bufnr, { severity = vim.diagnostic.severity.ERROR })
  local ours = {}
  for _, item in ipairs(errors) do
    if item.source == "stet" then
      ours[item.lnum] = true
    end
  end
  for _, item in ipairs(errors) do
    if item.source and item.source ~= "stet" and ours[item.lnum] then
      return item
    end
  end
end

--- Neovim sends a server only its own diagnostics, so it cannot know that another one reports the same. This sends it
--- the first pair of errors on one line, in a code action request as other editors do; then it ignores that language.
function M.tell(bufnr)
  local client = vim.lsp.get_clients({ name = "stet", bufnr = bufnr })[1]
  local item = client and doubled(bufnr)
  if not item then
    return
  end
  local at = { line = item.lnum, character = 0 }
  local diagnostic = { range = { start = at, ["end"] = at }, message = item.message, severity = 1, source = item.source }
  client:request("textDocument/codeAction", {
    textDocument = vim.lsp.util.make_text_document_params(bufnr),
    range = diagnostic.range,
    context = { diagnostics = { diagnostic }, only = { "quickfix" }, triggerKind = 2 },
  }, function() end, bufnr)
end

return M
