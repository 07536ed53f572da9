--- The jobs of the server: listed, cancelled, counted for a status line.
local messages = require("stet.messages")
local progress = require("stet.progress")
local request = require("stet.request")
local window = require("stet.window")
local words = require("stet.words")

local M = {}

local function is_running(job)
  return job.status == "running"
end

--- What can be cancelled, the newest first: running jobs, then downloads. Each is { title, cancel }.
local function running(client, bufnr, jobs)
  local found = {}
  for _, job in ipairs(vim.iter(jobs):filter(is_running):rev():totable()) do
    table.insert(found, {
      title = words.job(job),
      cancel = function()
        request.send(client, bufnr, "stet.cancel", { job = job.job }, function(result)
          local name = job.action .. " " .. words.file(job)
          messages.say(name .. (result.cancelled and " was cancelled" or " had ended already; nothing was cancelled"))
        end)
      end,
    })
  end
  for token, title in pairs(progress.downloads()) do
    table.insert(found, {
      title = title,
      cancel = function()
        client:notify("window/workDoneProgress/cancel", { token = token })
        messages.say(title .. ": cancelled")
      end,
    })
  end
  return found
end

--- Cancels a job by its id; without one, what runs, and asks which if several do.
function M.cancel(client, bufnr, id)
  if id ~= "" then
    request.send(client, bufnr, "stet.cancel", { job = id }, function(result)
      messages.say(id .. (result.cancelled and " was cancelled" or " had ended already; nothing was cancelled"))
    end)
    return
  end
  request.send(client, bufnr, "stet.jobs", nil, function(result)
    local found = running(client, bufnr, result.jobs)
    if #found == 0 then
      messages.say("nothing runs; nothing was cancelled")
    elseif #found == 1 then
      found[1].cancel()
    else
      local options = {
        prompt = "Cancel which job?",
        format_item = function(item)
          return item.title
        end,
      }
      vim.ui.select(found, options, function(item)
        if item then
          item.cancel()
        end
      end)
    end
  end)
end

--- Opens a window with all jobs, the newest first, with their whole messages. `evidence` shows that of a job.
function M.list(client, bufnr, evidence)
  request.send(client, bufnr, "stet.jobs", nil, function(result)
    local jobs = vim.iter(result.jobs):rev():totable()
    if #jobs == 0 then
      messages.say("no jobs yet")
      return
    end
    local lines = vim.tbl_map(words.job, jobs)
    local list = window.stay(table.concat(lines, "\n"), true, { { "x", "Cancel" }, { "e", "Evidence" } })
    local function map(key, run)
      vim.keymap.set("n", key, function()
        local job = jobs[vim.api.nvim_win_get_cursor(0)[1]]
        window.close(list)
        run(job.job)
      end, { buffer = list, nowait = true })
    end
    map("x", function(id)
      M.cancel(client, bufnr, id)
    end)
    map("e", evidence)
  end)
end

--- How the last job found its model: "✓ qwen", "✗ no model", "✗ model down"; "✓" before the first.
local model = "✓"

--- Takes over what the result of a job says about its model.
function M.note(result)
  local name = type(result.answer) == "table" and result.answer.metadata.model or ""
  if result.missingModel then
    model = "✗ no model"
  elseif result.modelFailed then
    model = "✗ model down"
  elseif name ~= "" then
    model = "✓ " .. name
  end
end

--- The state of Stet for a status line: "Stet ✓ qwen", "Stet ✗ model down", "Stet: refactor signs.py",
--- "Stet: 2 running", "Stet: not running".
function M.status()
  local titles = progress.running()
  if #titles == 1 then
    return titles[1]
  elseif #titles > 1 then
    return ("Stet: %d running"):format(#titles)
  end
  local client = vim.iter(vim.lsp.get_clients({ name = "stet" })):find(function(each)
    return each.initialized
  end)
  return client and "Stet " .. model or "Stet: not running"
end

return M
