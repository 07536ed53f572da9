--- Asks for an instruction where an action needs one.
local M = {}

--- The prompt of each action that is asked about; true if it cannot go without an instruction.
local PROMPTS = {
  generate = { "Generate what? (empty: the comment or docstring at the cursor) ", false },
  task = { "Do what? ", true },
}

--- Whether a line of the buffer, from 0, holds a `stet:` comment, which is the instruction.
local function commented(bufnr, first, last)
  return vim.iter(vim.api.nvim_buf_get_lines(bufnr, math.max(first - 1, 0), last + 1, false)):any(function(line)
    return line:find("%f[%w]stet:%s*%S") ~= nil
  end)
end

--- Calls `run` with the instruction: the given text, or the answer to a question. Not called if the user gives none.
--- `first` and `last` are the lines of the target, from 0.
function M.ask(bufnr, action, text, first, last, run)
  local prompt = PROMPTS[action]
  if not prompt or text ~= "" or commented(bufnr, first, last) then
    run(text)
    return
  end
  vim.ui.input({ prompt = prompt[1] }, function(answer)
    if answer and (answer ~= "" or not prompt[2]) then
      run(answer)
    end
  end)
end

return M
