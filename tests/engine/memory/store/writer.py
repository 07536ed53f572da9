"""A process that stores solutions and says which of them are acknowledged: `writer.py ROOT NAME COUNT`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex


async def main(root: Path, name: str, count: int) -> None:
    store = SolutionStore(await SyncedIndex.open(root, None), 10_000)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        stored = await store.put(Solution(f"{name} {number}", f"def f{number}():\n    return {number}", "python"))
        print(stored.id, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
