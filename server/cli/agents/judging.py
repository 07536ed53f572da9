"""Runs the judges on a change for a program: an agent's hook, or a tool of the MCP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.change import Change, change_of
from stet_ls.engine.verify.changes.read_change import ChangeQuery, read_change
from stet_ls.engine.verify.changes.trees import FolderTree
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.verify import VerifyOptions, verify
from stet_ls.engine.workspace.git import repository
from stet_ls.server.cli.inputs.load_settings import load_settings


async def report_of(asked: ChangeQuery, *, budget: float, intent: str = "") -> Report:
    """The report on a change. UsageError if there is no such change."""
    async with runtimes_for(asked.folder) as (settings, runtimes):
        context = _changed(asked)
        change = await asyncio.to_thread(context.__enter__)
        try:
            options = VerifyOptions(intent, budget, tools=toolbox(settings, (change.root,)))
            return await verify(change, runtimes, options)
        finally:
            context.__exit__(None, None, None)


@asynccontextmanager
async def runtimes_for(folder: Path) -> AsyncIterator[tuple[Settings, RuntimeProvider]]:
    """The settings for a folder, and the sandbox that they ask for. It is never weakened."""
    settings = load_settings(near=folder).settings
    runtimes = RuntimeProvider(settings, user_paths())
    try:
        yield settings, runtimes
    finally:
        await runtimes.close()


@contextmanager
def _changed(asked: ChangeQuery) -> Iterator[Change]:
    """The change. A folder outside of git is compared with the recorded tree alone."""
    folder = asked.folder.resolve()
    if asked.base_tree is not None and repository(folder) is None:
        disk = FolderTree(folder)
        yield change_of(folder, asked.base_tree, disk, disk)
    else:
        with read_change(asked) as change:
            yield change
