"""Runs the judges on a change for a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings import LoadedSettings
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.storage.setting_files import PROJECT_FILE
from stet_ls.engine.verify.changes.read_change import change_between
from stet_ls.engine.verify.changes.read_trees import TwoTrees
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.known_answers import VerifyRequest
from stet_ls.engine.verify.verify import VerifyOptions, verify
from stet_ls.server.cli.inputs.load_settings import load_settings


async def judged(request: VerifyRequest, *, budget: float, intent: str) -> Report:
    """The report on the change between the trees of a request, which is kept for the same request."""
    async with runtimes_for(request.near, reads_project=not _changes_settings(request.trees)) as (loaded, runtimes):
        change = await asyncio.to_thread(change_between, request.trees)
        tools = toolbox(loaded.settings, (change.root,))
        asked = None if loaded.warnings else request
        return await verify(change, runtimes, VerifyOptions(intent, budget, tools=tools, request=asked))


@asynccontextmanager
async def runtimes_for(
    folder: Path, *, reads_project: bool = True
) -> AsyncIterator[tuple[LoadedSettings, RuntimeProvider]]:
    """The settings for a folder, and the sandbox that they ask for. It is never weakened."""
    loaded = load_settings(near=folder, reads_project=reads_project)
    runtimes = RuntimeProvider(loaded.settings, user_paths())
    try:
        yield loaded, runtimes
    finally:
        await runtimes.close()


def _changes_settings(trees: TwoTrees) -> bool:
    """Whether a change edits the project's settings: by whom it is judged is not for its author to decide, nor may a
    file that cannot be read stop the judges.
    """
    base, head = trees.base.files, trees.head.files
    return any(path.rpartition("/")[2] == PROJECT_FILE and base.get(path) != head.get(path) for path in {*base, *head})
