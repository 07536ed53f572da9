--- Stet in Neovim: sends commands to the server and shows the reports that come back. Edits arrive by the server itself.
local M = {}

M.actions = { "generate", "debug", "refactor", "analyze", "test", "explain", "optimize", "task" }

--- The id of the job that was started last, nil before the first.
M.last_job = nil

--- The last report as markdown, nil before the first.
M.last_report = nil

local function say(message, level)
  vim.notify("Stet: " .. message, level or vim.log.levels.INFO)
end

--- Sends a command past `client.commands`, where the actions would come back to `M.start`.
local function send(client, bufnr, command, argument, on_result)
  local params = { command = command, arguments = argument and { argument } or nil }
  client:request("workspace/executeCommand", params, function(err, result)
    if err then
      say(err.message, vim.log.levels.ERROR)
    elseif on_result then
      on_result(result)
    end
  end, bufnr)
end

local function lines_of(markdown)
  return vim.split(vim.trim(markdown), "\n")
end

local function show(markdown)
  vim.lsp.util.open_floating_preview(lines_of(markdown), "markdown", {
    border = "rounded",
    max_width = math.min(100, vim.o.columns - 4),
    max_height = math.floor(vim.o.lines * 0.7),
    focus_id = "stet",
    wrap = true,
  })
end

--- Waits for the end of a job without blocking, and shows its report if it has one.
local function follow(client, bufnr, job)
  M.last_job = job
  send(client, bufnr, "stet.result", { job = job, wait = true }, function(result)
    if result.status == "done" and result.markdown ~= "" then
      M.last_report = result.markdown
      show(result.markdown)
    end
    vim.api.nvim_exec_autocmds("User", { pattern = "StetDone", data = result })
  end)
end

--- Starts a job by its command (`stet.refactor`) and follows it.
function M.start(client, bufnr, command, argument)
  send(client, bufnr, command, argument, function(result)
    follow(client, bufnr, result.job)
  end)
end

--- The `commands` of the client's configuration.
function M.client_commands()
  local commands = {}
  for _, action in ipairs(M.actions) do
    commands["stet." .. action] = function(command, context)
      local client = assert(vim.lsp.get_client_by_id(context.client_id))
      M.start(client, context.bufnr, command.command, (command.arguments or {})[1])
    end
  end
  return commands
end

