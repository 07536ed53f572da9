--- Marks in the code: the target of a job while it runs, and the lines that an edit changed until they are saved.
local hunks = require("stet.edits.hunks")
local messages = require("stet.messages")

local M = {}

local targets = vim.api.nvim_create_namespace("stet.target")
local changed = vim.api.nvim_create_namespace("stet.changed")

--- The last edit: { bufnr, before, after }, both lists of lines. `:Stet undo` takes it back.
local last

local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

--- Marks the lines of a job's target, from 0. Returns a function that removes the marks.
function M.target(bufnr, first, final)
  local ids = {}
  for line = first, math.min(final, vim.api.nvim_buf_line_count(bufnr) - 1) do
    table.insert(ids, vim.api.nvim_buf_set_extmark(bufnr, targets, line, 0, { line_hl_group = "CursorLine" }))
  end
  return function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      vim.iter(ids):each(function(id)
        vim.api.nvim_buf_del_extmark(bufnr, targets, id)
      end)
    end
  end
end

--- Removes the marks once the text is that of before: the undo of a part of a line leaves them where they are.
local function forget_undone(bufnr, before)
  vim.api.nvim_create_autocmd("TextChanged", {
    group = vim.api.nvim_create_augroup("stet.changed." .. bufnr, {}),
    buffer = bufnr,
    callback = function()
      if vim.api.nvim_buf_line_count(bufnr) == #before and vim.deep_equal(lines_of(bufnr), before) then
        M.forget(bufnr)
      end
      return not M.any(bufnr)
    end,
  })
end

--- Remembers the texts of buffers before an edit. Returns a function that marks what it changed.
function M.before(bufnrs)
  local texts = {}
  for _, bufnr in ipairs(bufnrs) do
    texts[bufnr] = lines_of(bufnr)
  end
  return function()
    for bufnr, before in pairs(texts) do
      local after = lines_of(bufnr)
      local found = hunks.between(before, after)
      if #found > 0 then
        last = { bufnr = bufnr, before = before, after = after }
        forget_undone(bufnr, before)
      end
      for _, hunk in ipairs(found) do
        for line = hunk.new_first, math.max(hunk.new_first, hunk.new_first + hunk.new_count - 1) do
          -- What replaces the line takes the mark away, as an undo does.
          local options = { sign_text = "▎", sign_hl_group = "Added", invalidate = true, undo_restore = false }
          options.end_row, options.end_col = math.max(line - 1, 0), #(after[math.max(line, 1)] or "")
          pcall(vim.api.nvim_buf_set_extmark, bufnr, changed, math.max(line - 1, 0), 0, options)
        end
      end
    end
  end
end

--- Removes the marks of changed lines of a buffer.
function M.forget(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, changed, 0, -1)
end

--- Whether lines of a buffer are marked as changed.
function M.any(bufnr)
  return #vim.api.nvim_buf_get_extmarks(bufnr, changed, 0, -1, { limit = 1 }) > 0
end

--- Where a line of `after` stands now, nil if someone changed it; `moves` are the hunks from `after` to now.
local function moved(moves, first, count)
  local by = 0
  for _, move in ipairs(moves) do
    local from, to = move.old_first, move.old_first + math.max(move.old_count, 1) - 1
    if move.old_count == 0 and from >= first and from < first + count - 1 then
      return nil
    elseif move.old_count > 0 and from <= first + count - 1 and to >= first then
      return nil
    elseif from < first then
      by = by + move.new_count - move.old_count
    end
  end
  return first + by
end

--- Takes back the last edit of Stet, and nothing that was typed since.
function M.undo()
  if not last or not vim.api.nvim_buf_is_loaded(last.bufnr) then
    messages.say("no edit to undo", vim.log.levels.WARN)
    return
  end
  local moves = hunks.between(last.after, lines_of(last.bufnr))
  local back = {}
  for _, hunk in ipairs(hunks.between(last.before, last.after)) do
    local empty = hunk.new_count == 0
    local at = moved(moves, hunk.new_first + (empty and 1 or 0), math.max(hunk.new_count, 1))
    if not at then
      messages.say("the edited lines were changed since; undo with `u`", vim.log.levels.WARN)
      return
    end
    local old = vim.list_slice(last.before, hunk.old_first, hunk.old_first + hunk.old_count - 1)
    table.insert(back, 1, { at - 1, at - 1 + hunk.new_count, old })
  end
  vim.api.nvim_buf_call(last.bufnr, function()
    vim.cmd("let &undolevels = &undolevels")
  end)
  for _, row in ipairs(back) do
    vim.api.nvim_buf_set_lines(last.bufnr, row[1], row[2], false, row[3])
  end
  M.forget(last.bufnr)
  messages.say("the last edit was taken back")
  last = nil
end

return M
