"""The agents that `stet hook` and `stet mcp install` know."""

from __future__ import annotations

from collections.abc import Mapping

from stet_ls.server.cli.agents import aider, claude_code, codex, copilot, cursor, gemini, git, opencode
from stet_ls.server.cli.agents.agent import Agent

AGENTS: Mapping[str, Agent] = {
    row.name: row
    for row in (
        claude_code.AGENT,
        codex.AGENT,
        cursor.AGENT,
        gemini.AGENT,
        copilot.AGENT,
        opencode.AGENT,
        aider.AGENT,
        git.AGENT,
    )
}
