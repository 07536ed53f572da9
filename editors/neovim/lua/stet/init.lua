--- Stet in Neovim: sends commands to the server and shows the returned reports. The server itself sends the edits.
local clients = require("stet.client")
local instruction = require("stet.commands.instruction")
local jobs = require("stet.commands.jobs")
local lens = require("stet.lens")
local marks = require("stet.edits.marks")
local memory = require("stet.commands.memory")
local messages = require("stet.messages")
local progress = require("stet.progress")
local question = require("stet.edits.question")
local quickfix = require("stet.commands.quickfix")
local request = require("stet.request")
local server = require("stet.server")
local setup = require("stet.commands.setup")
local tasks = require("stet.commands.tasks")
local window = require("stet.window")
local words = require("stet.words")

local M = {}

M.actions = { "generate", "debug", "refactor", "optimize", "test", "explain", "analyze", "task" }

--- The id of the job that was started last, nil before the first.
M.last_job = nil

--- The name of the last job: "refactor signs.py".
local last_name = ""

--- How the last job was started: { bufnr, command, argument }. Another server than its own starts it so again.
local last_start

--- The server that runs the last job.
local last_client

--- The last report as Markdown, nil before the first.
M.last_report = nil

--- Whether that report ends in tables of measures, which are folded.
local measures = false

local say = messages.say

local send = request.send

--- Marks the target of a job in its code. Returns a function that removes the marks.
local function mark_target(client, bufnr, argument)
  local place = { uri = argument.uri, range = argument.range, position = argument.position }
  local unmark, over
  send(client, bufnr, "stet.target", place, function(target)
    if not over and type(target.first) == "number" and vim.api.nvim_buf_is_loaded(bufnr) then
      unmark = marks.target(bufnr, target.first, target.last)
    end
  end)
  return function()
    over = true
    if unmark then
      unmark()
    end
  end
end

--- Waits for the end of a job without blocking, and shows its report if it has one. `ended` is called first.
local function follow(client, bufnr, job, name, ended)
  M.last_job, last_name, last_client = job, name, client.id
  send(client, bufnr, "stet.result", { job = job, wait = true }, function(result)
    ended()
    jobs.note(result)
    if not result.asks then
      question.close(job)
    end
    if result.status == "done" and result.markdown ~= "" then
      M.last_report, measures = result.markdown, vim.startswith(name, "analyze ")
      window.when_free(function()
        window.float(result.markdown, measures)
      end)
    end
    if result.opens then
      window.when_free(function()
        window.beside(result.opens)
      end)
    end
    if result.findings then
      quickfix.fill(bufnr, name, result.findings)
    end
    if result.applied == true and vim.g.stet_progress ~= false then
      progress.tell(result.message)
    end
    if result.status == "refused" and type(result.answer) == "table" and #result.answer.evidence > 0 then
      messages.hint(result.message, ":Stet evidence shows what was checked", vim.log.levels.WARN)
    elseif result.status == "failed" and not result.missingModel then
      local hint = "run `:Stet health` for the models, `:Stet retry` to try again"
      messages.hint(result.message, hint, vim.log.levels.ERROR)
    end
    vim.api.nvim_exec_autocmds("User", { pattern = "StetDone", data = result })
  end)
end

--- Starts a job by its command (`stet.refactor`) and follows it.
function M.start(client, bufnr, command, argument)
  local file = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
  local what = argument.action or command:gsub("^stet%.", "")
  local name = command == "stet.retry" and last_name or vim.trim(what .. " " .. file)
  if command ~= "stet.retry" then
    last_start = { bufnr = bufnr, command = command, argument = argument }
  end
  if vim.g.stet_progress ~= false then
    progress.begin(name)
  end
  local unmark = (argument.range or argument.position) and mark_target(client, bufnr, argument) or function() end
  send(client, bufnr, command, argument, function(result)
    follow(client, bufnr, result.job, name, unmark)
  end)
