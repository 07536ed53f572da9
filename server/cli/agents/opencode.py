"""opencode. Hooks are a plugin in TypeScript that calls `stet hook run` and passes its answers on."""

from __future__ import annotations

import json
from typing import Any

from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonServer
from stet_ls.server.cli.agents.config_files.text_config import WholeFile

EVENTS = {
    HookEvent.START: "session.created",
    HookEvent.PROMPT: "chat.message",
    HookEvent.EDIT: "tool.execute.after",
    HookEvent.STOP: "session.idle",
}
_NAME = "opencode"

_PLUGIN = """\
// Calls Stet after edits and at the end of a turn. Every failure lets the agent continue.
import { spawn } from "node:child_process"

const STET = %s

function ask(moment, payload) {
  return new Promise((resolve) => {
    const words = [...STET.slice(1), "hook", "run", "opencode", moment]
    const child = spawn(STET[0], words, { stdio: ["pipe", "pipe", "ignore"] })
    let answer = ""
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (answer += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer || "{}"))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Stet = async ({ client, directory }) => ({
  "chat.message": async (input) => {
    await ask("prompt", { session_id: input.sessionID, cwd: directory })
  },
  "tool.execute.after": async (input, output) => {
    if (!["edit", "write", "patch", "apply_patch", "multiedit"].includes(input.tool)) return
    const tool_input = input.args ?? output.metadata ?? {}
    const answer = await ask("edit", { session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_input })
    if (answer.context) output.output += "\\n\\n" + answer.context
  },
  event: async ({ event }) => {
    const info = event.properties ?? {}
    if (event.type === "session.created" && !info.info?.parentID)
      await ask("start", { session_id: info.info?.id, cwd: directory })
    if (event.type !== "session.idle") return
    const answer = await ask("stop", { session_id: info.sessionID, cwd: directory })
    // The loop is over here, and a new prompt would race with its end: the finding is shown to the user.
    const toast = { body: { message: answer.message, variant: "error" } }
    if (answer.message) await client.tui.showToast(toast).catch(() => {})
  },
})
"""


def _server(program: StetProgram) -> dict[str, Any]:
    return {"type": "local", "command": [*program.words, "mcp"], "enabled": True}


AGENT = Agent(
    _NAME,
    "opencode",
    ConfigFile(
        WholeFile(lambda program: _PLUGIN % json.dumps(list(program.words)), "// Written by `stet hook install`."),
        project=".opencode/plugins/stet.ts",
        user=".config/opencode/plugins/stet.ts",
        user_variable="XDG_CONFIG_HOME",
    ),
    HookOutput(
        context=lambda text: {"context": text},
        refuse=lambda text: {"message": text},
        notify=lambda text: {"message": text},
    ),
    "The plugin runs inside opencode with all its rights, at its next start. At the end of a turn it shows its finding "
    "to you; opencode has no way to send it to the model then.",
    mcp=ConfigFile(
        JsonServer(("mcp", "stet"), _server),
        project="opencode.json",
        user=".config/opencode/opencode.json",
        user_variable="XDG_CONFIG_HOME",
    ),
    shown=EVENTS,
)
