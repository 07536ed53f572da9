--- Results of the server as lines of text.
local M = {}

local MARKS = { ok = "✓", off = "–", missing = "✗", broken = "✗", unknown = "?" }

local function text(value, otherwise)
  return (value == nil or value == vim.NIL or value == "") and otherwise or tostring(value)
end

--- The result of `stet.health`: the model, then a line for each part, then the hints.
function M.health(result)
  local where = text(result.endpoint, "")
  local lines = {
    ("%s%s is %s"):format(text(result.model, "no model"), where ~= "" and (" (%s)"):format(where) or "", text(result.status, "unknown")),
  }
  local todo = {}
  local names = vim.tbl_keys(result.parts or {})
  table.sort(names)
  for _, name in ipairs(names) do
    local part = result.parts[name]
    table.insert(lines, ("%s %s: %s"):format(MARKS[part.state] or "?", name, text(part.detail, part.state)))
    if text(part.todo, "") ~= "" then
      table.insert(todo, ("to do (%s): %s"):format(name, part.todo))
    end
  end
  return vim.list_extend(lines, todo)
end

--- A job of `stet.jobs` in one line.
function M.job(job)
  return ("%s  %s  %s  %.1f s  %s"):format(job.job, job.action, job.status, job.seconds, job.message)
end

return M
