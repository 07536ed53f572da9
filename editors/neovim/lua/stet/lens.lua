--- Shows the evidence for changed code at the end of its first line, until that code changes again.
local marks = require("stet.edits.marks")
local messages = require("stet.messages")
local window = require("stet.window")

local M = {}

local namespace = vim.api.nvim_create_namespace("stet.lens")

--- The jobs whose edit the user kept: they get no lens any more.
local kept = {}

--- By buffer: the jobs of the edits whose lenses are shown.
local shown = {}

--- What a lens says. One of an edit names the commands that answer it; one of verify has no edit to answer.
local function title_of(lens)
  if lens.data ~= "edit" then
    return lens.command.title
  end
  return lens.command.title:gsub(" · show$", "") .. " · :Stet keep · undo · evidence"
end

--- How a lens is drawn: at the end of the line if it fits the window, else above it. What stands above the first line of
--- a buffer is not drawn: there it is below.
local function at(bufnr, line, title)
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
  return { virt_lines = rows, virt_lines_above = line > 0 }
end

--- Requests the lenses of a buffer and replaces the shown ones.
function M.refresh(client, bufnr)
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  client:request("textDocument/codeLens", params, function(err, lenses)
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
    shown[bufnr] = {}
    for _, lens in ipairs(not err and lenses or {}) do
      local line, job = lens.range.start.line, lens.command.arguments[1].job
      if not kept[job] and line < vim.api.nvim_buf_line_count(bufnr) then
        vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, at(bufnr, line, title_of(lens)))
        if lens.data == "edit" then
          table.insert(shown[bufnr], job)
        end
      end
    end
  end, bufnr)
end

--- Keeps the edits of a buffer: their lenses and the marks of their lines go.
function M.keep(client, bufnr)
  local jobs = shown[bufnr] or {}
  if #jobs == 0 and not marks.any(bufnr) then
    messages.say("no edit to keep in this buffer", vim.log.levels.WARN)
    return
  end
  for _, job in ipairs(jobs) do
    kept[job] = true
  end
  marks.forget(bufnr)
  M.refresh(client, bufnr)
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
