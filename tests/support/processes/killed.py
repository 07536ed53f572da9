"""A process that forgets a solution and dies in the middle of it: `killed.py ROOT ID CLASS.METHOD before|after`."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.embedders import OnnxMiniLM
from stet_ls.engine.memory.store.journal import Journal
from stet_ls.engine.memory.store.lance_table import LanceTable
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex

CLASSES: dict[str, Any] = {each.__name__: each for each in (Journal, LanceTable)}


def kill() -> None:
    """Ends this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(step: str, when: str, die: Callable[[], None] = kill, patch: Callable[..., None] = setattr) -> None:
    """Has `die` done right before, or right after, a method does its work."""
    name, _, method = step.partition(".")
    does = getattr(CLASSES[name], method)

    async def dying_async(*arguments: Any) -> None:
        if when == "after":
            await does(*arguments)
        die()

    def dying(*arguments: Any) -> None:
        if when == "after":
            does(*arguments)
        die()

    patch(CLASSES[name], method, dying_async if inspect.iscoroutinefunction(does) else dying)


async def main(root: Path, ident: str, step: str, when: str) -> None:
    store = SolutionStore(await SyncedIndex.open(root, OnnxMiniLM()), 10_000)
    die_at(step, when)
    await maintenance.forget(store, [ident])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
