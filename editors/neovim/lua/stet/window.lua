--- Windows for reports: a floating one that closes with the next movement, or one that stays until `q`.
local M = {}

--- The largest share of the screen for a report.
local SHARE = 0.7

--- Shown above a window without the cursor: its keys do not work from other windows.
local OUTSIDE = "%{%win_getid() == g:actual_curwin ? ''"
  .. " : '%#Title# ' .. winnr() .. ' CTRL-W w %* to come here, then   '%}"

local function lines_of(markdown)
  return vim.split(vim.trim(markdown), "\n")
end

local diffs = vim.api.nvim_create_namespace("stet.diff")

local COLORS = { ["+"] = "DiffAdd", ["-"] = "DiffDelete", ["@"] = "Title" }

--- Colors the diffs in fenced blocks, and maps `]c` and `[c` to their hunks as in a diff window.
local function color_diffs(bufnr, lines)
  local inside = false
  for number, line in ipairs(lines) do
    local color = inside and COLORS[line:sub(1, 1)]
    if vim.startswith(line, "```") then
      inside = line:match("^`+diff$") ~= nil
    elseif color then
      vim.api.nvim_buf_set_extmark(bufnr, diffs, number - 1, 0, { line_hl_group = color })
    end
  end
  for key, flags in pairs({ ["]c"] = "W", ["[c"] = "bW" }) do
    vim.keymap.set("n", key, function()
      vim.fn.search("^@@", flags)
    end, { buffer = bufnr, desc = "Stet: hunk" })
  end
end

--- Pieces of a text that fit a width, cut between words.
function M.folded(text, width)
  local rows = {}
  while vim.fn.strdisplaywidth(text) > width do
    local head = vim.fn.strcharpart(text, 0, width)
    head = head:match("^(.+)%s%S*$") or head
    table.insert(rows, head)
    text = vim.trim(text:sub(#head + 1))
  end
  table.insert(rows, text)
  return rows
end

--- The columns of a window for text.
function M.width(winid)
  return vim.api.nvim_win_get_width(winid) - vim.fn.getwininfo(winid)[1].textoff
end

--- The number of rows that lines take at a width.
local function rows_of(lines, width)
  return vim.iter(lines):fold(0, function(rows, line)
    return rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end)
end

--- True if the cursor may be moved: the user is not typing, selecting or answering.
function M.idle()
  return vim.api.nvim_get_mode().mode == "n"
end

--- Calls `open` at once, or when the command-line window (`q:`) has closed: no other can be opened before.
function M.when_free(open)
  if vim.fn.getcmdwintype() == "" then
    open()
    return
  end
  vim.api.nvim_create_autocmd("CmdwinLeave", {
    once = true,
    callback = vim.schedule_wrap(function()
      M.when_free(open)
    end),
  })
end

--- How a window's keys may be shown, the best first: { format, gap, short }.
local BARS = {
  { "%%#Title# %s %%* %s", "   ", false },
  { " %%#Title#%s%%* %s", " ", false },
  { " %%#Title#%s%%* %s", " ", true },
}

--- Shows a window's keys above its text, at any scroll position. `rows` are { key, description, short }, of which the
--- short description, if any, is for windows in which the others do not fit.
function M.tell_keys(winid, rows)
  local text
  for _, bar in ipairs(BARS) do
    text = table.concat(vim.tbl_map(function(row)
      local what = (bar[3] and row[3] or row[2]):gsub("%%", "%%%%")
      return bar[1]:format(row[1], what)
    end, rows), bar[2])
    local drawn = vim.api.nvim_eval_statusline(text, { maxwidth = 1000 }).width
    if drawn <= vim.api.nvim_win_get_width(winid) then
      break
    end
  end
  vim.wo[winid].winbar = OUTSIDE .. text .. "%<"
end

--- Closes a window of `below`; the cursor returns to its previous window.
function M.close(bufnr)
  if vim.api.nvim_get_current_buf() == bufnr then
    vim.cmd.wincmd("p")
  end
  vim.api.nvim_buf_delete(bufnr, { force = true })
end

--- Opens a window below all others, as high as its text, within `SHARE`. Returns the buffer and the window.
function M.below(markdown, enter)
  local lines = lines_of(markdown)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].bufhidden, vim.bo[bufnr].modifiable, vim.bo[bufnr].filetype = "wipe", false, "markdown"
  color_diffs(bufnr, lines)
  local height = math.min(rows_of(lines, vim.o.columns) + 1, math.floor(vim.o.lines * SHARE))
  local winid = vim.api.nvim_open_win(bufnr, enter, { split = "below", win = -1, height = height, style = "minimal" })
  local options = vim.wo[winid]
  options.wrap, options.linebreak, options.foldenable, options.spell, options.winfixheight = true, true, false, false, true
  return bufnr, winid
end

--- Folds each table that stands alone below a heading: `zo` opens it.
local function fold_tables(bufnr, winid)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  local options = vim.wo[winid]
  options.foldmethod, options.foldenable = "manual", true
  options.foldtext = "'▸ a table of ' .. (v:foldend - v:foldstart - 1) .. (v:foldend - v:foldstart == 2 ? ' row' : ' rows')"
    .. " .. ' (zo opens it)'"
  vim.api.nvim_win_call(winid, function()
    for first, line in ipairs(lines) do
      local starts = vim.startswith(line, "|") and vim.startswith(lines[first - 2] or "", "## ")
      local last = first
      while starts and vim.startswith(lines[last + 1] or "", "|") do
        last = last + 1
      end
      if last > first then
        vim.cmd(("%d,%dfold"):format(first, last))
      end
    end
  end)
end

--- Opens a window as `below` does; `q` closes it. `rows` are further keys that its caller maps; `folded` folds tables.
--- Returns the buffer.
function M.stay(markdown, enter, rows, folded)
  local bufnr, winid = M.below(markdown, enter)
  if folded then
    fold_tables(bufnr, winid)
  end
  M.tell_keys(winid, vim.list_extend(rows or {}, { { "q", "Close" } }))
  vim.keymap.set("n", "q", function()
    M.close(bufnr)
  end, { buffer = bufnr, nowait = true, desc = "Stet: close" })
  return bufnr
end

--- Opens a window at the cursor until it moves; a long text, or one whose tables are `folded`, uses `stay`.
function M.float(markdown, folded)
  local width, height = math.min(100, vim.o.columns - 4), math.floor(vim.o.lines * SHARE)
  local lines = lines_of(markdown)
  if folded or rows_of(lines, width) > height then
    M.stay(markdown, M.idle(), nil, folded)
    return
  end
  vim.lsp.util.open_floating_preview(lines, "markdown", {
    border = "rounded",
    max_width = width,
    max_height = height,
    focus_id = "stet",
    focus = false, -- replaces the text of an earlier report instead of moving to it
    wrap = true,
  })
end

--- Opens a file that an edit changed, if no window shows it, so that the user does not forget to save it.
function M.beside(path)
  local bufnr = vim.fn.bufadd(path) -- not `bufnr`, which treats a path as a pattern
  if vim.fn.bufwinid(bufnr) == -1 then
    vim.bo[bufnr].buflisted = true
    vim.cmd.sbuffer(bufnr)
    vim.cmd.wincmd("p")
  end
end

--- Shows a job's evidence, the result of `stet.evidence`: its report, and the files of the requested check.
function M.evidence(result, check)
  M.stay(result.markdown, true)
  for _, each in ipairs(check ~= "" and result.attachments or {}) do
    if each.uri ~= vim.NIL then
      vim.cmd.split(vim.fn.fnameescape(vim.uri_to_fname(each.uri)))
    end
  end
end

return M
