"""Gemini CLI. Source: its docs/hooks/reference.md; timeouts are in milliseconds, standard output is JSON alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, Dialect, Moment, Program
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer

EVENTS = {
    Moment.START: "SessionStart",
    Moment.PROMPT: "BeforeAgent",
    Moment.EDIT: "AfterTool",
    Moment.STOP: "AfterAgent",
}
_NAME = "gemini"


def _entries(program: Program) -> Sequence[tuple[tuple[str, ...], Any]]:
    return [
        (
            ("hooks", event),
            ({"matcher": "write_file|replace"} if moment is Moment.EDIT else {})
            | {
                "hooks": [
                    {
                        "name": "stet",
                        "type": "command",
                        "command": program.hook(_NAME, moment),
                        "timeout": 120_000 if moment is Moment.STOP else 20_000,
                    }
                ]
            },
        )
        for moment, event in EVENTS.items()
    ]


AGENT = Agent(
    _NAME,
    "Gemini CLI",
    ConfigFile(JsonHooks(_NAME, _entries), project=".gemini/settings.json", user=".gemini/settings.json"),
    Dialect(
        context=lambda text: {"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": text}},
        refuse=lambda text: {"decision": "deny", "reason": text},
    ),
    "Gemini CLI runs no hooks in folders that you do not trust; `/hooks` lists and switches them.",
    mcp=ConfigFile(
        JsonServer(("mcpServers", "stet"), claude_code.server),
        project=".gemini/settings.json",
        user=".gemini/settings.json",
    ),
    shown=EVENTS,
)
