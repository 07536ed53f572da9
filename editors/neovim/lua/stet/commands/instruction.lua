--- Asks for an instruction where an action needs one.
local request = require("stet.request")

local M = {}

--- What each action that is asked about is asked, and whether it cannot go without an instruction.
local PROMPTS = {
  generate = { "Generate what", false },
  task = { "Do what", true },
}

--- The text that asks in any action: `:Stet refactor ?`.
local ASK = "?"

--- Whether a line of the buffer, from 0, holds a `stet:` comment, which is the instruction.
local function commented(bufnr, first, last)
  return vim.iter(vim.api.nvim_buf_get_lines(bufnr, math.max(first - 1, 0), last + 1, false)):any(function(line)
    return line:find("%f[%w]stet:%s*%S") ~= nil
  end)
end

--- "`shipping`, lines 23–43".
local function named(target)
  if type(target.first) ~= "number" then
    return "the whole file"
  end
  local lines = target.first == target.last and ("line %d"):format(target.first + 1)
    or ("lines %d–%d"):format(target.first + 1, target.last + 1)
  return type(target.unit) == "string" and ("`%s`, %s"):format(target.unit, lines) or lines
end

--- Calls `run` with the instruction: the given text, or the answer to a question that names the target. Not called if
--- the user gives none. `argument` is that of the command; `first` and `last` are the lines at which it was given.
function M.ask(client, bufnr, action, text, argument, first, last, run)
  local prompt = text == ASK and { vim.fn.toupper(action:sub(1, 1)) .. action:sub(2) .. ", how", false } or PROMPTS[action]
  if not prompt or (text ~= "" and text ~= ASK) or (text == "" and commented(bufnr, first, last)) then
    run(text)
    return
  end
  local place = { uri = vim.uri_from_bufnr(bufnr), range = argument.range, position = argument.position }
  request.send(client, bufnr, "stet.target", place, function(target)
    local options = { prompt = ("%s (%s)? "):format(prompt[1], named(target)), default = target.instruction }
    vim.ui.input(options, function(answer)
      if answer and (answer ~= "" or not prompt[2]) then
        run(answer)
      end
    end)
  end)
end

return M
