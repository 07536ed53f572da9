--- The findings of analyze as a quickfix list: confirmed bugs first, then by severity.
local M = {}

local RANKS = { error = 1, warning = 2, information = 3, hint = 4 }
local TYPES = { error = "E", warning = "W", information = "I", hint = "N" }

--- Replaces the quickfix list by the findings of a report. It is not opened: `:copen`, `:cnext`.
function M.fill(bufnr, name, findings)
  local rows = vim.iter(ipairs(findings)):map(function(order, finding)
    local line = finding.range.start.line
    local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ""
    return {
      rank = { finding.source == "stet (confirmed)" and 0 or RANKS[finding.severity], order },
      bufnr = bufnr,
      lnum = line + 1,
      col = vim.str_byteindex(text, "utf-16", finding.range.start.character, false) + 1,
      text = finding.message,
      type = TYPES[finding.severity],
    }
  end):totable()
  table.sort(rows, function(one, other)
    return one.rank[1] < other.rank[1] or (one.rank[1] == other.rank[1] and one.rank[2] < other.rank[2])
  end)
  for _, row in ipairs(rows) do
    row.rank = nil
  end
  if #rows > 0 then
    vim.fn.setqflist({}, " ", { title = "Stet: " .. name, items = rows })
  end
end

return M
