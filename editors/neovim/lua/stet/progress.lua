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

local function echo(text)
  -- A line that does not fit would prompt for <Enter>. The seconds at its end show that the job still runs.
  local room = math.max(vim.o.columns - 12, 10)
  local seconds = text:match(", %d+ s$") or ""
  local rest = text:sub(1, #text - #seconds)
  if vim.fn.strchars(text) > room and seconds ~= "" then
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
    echo(value.message == "cancelled" and (titles[token] or "Stet") .. ": cancelled" or "")
    titles[token] = nil
  else
    titles[token] = value.title or titles[token] or "Stet"
    echo(titles[token] .. (value.message and ": " .. value.message or ""))
  end
  vim.cmd.redraw()
end

return M