--- A byte column of a line as the client counts it.
local function position(client, bufnr, line, byte)
  local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1] or ""
  return { line = line, character = vim.str_utfindex(text, client.offset_encoding, math.min(byte, #text), false) }
end

local function range(client, bufnr, line, byte, end_line, end_byte)
  return { start = position(client, bufnr, line, byte), ["end"] = position(client, bufnr, end_line, end_byte) }
end

--- Where the action is to work: the lines of `:'<,'>Stet`, or the cursor.
local function place(client, bufnr, call)
  if call.range > 0 then
    return { range = range(client, bufnr, call.line1 - 1, 0, call.line2 - 1, math.huge) }
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  return { position = position(client, bufnr, cursor[1] - 1, cursor[2]) }
end

--- The diagnostics of all servers and linters on the lines first to last (from 0).
local function diagnostics(client, bufnr, first, last)
  local found = vim.tbl_filter(function(item)
    return item.lnum <= last and (item.end_lnum or item.lnum) >= first
  end, vim.diagnostic.get(bufnr))
  return vim.tbl_map(function(item)
    return {
      range = range(client, bufnr, item.lnum, item.col, item.end_lnum or item.lnum, item.end_col or item.col),
      message = item.message,
      severity = item.severity,
      source = item.source,
      code = item.code,
    }
  end, found)
end

local function run(client, bufnr, call, action, text)
  local argument = place(client, bufnr, call)
  argument.uri = vim.uri_from_bufnr(bufnr)
  argument.instruction = text ~= "" and text or nil
  if action == "debug" then
    argument.diagnostics = diagnostics(client, bufnr, call.line1 - 1, call.line2 - 1)
  end
  M.start(client, bufnr, "stet." .. action, argument)
end

local function menu(bufnr, call)
  local last = vim.api.nvim_buf_get_lines(bufnr, call.line2 - 1, call.line2, false)[1] or ""
  vim.lsp.buf.code_action({
    range = call.range > 0 and { start = { call.line1, 0 }, ["end"] = { call.line2, #last } } or nil,
    filter = function(item)
      local command = type(item.command) == "table" and item.command.command or item.command
      return vim.startswith(command or "", "stet.")
    end,
  })
end

--- A result of the server as lines for a person: `name: value`, what is inside of a value further to the right.
local function rows_of(value, indent)
  local rows = {}
  local names = vim.tbl_keys(value)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local item = value[name]
    local label = type(name) == "number" and "-" or tostring(name):gsub("_", " ") .. ":"
    if type(item) == "table" then
      local inner = rows_of(item, indent .. "  ")
      vim.list_extend(rows, #inner > 0 and vim.list_extend({ indent .. label }, inner) or { indent .. label .. " none" })
    elseif item ~= vim.NIL then
      local shown = item == true and "yes" or item == false and "no" or tostring(item)
      table.insert(rows, ("%s%s %s"):format(indent, label, shown))
    end
  end
  return rows
end

--- What `:Stet` knows besides the actions.
local others = {
  cancel = function(client, bufnr)
    if M.last_job then
      send(client, bufnr, "stet.cancel", { job = M.last_job }, function(result)
        say(result.cancelled and "the job was cancelled" or "the job had ended already; nothing was cancelled")
      end)
    else
      say("no job was started yet", vim.log.levels.WARN)
    end
  end,
  retry = function(client, bufnr, text)
    if M.last_job then
      M.start(client, bufnr, "stet.retry", { job = M.last_job, instruction = text })
    else
      say("no job was started yet", vim.log.levels.WARN)
    end
  end,
  report = function()
    if not M.last_report then
      say("there is no report yet", vim.log.levels.WARN)
      return
    end
    vim.cmd("new")
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines_of(M.last_report))
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.modifiable, vim.bo.filetype = "nofile", "wipe", false, "markdown"
  end,
  clear = function(client, bufnr)
    send(client, bufnr, "stet.clear", { uri = vim.uri_from_bufnr(bufnr) })
  end,
  jobs = function(client, bufnr)
    send(client, bufnr, "stet.jobs", nil, function(result)
      local rows = vim.tbl_map(function(job)
        return ("%s  %s  %s  %.1f s  %s"):format(job.job, job.action, job.status, job.seconds, job.message)
      end, result.jobs)
      say(#rows > 0 and table.concat(rows, "\n") or "no jobs yet")
    end)
  end,
  health = function(client, bufnr)
    send(client, bufnr, "stet.health", nil, function(result)
      say("what serves\n" .. table.concat(rows_of(result, "  "), "\n"))
    end)
  end,
}

--- Milliseconds that a command may wait for a server that is starting.
local ATTACH = 8000

--- The server of a buffer. Right after the start of the editor it is still on its way.
local function client_of(bufnr)
  local function found()
    return vim.lsp.get_clients({ name = "stet", bufnr = bufnr, _uninitialized = true })[1]
  end
  vim.wait(ATTACH, function()
    local client = found()
    return client == nil or client.initialized
  end, 20)
  local client = found()
  return client and client.initialized and client or nil
end

--- Runs an action. `call` is what a user command gets.
function M.command(call)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = call.fargs[1] ~= "report" and client_of(bufnr) or nil
  local action = call.fargs[1]
  local text = table.concat(vim.list_slice(call.fargs, 2), " ")
  if not client and action ~= "report" then
    say("the server is not attached to this buffer (see :checkhealth stet)", vim.log.levels.WARN)
  elseif action == nil then
    menu(bufnr, call)
  elseif vim.list_contains(M.actions, action) then
    run(client, bufnr, call, action, text)
  elseif others[action] then
    others[action](client, bufnr, text)
  else
    say(("unknown action %q; there are %s"):format(action, table.concat(M.words(), ", ")), vim.log.levels.ERROR)
  end
end

--- Every first word of `:Stet`.
function M.words()
  local rest = vim.tbl_keys(others)
  table.sort(rest)
  return vim.list_extend(vim.list_slice(M.actions), rest)
end

--- Completion of `:Stet`: the first word is an action, the rest is free text.
function M.complete(lead, line, cursor)
  if not line:sub(1, cursor):match("Stet%s+%S*$") then
    return {}
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, M.words())
end

return M
