--- Chooses the model: a server on this machine, an embedded model, or an endpoint with its key.
local messages = require("stet.messages")
local request = require("stet.request")

local M = {}

--- The questions about an endpoint: { field, prompt, secret }.
local QUESTIONS = {
  { "url", "Address with the version path (https://host/v1): " },
  { "model", "Name of the model: " },
  { "key", "Key, or $NAME of the variable that holds it (empty: none): ", true },
}

--- Asks the questions from `number` on, then calls `done` with the answers. CTRL-C or <Esc> ends it.
local function ask(number, answers, done)
  local question = QUESTIONS[number]
  if not question then
    done(answers)
    return
  end
  local function take(answer)
    if answer and (answer ~= "" or question[3]) then
      answers[question[1]] = vim.trim(answer)
      ask(number + 1, answers, done)
    end
  end
  if question[3] then
    local ok, answer = pcall(vim.fn.inputsecret, question[2])
    take(ok and answer or nil)
  else
    vim.ui.input({ prompt = question[2] }, take)
  end
end

--- Sends the choice, then calls `chosen`, if any. A download shows its progress; `:Stet cancel` stops it.
local function choose(client, bufnr, choice, chosen)
  request.send(client, bufnr, "stet.setup", choice, function(result)
    local changed = type(result.chosen) == "string"
    messages.say(changed and result.chosen or "nothing was changed")
    if changed and chosen then
      chosen()
    end
  end)
end

--- Downloads an embedded model, with progress; calls `ready` once it is here.
function M.download(client, bufnr, name, ready)
  request.send(client, bufnr, "stet.download", { name = name }, function(result)
    if result.installed then
      ready()
    end
  end)
end

--- The rows to choose from: { title, choice }; the one without a choice asks for an endpoint.
local function rows_of(models)
  local rows = {}
  for _, each in ipairs(models.servers) do
    local title = ("%s (%s on this machine)"):format(each.model, each.name)
    table.insert(rows, { title, { url = each.url, model = each.model } })
  end
  for _, each in ipairs(models.embedded) do
    local state = each.installed and "embedded, downloaded" or "download: " .. each.needs
    table.insert(rows, { ("%s (%s)"):format(each.model, state), { embedded = each.name } })
  end
  table.insert(rows, { "Another endpoint, with a key…" })
  table.insert(rows, { "As config.toml says", { forget = true } })
  return rows
end

--- Asks which model to use, then calls `chosen`, if that is a function.
function M.run(client, bufnr, chosen)
  chosen = type(chosen) == "function" and chosen or nil
  request.send(client, bufnr, "stet.models", nil, function(models)
    local options = {
      prompt = "Which model?",
      format_item = function(row)
        return row[1]
      end,
    }
    vim.ui.select(rows_of(models), options, function(row)
      if row and row[2] then
        choose(client, bufnr, row[2], chosen)
      elseif row then
        ask(1, {}, function(answers)
          choose(client, bufnr, answers, chosen)
        end)
      end
    end)
  end)
end

return M
