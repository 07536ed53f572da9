"""Codex CLI. Source: codex-rs/hooks, its schemas and its discovery of files."""

from __future__ import annotations

import json

from stet_ls.server.cli.agents import claude_code
from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.json_config import JsonHooks, grouped_hooks
from stet_ls.server.cli.agents.config_files.text_config import MarkedBlock

EVENTS = claude_code.EVENTS
_NAME = "codex"


def _server(program: StetProgram) -> str:
    command, *rest = program.words
    arguments = ", ".join(json.dumps(word) for word in (*rest, "mcp"))
    return f"[mcp_servers.stet]\ncommand = {json.dumps(command)}\nargs = [{arguments}]\n"


AGENT = Agent(
    _NAME,
    "Codex",
    ConfigFile(
        JsonHooks(_NAME, grouped_hooks(_NAME, EVENTS, "apply_patch|Edit|Write")),
        project=".codex/hooks.json",
        user=".codex/hooks.json",
        user_variable="CODEX_HOME",
    ),
    # An unknown key voids the answer: no key here beyond those of the schema.
    HookOutput(claude_code.context, claude_code.refuse),
    "Open `/hooks` in Codex and trust each hook, again after every change of its entry. "
    "Codex reads a project's file only in folders that you trust.",
    mcp=ConfigFile(
        MarkedBlock(
            _server,
            r"^\s*\[\s*mcp_servers\s*\.\s*[\"']?stet[\"']?\s*\]",
            "a server named `stet` is configured already; to replace it, write",
        ),
        project=".codex/config.toml",
        user=".codex/config.toml",
        user_variable="CODEX_HOME",
    ),
    shown=EVENTS,
)
