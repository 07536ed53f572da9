"""Gemini CLI. Source: its docs/hooks/reference.md; timeouts are in milliseconds, standard output is JSON alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer

EVENTS = {
    HookEvent.START: "SessionStart",
    HookEvent.PROMPT: "BeforeAgent",
    HookEvent.EDIT: "AfterTool",
    HookEvent.STOP: "AfterAgent",
}
_NAME = "gemini"


def _entries(program: StetProgram) -> Sequence[tuple[tuple[str, ...], Any]]:
    return [
        (
            ("hooks", name),
            ({"matcher": "write_file|replace"} if event is HookEvent.EDIT else {})
            | {
                "hooks": [
                    {
                        "name": "stet",
                        "type": "command",
                        "command": program.hook(_NAME, event),
                        "timeout": 120_000 if event is HookEvent.STOP else 20_000,
                    }
                ]
            },
        )
        for event, name in EVENTS.items()
    ]


AGENT = Agent(
    _NAME,
    "Gemini CLI",
    ConfigFile(JsonHooks(_NAME, _entries), project=".gemini/settings.json", user=".gemini/settings.json"),
    HookOutput(
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
