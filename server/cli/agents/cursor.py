"""Cursor. One unknown event voids its whole file, so only events that were seen to fire are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer

EVENTS = {HookEvent.START: "sessionStart", HookEvent.EDIT: "postToolUse", HookEvent.STOP: "stop"}
_NAME = "cursor"


def _entries(program: StetProgram) -> Sequence[tuple[tuple[str, ...], Any]]:
    return [
        (
            ("hooks", name),
            {"command": program.hook(_NAME, event)} | ({"loop_limit": 3} if event is HookEvent.STOP else {}),
        )
        for event, name in EVENTS.items()
    ]


AGENT = Agent(
    _NAME,
    "Cursor",
    ConfigFile(JsonHooks(_NAME, _entries, {"version": 1}), project=".cursor/hooks.json", user=".cursor/hooks.json"),
    HookOutput(
        context=lambda text: {"additional_context": text},
        refuse=lambda text: {"followup_message": text},  # becomes the user's next message
        notify=lambda _text: {},  # there is no answer that reaches the user alone; standard error goes to its log
    ),
    "Cursor runs the hooks of trusted workspaces. `cursor-agent -p` calls no hook at the end of a turn.",
    seconds_at_stop=25.0,
    mcp=ConfigFile(
        JsonServer(("mcpServers", "stet"), claude_code.server), project=".cursor/mcp.json", user=".cursor/mcp.json"
    ),
    also_reads=("claude-code",),
    shown=EVENTS,
)
