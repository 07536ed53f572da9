--- Results of the server as lines of text.
local M = {}

local MARKS = { ok = "✓", off = "–", missing = "✗", broken = "✗", unknown = "?" }

local function text(value, otherwise)
  return (value == nil or value == vim.NIL or value == "") and otherwise or tostring(value)
end

--- The result of `stet.health` as Markdown: the model, what to do, then a line for each part.
function M.health(result)
  local where = text(result.endpoint, "")
  local model = text(result.model, "no model")
  model = ("%s%s is %s"):format(model, where ~= "" and (" (%s)"):format(where) or "", text(result.status, "unknown"))
  local lines, todo = {}, {}
  local names = vim.tbl_keys(result.parts or {})
  table.sort(names, function(one, other) -- what does not work comes first
    local fails, works = MARKS[result.parts[one].state] == "✗", MARKS[result.parts[other].state] == "✗"
    if fails ~= works then
      return fails
    end
    return one < other
  end)
  for _, name in ipairs(names) do
    local part = result.parts[name]
    table.insert(lines, ("- %s %s: %s"):format(MARKS[part.state] or "?", name, text(part.detail, part.state)))
    if text(part.todo, "") ~= "" then
      table.insert(todo, ("- to do (%s): %s"):format(name, part.todo))
    end
  end
  table.insert(lines, 1, "")
  local shown = vim.list_extend({ "# Health", "", model, "" }, todo)
  return table.concat(vim.list_extend(shown, lines), "\n")
end

--- The name of a job's file.
function M.file(job)
  return vim.fs.basename(text(job.uri, ""))
end

--- A job of `stet.jobs` in one line.
function M.job(job)
  local line = ("%s %s  %s  %.1f s  %s"):format(job.action, M.file(job), job.status, job.seconds, (job.message:gsub("%s*\n%s*", " ")))
  return vim.trim(line) .. "  " .. job.job
end

--- What a remembered solution was made for, in one line.
function M.request(solution)
  local asked = text(solution.instruction, text(solution.code, solution.id))
  return vim.split(asked, "\n")[1]
end

--- A remembered solution in one line.
function M.solution(solution)
  local outcome = text(solution.outcome, "")
  return ("%s  %s%s"):format(M.request(solution), solution.language, outcome ~= "" and ", " .. outcome or "")
end

--- The result of `stet.memory.stats` in one line.
function M.memory(result)
  if not result.available then
    return text(result.detail, "there is no memory")
  end
  return ("%d remembered solutions"):format(result.solutions)
end

return M
