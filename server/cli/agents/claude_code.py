"""Claude Code. Source: its hooks and MCP references."""

from __future__ import annotations

from typing import Any

from stet_ls.server.cli.agents.agent import Agent, Answer, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer, grouped_hooks

EVENTS = {
    HookEvent.START: "SessionStart",
    HookEvent.PROMPT: "UserPromptSubmit",
    HookEvent.EDIT: "PostToolUse",
    HookEvent.STOP: "Stop",
}
_NAME = "claude-code"


def context(text: str) -> Answer:
    """Text for the model after a tool call. Exit status 2 there does not reach it (anthropics/claude-code#78393)."""
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": text}}


def refuse(text: str) -> Answer:
    """The turn continues with this text."""
    return {"decision": "block", "reason": text}


def server(program: StetProgram) -> dict[str, Any]:
    """The usual form of a server on standard input and output."""
    return {"command": program.words[0], "args": [*program.words[1:], "mcp"]}


AGENT = Agent(
    _NAME,
    "Claude Code",
    ConfigFile(
        JsonHooks(_NAME, grouped_hooks(_NAME, EVENTS, "Edit|MultiEdit|Write|NotebookEdit")),
        project=".claude/settings.json",
        user=".claude/settings.json",
        user_variable="CLAUDE_CONFIG_DIR",
    ),
    HookOutput(context, refuse),
    "Claude Code runs the hooks of a project once you trust its folder; `/hooks` lists them. "
    "Cursor and Copilot CLI run this file, too: the first to ask gets the answer.",
    mcp=ConfigFile(
        JsonServer(("mcpServers", "stet"), lambda program: {"type": "stdio"} | server(program)),
        project=".mcp.json",
        no_user="run `claude mcp add --scope user stet -- {program} mcp`: Claude Code writes that file itself",
    ),
    shown=EVENTS,
)
