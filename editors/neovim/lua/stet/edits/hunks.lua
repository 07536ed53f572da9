--- The differences of two texts, line by line.
local M = {}

--- A text's lines without their ends, and its last line end ("" if it has none).
function M.lines(text)
  local lines = vim.split(text, "\n")
  local ending = #lines > 1 and lines[#lines] == "" and "\n" or ""
  if ending ~= "" then
    table.remove(lines)
  end
  return lines, ending
end

--- The hunks between two lists of lines: { old_first, old_count, new_first, new_count }, lines from 1. A side without
--- lines stands after the line `first`.
function M.between(before, after)
  local function joined(lines)
    return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
  end
  local found = vim.diff(joined(before), joined(after), { result_type = "indices", algorithm = "histogram" })
  return vim.tbl_map(function(row)
    return { old_first = row[1], old_count = row[2], new_first = row[3], new_count = row[4] }
  end, found)
end

--- The line, from 1, at which a hunk is seen in the new text of `count` lines.
function M.line_of(hunk, count)
  return math.min(math.max(hunk.new_first, 1), count)
end

return M
