--- Stet in Neovim: sends commands to the server and shows the reports that come back. Edits arrive by the server itself.
local M = {}

M.actions = { "generate", "debug", "refactor", "analyze", "test", "explain", "optimize", "task" }
M.others = { "cancel", "retry", "jobs", "health" }

--- The id of the job that was started last, nil before the first.
M.last_job = nil

local function client_of(bufnr)
  return vim.lsp.get_clients({ name = "stet", bufnr = bufnr })[1]
end

local function say(message, level)
  vim.notify("Stet: " .. message, level or vim.log.levels.INFO)
end

local function execute(client, bufnr, command, argument, on_result)
  local arguments = argument and { argument } or {}
  client:exec_cmd({ title = command, command = command, arguments = arguments }, { bufnr = bufnr }, function(err, result)
    if err then
      say(err.message, vim.log.levels.ERROR)
    elseif on_result then
      on_result(result)
    end
  end)
end

local function show(markdown)
  local lines = vim.split(vim.trim(markdown), "\n")
  vim.lsp.util.open_floating_preview(lines, "markdown", {
    border = "rounded",
    max_width = math.min(100, vim.o.columns - 4),
    max_height = math.floor(vim.o.lines * 0.7),
    focus_id = "stet",
    wrap = true,
  })
end

--- Waits for the end of a job without blocking, and shows its report if it has one.
local function follow(client, bufnr, job)
  execute(client, bufnr, "stet.result", { job = job, wait = true }, function(result)
    if result.status == "done" and result.markdown and result.markdown ~= "" then
      show(result.markdown)
    end
    vim.api.nvim_exec_autocmds("User", { pattern = "StetDone", data = result })
  end)
end

--- Where the action is to work: the lines of `:'<,'>Stet`, or the cursor.
local function place(client, bufnr, call)
  if call.range > 0 then
    local last = vim.api.nvim_buf_get_lines(bufnr, call.line2 - 1, call.line2, false)[1] or ""
    local params = vim.lsp.util.make_given_range_params(
      { call.line1, 0 },
      { call.line2, math.max(#last - 1, 0) },
      bufnr,
      client.offset_encoding
    )
    return { range = params.range }
  end
  return { position = vim.lsp.util.make_position_params(0, client.offset_encoding).position }
end

local function diagnostics_at(bufnr, line)
  local found = vim.diagnostic.get(bufnr, { lnum = line })
  return vim.tbl_map(function(item)
    return item.user_data and item.user_data.lsp
      or {
        range = {
          start = { line = item.lnum, character = item.col },
          ["end"] = { line = item.end_lnum or item.lnum, character = item.end_col or item.col },
        },
        message = item.message,
        severity = item.severity,
        source = item.source,
      }
  end, found)
end

--- Runs an action. `call` is what a user command gets, or at least { fargs = { action, words... }, range = 0 }.
function M.command(call)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = client_of(bufnr)
  if not client then
    say("the server is not attached to this buffer (see :checkhealth stet)", vim.log.levels.WARN)
    return
  end
  local action = call.fargs[1]
  if action == nil then
    vim.lsp.buf.code_action({
      filter = function(item)
        return vim.startswith(type(item.command) == "table" and item.command.command or item.command or "", "stet.")
      end,
    })
    return
  end
  local text = table.concat(vim.list_slice(call.fargs, 2), " ")
  if vim.tbl_contains(M.actions, action) then
    local argument = place(client, bufnr, call)
    argument.uri = vim.uri_from_bufnr(bufnr)
    argument.instruction = text ~= "" and text or nil
    if action == "debug" then
      argument.diagnostics = diagnostics_at(bufnr, vim.api.nvim_win_get_cursor(0)[1] - 1)
    end
    execute(client, bufnr, "stet." .. action, argument, function(result)
      M.last_job = result.job
      follow(client, bufnr, result.job)
    end)
  elseif action == "cancel" or action == "retry" then
    if not M.last_job then
      say("no job was started yet", vim.log.levels.WARN)
      return
    end
    local argument = { job = M.last_job }
    if action == "retry" and text ~= "" then
      argument.instruction = text
    end
    execute(client, bufnr, "stet." .. action, argument, function(result)
      if action == "retry" then
        M.last_job = result.job
        follow(client, bufnr, result.job)
      end
    end)
  elseif action == "jobs" or action == "health" then
    execute(client, bufnr, "stet." .. action, nil, function(result)
      say(vim.inspect(result))
    end)
  else
    say(("unknown action %q; there are %s"):format(action, table.concat(M.actions, ", ")), vim.log.levels.ERROR)
  end
end

--- Completion of `:Stet`: the first word is an action, the rest is free text.
function M.complete(lead, line)
  if #vim.split(line, "%s+") > 2 then
    return {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.list_extend(vim.list_slice(M.actions), M.others))
end

return M
