--- Commands sent to the server.
local messages = require("stet.messages")

local M = {}

--- Sends a command without `client.commands`, which would pass the actions back to the plugin. Errors are shown.
function M.send(client, bufnr, command, argument, on_result)
  -- An empty table would be encoded as a list.
  local object = argument and (next(argument) == nil and vim.empty_dict() or argument)
  local params = { command = command, arguments = object and { object } or nil }
  client:request("workspace/executeCommand", params, function(err, result)
    if err then
      messages.say(err.message, vim.log.levels.ERROR)
    elseif on_result then
      on_result(result)
    end
  end, bufnr)
end

return M
