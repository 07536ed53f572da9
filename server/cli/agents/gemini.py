"""Gemini CLI. Source: its docs/hooks/reference.md; timeouts are in milliseconds, standard output is JSON alone."""

from __future__ import annotations

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, JsonServer, grouped_hooks

EVENTS = {
    HookEvent.START: "SessionStart",
    HookEvent.PROMPT: "BeforeAgent",
    HookEvent.EDIT: "AfterTool",
    HookEvent.STOP: "AfterAgent",
}
_NAME = "gemini"


AGENT = Agent(
    _NAME,
    "Gemini CLI",
    ConfigFile(
        JsonHooks(_NAME, grouped_hooks(_NAME, EVENTS, "write_file|replace", unit=1000, name="stet")),
        project=".gemini/settings.json",
        user=".gemini/settings.json",
    ),
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
