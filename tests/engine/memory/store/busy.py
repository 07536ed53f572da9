"""A process that does everything a store can do, and says what is done: `busy.py ROOT NAME`."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import maintenance
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex


async def main(root: Path, name: str) -> None:
    store = SolutionStore(await SyncedIndex.open(root, None), 10_000)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in count():
        kept, gone = await stored(store, f"{name} kept {number}"), await stored(store, f"{name} gone {number}")
        print("put", kept, flush=True)
        await store.count([kept], wins=1)
        await maintenance.forget(store, [gone])
        print("forgot", gone, flush=True)
        if number % 3 == 0:
            await maintenance.compact(store)
        else:
            await maintenance.maintain(store, now=True)


async def stored(store: SolutionStore, words: str) -> str:
    return (await store.put(Solution(words, f"def f():\n    return {words!r}", "python"))).id


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
