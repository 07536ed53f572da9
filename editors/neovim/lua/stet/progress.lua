--- One line at the bottom of the screen while a job runs; Neovim shows no progress by itself.
local messages = require("stet.messages")

local M = {}

--- The title of each running job, by its token.
local titles = {}

--- Seconds after which the line shows how to cancel the job.
local LONG = 10

--- The titles of what runs now.
function M.running()
  return vim.tbl_values(titles)
end

--- The titles of running downloads, by their token.
function M.downloads()
  local found = {}
  for token, title in pairs(titles) do
    if vim.startswith(token, "stet/download/") then
      found[token] = title
    end
  end
  return found
end

--- Drops all titles: their server has ended.
function M.forget()
  titles = {}
end

--- The fewest columns of a title that is cut for what is said of it.
local TITLE = 20

--- The columns of a line that does not prompt for <Enter>.
local function room_now()
  return math.max(vim.o.columns - 12, 10)
end

local function echo(text)
  -- The seconds at its end show that the job still runs.
  local room = room_now()
  local seconds = text:match(", %d+ s$") or ""
  local rest = text:sub(1, #text - #seconds)
  if vim.fn.strchars(text) > room then
    rest = vim.fn.strcharpart(rest, 0, room - #seconds - 1) .. "…"
  end
  text = vim.fn.strcharpart(rest .. seconds, 0, room)
  local hint = tonumber(seconds:match("%d+") or 0) >= LONG and " (:Stet cancel)" or ""
  messages.clear()
  vim.api.nvim_echo({ { vim.fn.strchars(text .. hint) > room and text or text .. hint } }, false, {})
end

--- Shows at once that a job was started; the server's progress follows.
function M.begin(name)
  M.tell(name .. " …")
end

--- Shows one line, cut to the width of the screen.
function M.tell(text)
  echo("Stet: " .. text)
  vim.cmd.redraw()
end

--- Shows the progress of an `LspProgress` event of our server.
function M.show(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  local value = event.data.params.value
  local token = event.data.params.token
  if not client or client.name ~= "stet" or type(value) ~= "table" then
    return
  end
  if value.kind == "end" then
    -- The answer to `:Stet cancel` arrives before the job has ended: an empty line here would remove it.
    local cancelled = vim.startswith(value.message or "", "cancelled")
    echo(cancelled and (titles[token] or "Stet") .. ": " .. value.message or "")
    titles[token] = nil
  else
    titles[token] = value.title or titles[token] or "Stet"
    local message = value.message and ": " .. value.message or ""
    local left = room_now() - vim.fn.strdisplaywidth(message)
    local title = titles[token]
    -- A download's size, speed and time left say more than the end of its name.
    if vim.fn.strdisplaywidth(title) > left and left >= TITLE then
      title = vim.fn.strcharpart(title, 0, left - 1) .. "…"
    end
    echo(title .. message)
  end
  vim.cmd.redraw()
end

return M
