--- Shows an edit in place: the new text stands in the window of its code, below what each change replaces.
local hunks = require("stet.edits.hunks")
local window = require("stet.window")

local M = {}

local namespace = vim.api.nvim_create_namespace("stet.preview")

--- Rows of a preview that cannot take the window of its code, since the user is typing.
local ROWS = 12

local serial = 0

--- The buffer of a file's new text. It is not of a file, so that no server or linter looks at it.
local function buffer_of(file, title, language)
  serial = serial + 1
  local bufnr = vim.api.nvim_create_buf(false, true)
  file.old = hunks.lines(file.before)
  local lines, ending = hunks.lines(file.after)
  file.ending = ending
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.api.nvim_buf_set_name(bufnr, (("stet://%d/%s/%s"):format(serial, title, file.name):gsub("`", "")))
  vim.bo[bufnr].filetype = language or vim.filetype.match({ filename = file.name, buf = bufnr }) or ""
  vim.bo[bufnr].buftype, vim.bo[bufnr].swapfile, vim.bo[bufnr].modifiable = "nofile", false, false
  file.offered = lines
  return bufnr
end

local function headline_of(offer)
  return offer.headline ~= "" and offer.headline or offer.question
end

--- Marks the changes of a file: new lines by their color, and above them the verdict and what they replace.
local function draw(view, file)
  local bufnr = file.bufnr
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  if view.split then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  file.hunks = hunks.between(file.old, lines)
  local width = window.width(view.winid)
  local told = vim.tbl_map(function(row)
    return { { row, view.offer.refuted and "DiagnosticError" or "DiagnosticOk" } }
  end, window.folded(headline_of(view.offer), width))
  for number, hunk in ipairs(file.hunks) do
    local rows = number == 1 and told or {}
    for line = hunk.old_first, hunk.old_first + hunk.old_count - 1 do
      local text = file.old[line]:gsub("\t", (" "):rep(vim.bo[bufnr].tabstop))
      table.insert(rows, { { text .. (" "):rep(width - vim.fn.strdisplaywidth(text)), "DiffDelete" } })
    end
    local at = hunks.line_of(hunk, #lines)
    vim.api.nvim_buf_set_extmark(bufnr, namespace, at - 1, 0, {
      virt_lines = rows,
      virt_lines_above = hunk.new_count > 0 or hunk.new_first == 0,
    })
    for line = hunk.new_first, hunk.new_first + hunk.new_count - 1 do
      vim.api.nvim_buf_set_extmark(bufnr, namespace, line - 1, 0, { line_hl_group = "DiffAdd" })
    end
    file.rows = number == 1 and #rows or file.rows
  end
end

--- Moves the cursor to a hunk, with all that stands above it in sight.
local function go(view, file, hunk)
  if not hunk then
    return
  end
  local line = hunks.line_of(hunk, vim.api.nvim_buf_line_count(file.bufnr))
  vim.api.nvim_win_set_cursor(view.winid, { line, 0 })
  vim.api.nvim_win_call(view.winid, function()
    vim.cmd("normal! ^zz")
    if hunk == file.hunks[1] and vim.fn.winsaveview().topline == 1 then
      vim.fn.winrestview({ topline = 1, topfill = file.rows }) -- else lines above the first are not drawn
    end
  end)
end

--- Moves `by` one hunk: 1 or -1.
local function step(view, file, by)
  local line, count = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_buf_line_count(file.bufnr)
  local listed = by > 0 and file.hunks or vim.iter(file.hunks):rev():totable()
  go(view, file, vim.iter(listed):find(function(hunk)
    return (hunks.line_of(hunk, count) - line) * by > 0
  end))
end

local function change(file, first, last, lines)
  vim.bo[file.bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(file.bufnr, first, last, false, lines)
  vim.bo[file.bufnr].modifiable = false
end

--- Takes the change at the cursor out of the edit.
local function drop(view, file)
  local line, count = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_buf_line_count(file.bufnr)
  local hunk = vim.iter(file.hunks):find(function(each)
    return line >= hunks.line_of(each, count) and line <= math.max(each.new_first + each.new_count - 1, hunks.line_of(each, count))
  end)
  if hunk then
    local first = hunk.new_count > 0 and hunk.new_first - 1 or hunk.new_first
    local old = vim.list_slice(file.old, hunk.old_first, hunk.old_first + hunk.old_count - 1)
    change(file, first, first + hunk.new_count, old)
    draw(view, file)
    step(view, file, 1)
  end
end

--- Opens the old text next to the new one, which can then be changed (:help diff).
local function split(view, file)
  view.split = true
  draw(view, file)
  vim.bo[file.bufnr].modifiable = true
  for _, key in ipairs({ "x", "d", "]c", "[c" }) do
    pcall(vim.keymap.del, "n", key, { buffer = file.bufnr })
  end
  local old = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(old, 0, -1, false, file.old)
  vim.bo[old].filetype, vim.bo[old].bufhidden, vim.bo[old].modifiable = vim.bo[file.bufnr].filetype, "wipe", false
  view.old = old
  local winid = vim.api.nvim_open_win(old, false, { split = "left", win = view.winid })
  vim.wo[winid].winbar = " before"
  vim.api.nvim_win_call(winid, vim.cmd.diffthis)
  vim.api.nvim_win_call(view.winid, vim.cmd.diffthis)
  window.tell_keys(view.winid, view.rows("do", "Take the old lines", "Take old"))
end

--- The answer to the server: the texts are only sent if the user changed the edit.
local function kept(view)
  local texts, changed = {}, false
  for _, file in ipairs(view.files) do
    local lines = vim.api.nvim_buf_get_lines(file.bufnr, 0, -1, false)
    changed = changed or not vim.deep_equal(lines, file.offered)
    table.insert(texts, { uri = file.uri, text = table.concat(lines, "\n") .. file.ending })
  end
  return changed and { choice = "Apply", texts = texts } or "Apply"
end

--- The window that shows the code of a file: the current one if it does.
local function window_of(uri)
  local bufnr = vim.fn.bufnr(vim.uri_to_fname(uri))
  if bufnr == -1 or vim.api.nvim_win_get_buf(0) == bufnr then
    return bufnr ~= -1 and vim.api.nvim_get_current_win() or nil, bufnr
  end
  local winid = vim.fn.bufwinid(bufnr)
  return winid ~= -1 and winid or nil, bufnr
end

--- Opens the window of a preview: that of its code, or one below all others.
local function place(view)
  local winid, code = window_of(view.files[1].uri)
  local bufnr = view.files[1].bufnr
  if winid and window.idle() then
    view.winid, view.code = winid, code
    vim.api.nvim_win_call(winid, function()
      view.place = vim.fn.winsaveview()
    end)
    view.winbar = vim.wo[winid].winbar
    vim.api.nvim_win_set_buf(winid, bufnr)
    vim.api.nvim_set_current_win(winid)
  else
    view.winid = vim.api.nvim_open_win(bufnr, window.idle(), { split = "below", win = -1, height = ROWS })
  end
end

--- Gives the window back to its code, or closes it.
local function leave(view)
  if view.old and vim.api.nvim_buf_is_valid(view.old) then
    vim.api.nvim_buf_delete(view.old, { force = true })
  end
  if not vim.api.nvim_win_is_valid(view.winid) then
    return
  end
  if view.code and vim.api.nvim_buf_is_valid(view.code) then
    vim.api.nvim_win_call(view.winid, vim.cmd.diffoff)
    vim.api.nvim_win_set_buf(view.winid, view.code)
    vim.wo[view.winid].winbar = view.winbar
    vim.api.nvim_win_call(view.winid, function()
      vim.fn.winrestview(view.place)
    end)
  elseif #vim.api.nvim_list_wins() > 1 then
    vim.api.nvim_win_close(view.winid, true)
  end
end

--- `:quit` declines. In the only window it would also end the editor: the code gets a window of its own first.
local function stay_open(view)
  if view.code and vim.api.nvim_buf_is_valid(view.code) then
    local winid = vim.api.nvim_open_win(view.code, false, { split = "above", win = view.winid })
    vim.wo[winid].winbar = view.winbar
    view.code = nil
  end
end

--- Opens a preview. `entry` is a question: { answer, retry, evidence }; it gets `close`, `focus` and `map`, which maps
--- the keys. `on_leave` is called when the user leaves the preview without an answer.
function M.open(offer, entry, on_leave)
  local view = { offer = offer, files = offer.files }
  for _, file in ipairs(view.files) do
    local code = vim.fn.bufnr(vim.uri_to_fname(file.uri))
    file.bufnr = buffer_of(file, offer.title, code ~= -1 and vim.bo[code].filetype or nil)
  end
  function view.rows(key, what, short)
    local many = { { "]f", ("Next file (of %d)"):format(#view.files), ("Next of %d"):format(#view.files) } }
    many = #view.files > 1 and many or {}
    local rows = { { "a", "Apply" }, { "q", "Discard" }, { "r", "Try again…", "Retry" }, { "e", "Evidence" }, { key, what, short } }
    return vim.list_extend(vim.list_extend(rows, many), view.split and {} or { { "d", "Diff" } })
  end
  place(view)

  local over = false
  function entry.close()
    if over then
      return
    end
    over = true
    leave(view)
    for _, file in ipairs(view.files) do
      if vim.api.nvim_buf_is_valid(file.bufnr) then
        vim.api.nvim_buf_delete(file.bufnr, { force = true })
      end
    end
  end
  function entry.focus()
    return vim.api.nvim_win_is_valid(view.winid) and vim.api.nvim_set_current_win(view.winid) == nil
  end

  local function show(number)
    local file = view.files[(number - 1) % #view.files + 1]
    view.shown = (number - 1) % #view.files + 1
    vim.api.nvim_win_set_buf(view.winid, file.bufnr)
    window.tell_keys(view.winid, view.rows("x", "Drop this change", "Drop"))
    draw(view, file)
    go(view, file, file.hunks[1])
  end

  function entry.map()
    for _, file in ipairs(view.files) do
      local function map(key, what, run)
        vim.keymap.set("n", key, run, { buffer = file.bufnr, nowait = true, desc = "Stet: " .. what })
      end
      map("a", "apply", function()
        entry.answer(kept(view))
        entry.close()
      end)
      map("q", "discard", function()
        entry.answer(nil)
        entry.close()
      end)
      map("r", "try again", entry.retry)
      map("e", "evidence", entry.evidence)
      map("x", "drop this change", function() drop(view, file) end)
      map("d", "diff", function() split(view, file) end)
      map("]c", "next change", function() step(view, file, 1) end)
      map("[c", "previous change", function() step(view, file, -1) end)
      map("]f", "next file", function() show(view.shown + 1) end)
      map("[f", "previous file", function() show(view.shown - 1) end)
    end
  end

  for _, file in ipairs(view.files) do
    vim.api.nvim_create_autocmd("QuitPre", { buffer = file.bufnr, callback = function() stay_open(view) end })
    vim.api.nvim_create_autocmd("BufWinLeave", {
      buffer = file.bufnr,
      callback = vim.schedule_wrap(function()
        local seen = vim.iter(view.files):any(function(each)
          return vim.api.nvim_buf_is_valid(each.bufnr) and #vim.fn.win_findbuf(each.bufnr) > 0
        end)
        if not seen and not over then
          on_leave()
        end
      end),
    })
  end
  show(1)
  return view.files[1].bufnr
end

return M
