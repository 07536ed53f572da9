"""The report on a change for a program: an agent's hook, or a tool of the MCP server."""

from __future__ import annotations

import asyncio

from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_trees import ChangeQuery, read_trees
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.known_answers import known_answer, request_for


async def report_of(asked: ChangeQuery, *, budget: float, intent: str = "") -> Report:
    """The report on a change. UsageError if there is no such change."""
    context = read_trees(asked)
    trees = await asyncio.to_thread(context.__enter__)
    try:
        request = await asyncio.to_thread(request_for, trees, asked.folder, user_paths(), intent)
        known = await asyncio.to_thread(known_answer, request)
        if known is not None:
            return known
        # Importing the judges takes longer than finding a kept conclusion.
        from stet_ls.server.cli.agents.judging import judged

        return await judged(request, budget=budget, intent=intent)
    finally:
        context.__exit__(None, None, None)
