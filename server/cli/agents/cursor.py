"""Cursor. One unknown event voids its whole file, so only events that were seen to fire are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, Dialect, Moment, Program
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer

EVENTS = {Moment.START: "sessionStart", Moment.EDIT: "postToolUse", Moment.STOP: "stop"}
_NAME = "cursor"


def _entries(program: Program) -> Sequence[tuple[tuple[str, ...], Any]]:
    return [
        (
            ("hooks", event),
            {"command": program.hook(_NAME, moment)} | ({"loop_limit": 3} if moment is Moment.STOP else {}),
        )
        for moment, event in EVENTS.items()
    ]


AGENT = Agent(
    _NAME,
    "Cursor",
    ConfigFile(JsonHooks(_NAME, _entries, {"version": 1}), project=".cursor/hooks.json", user=".cursor/hooks.json"),
    Dialect(
        context=lambda text: {"additional_context": text},
        refuse=lambda text: {"followup_message": text},  # becomes the user's next message
        tell=lambda _text: {},  # there is no answer that reaches the user alone; standard error goes to its log
    ),
    "Cursor runs the hooks of trusted workspaces. `cursor-agent -p` calls no hook at the end of a turn.",
    seconds_at_stop=25.0,
    mcp=ConfigFile(
        JsonServer(("mcpServers", "stet"), claude_code.server), project=".cursor/mcp.json", user=".cursor/mcp.json"
    ),
    also_reads=("claude-code",),
    shown=EVENTS,
)
