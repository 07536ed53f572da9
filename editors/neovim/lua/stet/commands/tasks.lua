--- Tasks in Neovim: a plan as a buffer to edit, and the list of earlier tasks.
local request = require("stet.request")
local window = require("stet.window")

local M = {}

--- Opens the plan of a task; `:w` there does it as it stands then.
function M.plan(client, bufnr, text, say)
  local argument = { uri = vim.uri_from_bufnr(bufnr), instruction = text }
  request.send(client, bufnr, "stet.plan", argument, function(started)
    request.send(client, bufnr, "stet.result", { job = started.job, wait = true }, function(result)
      if result.status ~= "done" then
        say(result.message, vim.log.levels.WARN)
        return
      end
      M.open(client, bufnr, result.answer.metadata.task, result.markdown, say)
    end)
  end)
end

--- A buffer with a plan. Writing it starts the task on the document that it was made for.
function M.open(client, bufnr, task, markdown, say)
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_name(buffer, "stet-plan://" .. task)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(vim.trim(markdown), "\n"))
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].filetype = "markdown"
  vim.bo[buffer].modified = false
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      local plan = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
      vim.bo[buffer].modified = false
      require("stet").start(client, bufnr, "stet.tasks.resume", { id = task, plan = plan })
    end,
  })
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, buffer)
  say("edit the plan; :w runs it")
end

--- `:Stet tasks` lists them, `:Stet tasks show ID` shows one, `:Stet tasks resume ID` continues it.
function M.run(client, bufnr, text, start, say)
  local verb, id = text:match("^(%S*)%s*(%S*)")
  if verb == "resume" and id ~= "" then
    start(client, bufnr, "stet.tasks.resume", { id = id })
  elseif verb == "show" and id ~= "" then
    request.send(client, bufnr, "stet.tasks.show", { id = id }, function(result)
      window.stay(result.markdown, true)
    end)
  elseif verb == "" or verb == "list" then
    request.send(client, bufnr, "stet.tasks.list", nil, function(result)
      local lines = vim.tbl_map(function(row)
        return ("%s  %s  %s"):format(row.id, row.state, row.instruction)
      end, result.tasks)
      say(#lines > 0 and table.concat(lines, "\n") or "no tasks yet")
    end)
  else
    say(":Stet tasks [list | show ID | resume ID]", vim.log.levels.ERROR)
  end
end

return M