end

--- Runs the last job again, by its start if the server that ran it is gone.
local function retry(client, bufnr, text)
  if not M.last_job then
    say("no job was started yet", vim.log.levels.WARN)
  elseif client.id == last_client then
    M.start(client, bufnr, "stet.retry", { job = M.last_job, instruction = text })
  elseif vim.api.nvim_buf_is_valid(last_start.bufnr) then
    local argument = vim.tbl_extend("force", last_start.argument, text ~= "" and { instruction = text } or {})
    M.start(client, last_start.bufnr, last_start.command, argument)
  else
    say("the document of the last job was closed", vim.log.levels.WARN)
  end
end

--- Runs the job of a question again. The server has to take the answer first.
function question.retry(client_id, job, text)
  vim.schedule(function()
    local client = assert(vim.lsp.get_client_by_id(client_id))
    M.start(client, vim.api.nvim_get_current_buf(), "stet.retry", { job = job, instruction = text })
  end)
end

--- Runs a job again once there is a model for it.
function question.choose_model(client_id, job, name)
  vim.schedule(function()
    local client = assert(vim.lsp.get_client_by_id(client_id))
    local bufnr = vim.api.nvim_get_current_buf()
    local function again()
      if job == M.last_job and vim.api.nvim_buf_is_valid(last_start.bufnr) then
        M.start(client, last_start.bufnr, last_start.command, last_start.argument)
      else
        M.start(client, bufnr, "stet.retry", { job = job })
      end
    end
    if name then
      setup.download(client, bufnr, name, again)
    else
      setup.run(client, bufnr, again)
    end
  end)
end

--- Shows the evidence of a job (nil: of the last one that has any), and the files of one check.
function M.evidence(client, bufnr, job, check)
  send(client, bufnr, "stet.evidence", { job = job, check = check }, function(result)
    window.when_free(function()
      window.evidence(result, check or "")
    end)
  end)
end

function question.evidence(client_id, job)
  M.evidence(assert(vim.lsp.get_client_by_id(client_id)), 0, job)
end

--- The `commands` of the client's configuration.
function M.client_commands()
  local commands = {}
  for _, action in ipairs(M.actions) do
    commands["stet." .. action] = function(command, context)
      local client = assert(vim.lsp.get_client_by_id(context.client_id))
      local argument = (command.arguments or {})[1] or {}
      local range = argument.range or vim.lsp.util.make_range_params(0, client.offset_encoding).range
      local text = argument.instruction or ""
      local first, last = range.start.line, range["end"].line
      instruction.ask(client, context.bufnr, action, text, argument, first, last, function(answer)
        argument.instruction = answer ~= "" and answer or nil
        M.start(client, context.bufnr, command.command, argument)
      end)
    end
  end
  commands["stet.evidence"] = function(command, context)
    local argument = (command.arguments or {})[1] or {}
    M.evidence(assert(vim.lsp.get_client_by_id(context.client_id)), context.bufnr, argument.job, argument.check)
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

--- The target of the action: the lines of `:'<,'>Stet`, or the cursor.
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

--- `argument` gives the position; without it, the current one counts.
local function run(client, bufnr, call, action, text, argument)
  argument = argument or place(client, bufnr, call)
  argument.uri = vim.uri_from_bufnr(bufnr)
  argument.preview = call.bang and "never" or nil
  argument.diagnostics = diagnostics(client, bufnr, call.line1 - 1, call.line2 - 1)
  instruction.ask(client, bufnr, action, text, argument, call.line1 - 1, call.line2 - 1, function(answer)
    argument.instruction = answer ~= "" and answer or nil
    M.start(client, bufnr, vim.list_contains(M.actions, action) and "stet." .. action or "stet.custom", argument)
  end)
end

