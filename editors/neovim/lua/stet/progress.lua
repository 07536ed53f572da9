--- One line at the bottom of the screen while a job runs; Neovim shows no progress by itself.
local messages = require("stet.messages")

local M = {}

--- The title of each running job, by its token.
local titles = {}

--- Seconds after which somebody may want to know how to stop what does not end.
local LONG = 10

local function echo(text)
  -- A line that does not fit would ask for <Enter>. The seconds at its end tell that it still goes on.
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

--- Says at once that something was started; the server's own words follow.
function M.begin(name)
  M.tell(name .. " …")
end

--- Puts one line there, as much of it as fits.
function M.tell(text)
  echo("Stet: " .. text)
  vim.cmd.redraw()
end

--- Shows what a `LspProgress` event of our server says.
function M.show(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  local value = event.data.params.value
  local token = event.data.params.token
  if not client or client.name ~= "stet" or type(value) ~= "table" then
    return
  end
  if value.kind == "end" then
    -- The answer to `:Stet cancel` comes before the job has ended: it would be wiped away here.
    echo(value.message == "cancelled" and (titles[token] or "Stet") .. ": cancelled" or "")
    titles[token] = nil
  else
    titles[token] = value.title or titles[token] or "Stet"
    echo(titles[token] .. (value.message and ": " .. value.message or ""))
  end
  vim.cmd.redraw()
end

return M
