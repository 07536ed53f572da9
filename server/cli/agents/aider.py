"""aider. It has no hooks: it runs a lint command for each file that it edited, and a test command after them."""

from __future__ import annotations

import json

from stet_ls.server.cli.agents.agent import Agent, ConfigFile, HookEvent, HookOutput, StetProgram
from stet_ls.server.cli.agents.config_files.text_config import MarkedBlock

EVENTS = {HookEvent.EDIT: "lint-cmd", HookEvent.STOP: "test-cmd"}
_NAME = "aider"


def _lines(program: StetProgram) -> str:
    return (
        f"lint-cmd: {json.dumps(program.hook(_NAME, HookEvent.EDIT))}\n"
        f"test-cmd: {json.dumps(program.hook(_NAME, HookEvent.STOP))}\n"
        "auto-test: true\n"
    )


AGENT = Agent(
    _NAME,
    "aider",
    ConfigFile(
        MarkedBlock(
            _lines,
            r"^\s*(?:lint-cmd|test-cmd|auto-test)\s*:",
            "`lint-cmd`, `test-cmd` or `auto-test` is set already, and aider takes one of each; to use Stet, write",
        ),
        project=".aider.conf.yml",
        user=".aider.conf.yml",
    ),
    HookOutput(is_text=True),
    "aider asks before it acts on a finding. It names no session: the base is the last commit that it did not make.",
    no_mcp="aider has no MCP servers",
    shown=EVENTS,
)
