--- The server's questions, each in a window of its own: nothing is cut, one key answers, and nobody has to answer now.
local messages = require("stet.messages")
local window = require("stet.window")

local M = {}

--- Milliseconds after which keys count: those before were on their way to the code.
local GUARD = 300

--- Choices that are the same as to close the window.
local REFUSALS = { Discard = true, No = true }

--- Letters by which one reads and searches.
local READING = "hjklgnqwbezf"

--- The open questions, the newest last: { bufnr, job }.
local asked = {}

--- The edit that was offered last: { job, markdown }.
local offered = {}

--- The key of each title: its first letter that is free, else its number; `q` for a refusal.
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

--- What the keys do: { key, title }.
local function rows_of(titles, keys)
  local rows, closes = {}, true
  for _, title in ipairs(titles) do
    table.insert(rows, { keys[title], title })
    closes = closes and keys[title] ~= "q"
  end
  return closes and vim.list_extend(rows, { { "q", "Close" } }) or rows
end

--- Opens the window. It takes the cursor only from somebody who is not typing.
local function show(text, titles, job, answer)
  local idle = window.idle()
  local keys = keys_of(titles)
  local bufnr, winid = window.below(text, idle)
  window.tell_keys(winid, rows_of(titles, keys))
  local entry = { bufnr = bufnr, job = job }
  table.insert(asked, entry)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    once = true,
    callback = function()
      asked = vim.tbl_filter(function(each)
        return each ~= entry
      end, asked)
      answer(nil)
    end,
  })
  local function map(key, title)
    vim.keymap.set("n", key, function()
      answer(title)
      window.close(bufnr)
    end, { buffer = bufnr, nowait = true, desc = "Stet: " .. (title or "close") })
  end
  vim.defer_fn(function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      map("q", nil)
      for _, title in ipairs(titles) do
        map(keys[title], title)
      end
    end
  end, GUARD)
  if not idle then
    messages.say("a question waits for you (:Stet answer)", vim.log.levels.WARN)
  end
end

--- The title that is chosen, nil if the window is closed. To be called in a coroutine, as handlers are.
local function choose(text, titles, job)
  local co = coroutine.running()
  local open = true
  local function answer(title)
    if open then
      open = false
      vim.schedule(function()
        coroutine.resume(co, title)
      end)
    end
  end
  if vim.fn.getcmdwintype() == "" then
    show(text, titles, job, answer)
  else
    -- The window of the command line lets no other be opened.
    local later = vim.schedule_wrap(show)
    vim.api.nvim_create_autocmd("CmdwinLeave", {
      once = true,
      callback = function()
        later(text, titles, job, answer)
      end,
    })
  end
  return coroutine.yield()
end

--- Handles `stet/offer`: an edit with all that was checked, and whether it may land.
function M.offer(_, params)
  offered = { job = params.job, markdown = params.markdown }
  return choose(params.question .. "\n\n" .. params.markdown, params.choices, params.job) or vim.NIL
end

--- A job's evidence as it was offered, with the edit, which the server tells no more; nil of all but the last offer.
function M.offered(job)
  return offered.job == job and offered.markdown or nil
end

--- Handles `window/showMessageRequest`.
function M.request(_, params)
  local titles = vim.tbl_map(function(action)
    return action.title
  end, params.actions or {})
  local title = choose(params.message, titles)
  for _, action in ipairs(params.actions or {}) do
    if action.title == title then
      return action
    end
  end
  return vim.NIL
end

--- Goes to the newest question; false if there is none.
function M.go()
  local entry = asked[#asked]
  local winid = entry and vim.fn.bufwinid(entry.bufnr) or -1
  return winid ~= -1 and vim.api.nvim_set_current_win(winid) == nil
end

--- Closes the questions about a job, which has ended.
function M.close(job)
  for _, entry in ipairs(vim.tbl_values(asked)) do
    if entry.job == job and vim.api.nvim_buf_is_valid(entry.bufnr) then
      window.close(entry.bufnr)
    end
  end
end

return M
