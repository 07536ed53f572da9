--- The server's questions, each in its own window: shown in full, answered with one key, at any time.
local messages = require("stet.messages")
local preview = require("stet.edits.preview")
local window = require("stet.window")

local M = {}

--- Milliseconds without a key after which keys answer: earlier ones were typed for the code.
local GUARD = 300

--- Choices that mean the same as closing the window.
local REFUSALS = { Discard = true, No = true }

--- Keys for movement and search, and `q`.
local READING = "hjklgnqwbezf"

--- Retries a refused edit: called with the client, the job and the new instruction. Set by the plugin.
M.retry = nil

--- Shows the evidence of a job: called with the client and the job. Set by the plugin.
M.evidence = nil

--- Chooses a model and runs a job again: called with the client, the job and the embedded model to download, nil to ask
--- which. Set by the plugin.
M.choose_model = nil

--- The open questions, the newest last: { job, client, answer }. With a window they have `close`, `focus` and `map`,
--- which maps the keys that answer.
local asked = {}

--- The key of each title: its first free letter, else its number; `q` for a refusal.
local function keys_of(titles)
  local taken, keys = READING, {}
  for number, title in ipairs(titles) do
    if REFUSALS[title] then
      keys[title] = "q"
    else
      local letter = title:lower():gsub("%A", ""):gsub("[" .. taken .. "]", ""):sub(1, 1)
      keys[title] = letter ~= "" and letter or tostring(number)
      taken = taken .. letter
    end
  end
  return keys
end

--- The rows of the key help: { key, title }.
local function rows_of(titles, keys, retries)
  local rows, closes = {}, true
  for _, title in ipairs(titles) do
    table.insert(rows, { keys[title], title })
    closes = closes and keys[title] ~= "q"
  end
  if retries then
    table.insert(rows, { "r", "Try again…" })
  end
  return closes and vim.list_extend(rows, { { "q", "Close" } }) or rows
end

--- Drops a question and its window, if any; without an earlier answer the result is nil.
local function drop(entry)
  asked = vim.tbl_filter(function(each)
    return each ~= entry
  end, asked)
  if entry.close then
    entry.close()
  end
  entry.answer(nil)
end

--- Calls `ready` once no key was pressed for `GUARD` milliseconds.
local function after_typing(bufnr, ready)
  local last, namespace = vim.uv.now(), vim.api.nvim_create_namespace("")
  vim.on_key(function()
    last = vim.uv.now()
  end, namespace)
  local function look()
    local valid = vim.api.nvim_buf_is_valid(bufnr)
    if valid and vim.uv.now() - last < GUARD then
      vim.defer_fn(look, GUARD)
      return
    end
    vim.on_key(nil, namespace)
    if valid then
      ready()
    end
  end
  vim.defer_fn(look, GUARD)
end

--- Asks for another instruction, then discards the edit and runs its job again.
local function try_again(entry)
  vim.ui.input({ prompt = "Try again, how? (empty: the same) " }, function(text)
    if text then
      entry.answer(nil)
      drop(entry)
      M.retry(entry.client, entry.job, text)
    end
  end)
end

--- Opens a window with a text. The cursor moves there only if the user is not typing. Returns its buffer.
local function show_text(text, titles, entry)
  local keys = keys_of(titles)
  local retries = entry.job ~= nil and M.retry ~= nil
  local rows = rows_of(titles, keys, retries)
  if vim.fn.strdisplaywidth(table.concat(titles, "       ")) > vim.o.columns - 20 then -- they do not fit in one line
    for _, row in ipairs(rows) do
      text = ("%s\n\n`%s`  %s"):format(text, row[1], row[2])
    end
    rows = {}
  end
  local bufnr, winid = window.below(text, window.idle())
  window.tell_keys(winid, rows)
  function entry.close()
    if vim.api.nvim_buf_is_valid(bufnr) then
      window.close(bufnr)
    end
  end
  function entry.focus()
    local at = vim.fn.bufwinid(bufnr)
    return at ~= -1 and vim.api.nvim_set_current_win(at) == nil
  end
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      entry.close = nil -- it is gone already
      drop(entry)
    end,
  })
  local function map(key, title)
    vim.keymap.set("n", key, function()
      entry.answer(title)
      window.close(bufnr)
    end, { buffer = bufnr, nowait = true, desc = "Stet: " .. (title or "close") })
  end
  function entry.map()
    map("q", nil)
    for _, title in ipairs(titles) do
      map(keys[title], title)
    end
    if retries then
      vim.keymap.set("n", "r", entry.retry, { buffer = bufnr, nowait = true, desc = "Stet: try again" })
    end
  end
  return bufnr
end

--- Opens the window of a question, by `open`, which returns its buffer. Keys answer once the user has paused.
local function show(entry, open)
  local idle = window.idle()
  after_typing(open(entry), function()
    entry.map()
  end)
  if not idle then
    messages.say("a question waits for you (:Stet answer)", vim.log.levels.WARN)
  end
end

--- The answer to a question, nil if its window is closed. Call it in a coroutine, as handlers are called.
local function choose(client, job, open)
  local co = coroutine.running()
  local entry = { job = job, client = client }
  local waits = true
  function entry.answer(answer)
    if waits then
      waits = false
      vim.schedule(function()
        coroutine.resume(co, answer)
      end)
    end
  end
  function entry.retry()
    try_again(entry)
  end
  function entry.evidence()
    M.evidence(client, job)
  end
  table.insert(asked, entry)
  window.when_free(function()
    if vim.tbl_contains(asked, entry) then
      show(entry, open)
    end
  end)
  local answer = coroutine.yield()
  asked = vim.tbl_filter(function(each)
    return each ~= entry
  end, asked)
  return answer
end

--- Handles `stet/offer`: shows an edit, and asks whether to apply it.
function M.offer(_, params, context)
  return choose(context.client_id, params.job, function(entry)
    return preview.open(params, entry, function()
      drop(entry)
    end)
  end) or vim.NIL
end

--- Handles `window/showMessageRequest`.
function M.request(_, params, context)
  local titles = vim.tbl_map(function(action)
    return action.title
  end, params.actions or {})
  local title = choose(context.client_id, nil, function(entry)
    return show_text(params.message, titles, entry)
  end)
  for _, action in ipairs(params.actions or {}) do
    if action.title == title then
      return action
    end
  end
  return vim.NIL
end

--- Handles `stet/noModel`: offers a model to a job that has none.
function M.no_model(_, params, context)
  local get, other = ("Download %d MB"):format(params.megabytes), "Other model…"
  local text = "No model is configured, and no model server runs on this machine. The embedded model takes %s."
  local title = choose(context.client_id, nil, function(entry)
    return show_text(text:format(params.needs), { get, other }, entry)
  end)
  if title then
    M.choose_model(context.client_id, params.job, title == get and params.name or nil)
  end
  return vim.NIL
end

--- Moves to the newest question; false if there is none.
function M.go()
  local entry = asked[#asked]
  return entry ~= nil and entry.focus ~= nil and entry.focus()
end

local function drop_those(is_over)
  local over = vim.tbl_filter(is_over, asked)
  vim.iter(over):each(drop)
  return #over > 0
end

--- Closes the questions about a job that has ended.
function M.close(job)
  drop_those(function(entry)
    return entry.job == job
  end)
end

--- Closes the questions of a server that has ended.
function M.leave(client)
  local function is_over(entry)
    return entry.client == client
  end
  if drop_those(is_over) then
    messages.say("the server ended; its question is gone and nothing was changed", vim.log.levels.WARN)
  end
end

return M