--- Runs a custom action, of a package, the user or the project: only the server knows them.
local function run_custom(client, bufnr, call, action, text)
  local place_now = place(client, bufnr, call)
  send(client, bufnr, "stet.capabilities", nil, function(result)
    local custom = vim.tbl_filter(function(row)
      return row.command == "stet.custom"
    end, result.actions)
    local names = vim.tbl_map(function(row)
      return row.name
    end, custom)
    if vim.list_contains(names, action) then
      run(client, bufnr, call, action, text, vim.tbl_extend("error", place_now, { action = action }))
    else
      local known = table.concat(vim.list_extend(M.words(), names), ", ")
      say(("unknown action %q; there are %s"):format(action, known), vim.log.levels.ERROR)
    end
  end)
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

--- The subcommands of `:Stet` other than actions.
local others = {
  cancel = jobs.cancel,
  retry = retry,
  evidence = function(client, bufnr, check)
    M.evidence(client, bufnr, nil, check ~= "" and check or nil)
  end,
  verify = function(client, bufnr, scope)
    -- The server shows the verdict itself, as it does for every editor.
    local argument = { uri = vim.uri_from_bufnr(bufnr), scope = scope ~= "" and scope or nil }
    send(client, bufnr, "stet.verify", argument, function() end)
  end,
  review = function(client, bufnr, scope)
    local argument = { uri = vim.uri_from_bufnr(bufnr), scope = scope ~= "" and scope or nil }
    send(client, bufnr, "stet.review", argument, function(result)
      M.last_report, measures = result.markdown, false
      window.when_free(function()
        window.float(result.markdown)
      end)
    end)
  end,
  clear = function(client, bufnr)
    send(client, bufnr, "stet.clear", { uri = vim.uri_from_bufnr(bufnr) })
  end,
  keep = lens.keep,
  jobs = function(client, bufnr)
    jobs.list(client, bufnr, function(job)
      M.evidence(client, bufnr, job)
    end)
  end,
  memory = memory.open,
  plan = function(client, bufnr, text)
    tasks.plan(client, bufnr, text, say)
  end,
  tasks = function(client, bufnr, text)
    tasks.run(client, bufnr, text, M.start, say)
  end,
  setup = setup.run,
  health = function(client, bufnr)
    send(client, bufnr, "stet.health", nil, function(result)
      window.when_free(function()
        window.stay(words.health(result), window.idle())
      end)
    end)
  end,
}

--- The subcommands that need no server.
local alone = {
  report = function()
    if not M.last_report then
      say("there is no report yet", vim.log.levels.WARN)
      return
    end
    window.stay(M.last_report, true, nil, measures)
  end,
  answer = function()
    if not question.go() then
      say("nothing is asked")
    end
  end,
  undo = marks.undo,
  restart = server.restart,
  log = function()
    local client = clients.any()
    if not client then
      server.log(vim.lsp.log.get_filename())
      return
    end
    send(client, 0, "stet.capabilities", nil, function(result)
      server.log(result.log)
    end)
  end,
}

--- The state of Stet for a status line, without a request to the server.
M.status = jobs.status

--- Runs an action. `call` is the argument of a user command.
function M.command(call)
  local bufnr = vim.api.nvim_get_current_buf()
  local action = call.fargs[1]
  if alone[action] then
    alone[action]()
    return
  end
  local client = clients.of(bufnr) or others[action] and clients.any()
  local text = table.concat(vim.list_slice(call.fargs, 2), " ")
  if not client then
    say(clients.why_not(bufnr), vim.log.levels.WARN)
  elseif action == nil then
    menu(bufnr, call)
  elseif vim.list_contains(M.actions, action) then
    run(client, bufnr, call, action, text)
  elseif others[action] then
    others[action](client, bufnr, text)
  else
    run_custom(client, bufnr, call, action, text)
  end
end

--- Every possible first word of `:Stet`.
function M.words()
  local rest = vim.tbl_keys(vim.tbl_extend("keep", others, alone))
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
