--- Remembered solutions as a list: searched, shown, forgotten.
local messages = require("stet.messages")
local request = require("stet.request")
local window = require("stet.window")
local words = require("stet.words")

local M = {}

--- Solutions in the list.
local MOST = 50

--- The code of a solution in a window of its own, with its language.
local function show(solution)
  local bufnr = window.stay(solution.code, true)
  vim.bo[bufnr].filetype = solution.language
end

--- Forgets a solution if the user agrees, then calls `after`.
local function forget(client, bufnr, solution, after)
  local options = { prompt = ("Forget %q? It cannot be restored."):format(words.request(solution)) }
  vim.ui.select({ "Forget", "Keep" }, options, function(choice)
    if choice == "Forget" then
      request.send(client, bufnr, "stet.memory.forget", { id = solution.id }, function()
        messages.say("forgotten")
        after()
      end)
    end
  end)
end

local function list(client, bufnr, query, found)
  local rows = { { "<CR>", "Show" }, { "d", "Forget" }, { "s", "Search again…" } }
  local listed = window.stay(table.concat(vim.tbl_map(words.solution, found), "\n"), true, rows)
  local function map(key, run)
    vim.keymap.set("n", key, function()
      local solution = found[vim.api.nvim_win_get_cursor(0)[1]]
      window.close(listed)
      run(solution)
    end, { buffer = listed, nowait = true })
  end
  map("<CR>", show)
  map("d", function(solution)
    forget(client, bufnr, solution, function()
      M.open(client, bufnr, query)
    end)
  end)
  map("s", function()
    M.open(client, bufnr, "")
  end)
end

--- Lists what matches `query`; without one it is asked for, next to how much is remembered.
function M.open(client, bufnr, query)
  if query == "" then
    request.send(client, bufnr, "stet.memory.stats", nil, function(result)
      local told = words.memory(result)
      if not result.available or result.solutions == 0 then
        messages.say(told)
        return
      end
      vim.ui.input({ prompt = told .. ". Search for: " }, function(text)
        if text and text ~= "" then
          M.open(client, bufnr, text)
        end
      end)
    end)
    return
  end
  request.send(client, bufnr, "stet.memory.search", { query = query, limit = MOST }, function(result)
    if not result.available then
      messages.say("there is no memory", vim.log.levels.WARN)
    elseif #result.solutions == 0 then
      messages.say("nothing remembered matches")
    else
      list(client, bufnr, query, result.solutions)
    end
  end)
end

return M
