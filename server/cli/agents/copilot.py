"""Copilot CLI and cloud agent. Source: GitHub's hooks reference. A file of Stet's own, merged all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer

EVENTS = {
    HookEvent.START: "sessionStart",
    HookEvent.PROMPT: "userPromptSubmitted",
    HookEvent.EDIT: "postToolUse",
    HookEvent.STOP: "agentStop",
}
_NAME = "copilot"


def _entries(program: StetProgram) -> Sequence[tuple[tuple[str, ...], Any]]:
    return [
        (
            ("hooks", name),
            {
                "type": "command",
                "command": program.hook(_NAME, event),
                "timeoutSec": 120 if event is HookEvent.STOP else 20,  # 30 s if it is not set
            }
            | ({"matcher": "edit|create|str_replace_editor|apply_patch"} if event is HookEvent.EDIT else {}),
        )
        for event, name in EVENTS.items()
    ]


AGENT = Agent(
    _NAME,
    "GitHub Copilot",
    ConfigFile(
        JsonHooks(_NAME, _entries, {"version": 1}),
        project=".github/hooks/stet.json",
        user=".copilot/hooks/stet.json",
        user_variable="COPILOT_HOME",
    ),
    HookOutput(
        context=lambda text: {"additionalContext": text},
        refuse=claude_code.refuse,
        notify=lambda text: {"type": "progress", "message": text},  # a line of progress; it decides nothing
    ),
    "Copilot CLI runs a project's hooks in folders that you trust. The cloud agent runs them from the default branch, "
    "and has no `stet` unless its setup steps install it.",
    mcp=ConfigFile(
        JsonServer(
            ("mcpServers", "stet"), lambda program: {"type": "local", **claude_code.server(program), "tools": ["*"]}
        ),
        user=".copilot/mcp-config.json",
        user_variable="COPILOT_HOME",
        no_project="Copilot CLI keeps its servers for the user alone: add `--user`",
    ),
    also_reads=("claude-code",),
    shown=EVENTS,
)
