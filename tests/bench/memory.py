"""The memory at size: searches through the protocol, what it costs the server, the disk, and what is found again.

All parts take some minutes; `PARTS=recall,lsp,stores,large make bench ONLY=memory` runs those that are named. Rows at
size have drawn vectors around the real ones of 500 instructions: ten thousand embeddings would take ten minutes.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from bench.quality.rephrased import PAIRS, THINGS, distinct_tasks, instructions, rephrased, solution
from bench.row import Row
from support.processes.stet import stet_argv
from support.servers.session import NOTHING, command, editor
from support.servers.wire import RawClient

from stet_ls.engine.memory.solution import Solution, texts_of
from stet_ls.engine.memory.store import journal, maintenance
from stet_ls.engine.memory.store.embedders import OnnxMiniLM
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex

ROWS = 10_000
MANY = 100_000
STORES = 1_000
SEARCHES = 200
_PAUSE = 0.002
"""Seconds between two questions to a server whose stalls are looked for."""
_FOREIGN = ("lancedb", "numpy", "onnxruntime", "tokenizers", "pyarrow")
"""What the server must not load."""


def rows() -> Iterator[Row]:
    """The parts of the environment's PARTS, or all."""
    wanted = os.environ.get("PARTS", ",".join(_PARTS)).split(",")
    if unknown := set(wanted) - set(_PARTS):
        raise SystemExit(f"PARTS: there is no {', '.join(unknown)}; there are {', '.join(_PARTS)}")
    with asyncio.Runner() as runner:
        for part in wanted:
            measured = _PARTS[part]()
            while (row := runner.run(anext(measured, None))) is not None:
                yield row


async def _recall() -> AsyncIterator[Row]:
    """Among 500 real rows alone: drawn ones are no tasks that a request could mean."""
    embedder = OnnxMiniLM()
    for which, texts in (("ten alike but for the verb", instructions()), ("none alike", distinct_tasks())):
        first = third = 0
        with tempfile.TemporaryDirectory() as folder:
            store = SolutionStore(await SyncedIndex.open(Path(folder) / "memory", embedder), MANY)
            await _fill(store, *_embedded(embedder, texts), len(texts))
            for number, text in enumerate(texts):
                hits = [hit.solution.instruction for hit in await store.search(rephrased(text, number), min_score=0.0)]
                first += hits[:1] == [text]
                third += text in hits[:3]
        yield Row(f"recall@1 of {PAIRS} rephrased requests, {which}", f"{first / len(texts):.3f}", "0.94")
        yield Row(f"recall@3 of {PAIRS} rephrased requests, {which}", f"{third / len(texts):.3f}", "0.98")


async def _lsp() -> AsyncIterator[Row]:
    """A server that finds ten thousand solutions: ready, quiet and under load, and what that costs."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "data" / "memory"
        aside = await _filled(root, ROWS)
        table = sum(path.stat().st_size for path in (aside / "tables").rglob("*") if path.is_file())
        yield Row(f"bytes a solution in the table, {ROWS:,} rows", f"{table / ROWS:,.0f}", "4,096")
        async with _editor(home) as client:
            await _search(client, 0)  # of nothing: the engine is loaded, and no worker
            server = _process(b"stet_ls.server", home)
            before = _megabytes(server, "VmRSS")
            aside.rename(root)  # the first search starts the worker
            ready, stall = await _first_search(client)
            yield Row(f"worker ready and first search, {ROWS:,} rows", f"{ready:.1f} s", "3 s")
            yield Row("largest stall of the server meanwhile", f"{1000 * stall:.0f} ms", "20 ms")
            what = "search with embedding through LSP"
            yield Row(f"{what}, {ROWS:,} rows, P50/95/99", _spread(await _searched(client)), "15/30/60 ms")
            with _load():
                yield Row(f"{what}, every core taken, P50/95/99", _spread(await _searched(client)), "50/100/200 ms")
            child = _process(b"stet_ls.engine.memory.store.store_child", home)
            yield Row(
                "memory of the worker, now and at most",
                f"{_megabytes(child, 'VmRSS'):.0f}, {_megabytes(child, 'VmHWM'):.0f} MB",
                "400 MB",
            )
            maps = Path(f"/proc/{server}/maps").read_text("utf-8")
            loaded = [name for name in _FOREIGN if f"/{name}" in maps]
            more = f"{_megabytes(server, 'VmRSS') - before:.1f} MB, loaded: {', '.join(loaded) or 'nothing'}"
            yield Row("added to the server", more, "0, nothing")


async def _stores() -> AsyncIterator[Row]:
    """A thousand stores with the maintenance between them, as the worker does both."""
    with tempfile.TemporaryDirectory() as home:
        store = SolutionStore(await SyncedIndex.open(await _filled(Path(home) / "memory", ROWS), OnnxMiniLM()), MANY)
        before = await _searches(store)
        seconds = []
        for number in range(STORES):
            words = random.Random(number).sample(THINGS, 3)  # the same in each run
            one = solution(f"Compare {words[0]} with {words[1]} and {words[2]}", number)
            started = time.perf_counter()
            await store.put(one)
            seconds.append(time.perf_counter() - started)
            await maintenance.maintain(store)
        ratio = np.percentile(await _searches(store), 95) / np.percentile(before, 95)
        yield Row(f"one of {STORES:,} stores, P50/95/99", _spread(seconds), "100/-/- ms")
        yield Row(f"search P95 after {STORES:,} stores against before", f"{ratio:.2f} x", "1.5 x")


async def _large() -> AsyncIterator[Row]:
    """A hundred thousand rows, which are more than are held in memory."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "data" / "memory"
        (await _filled(root, MANY)).rename(root)
        async with _editor(home, {"memory": {"max_solutions": 2 * MANY}}) as client:
            await _first_search(client)
            count = (await command(client, "stet.memory.stats"))["solutions"]
            spread = _spread(await _searched(client))
            yield Row(f"search with embedding through LSP, {count:,} rows, P50/95/99", spread, "-/60/- ms")


_PARTS: Mapping[str, Callable[[], AsyncIterator[Row]]] = {
    "recall": _recall,
    "lsp": _lsp,
    "stores": _stores,
    "large": _large,
}


async def _filled(root: Path, count: int) -> Path:
    """A folder next to `root` with so many rows: nothing has to start with it there."""
    aside = root.with_name("aside")
    embedder = OnnxMiniLM()
    store = SolutionStore(await SyncedIndex.open(aside, embedder), 2 * MANY)
    await _fill(store, *_embedded(embedder, instructions()), count)
    await maintenance.compact(store)
    return aside


def _embedded(embedder: OnnxMiniLM, texts: Sequence[str]) -> tuple[list[Solution], Any]:
    real = [solution(text, number) for number, text in enumerate(texts)]
    return real, embedder.encode([text for each in real for text in texts_of(each)])


async def _fill(store: SolutionStore, real: Sequence[Solution], vectors: Any, count: int) -> None:
    """Real rows and, up to `count`, rows with vectors drawn around theirs."""
    draw = np.random.default_rng(7)
    async with store.index.writing():
        pairs = {each.id: (vectors[2 * n], vectors[2 * n + 1]) for n, each in enumerate(real)}
        await store.index.write([journal.put(each) for each in real], pairs)
        for first in range(len(real), count, 5000):
            numbers = range(first, min(first + 5000, count))
            batch = [solution(f"Drawn task number {number}", number) for number in numbers]
            near = vectors[draw.integers(0, len(vectors), 2 * len(batch))]
            drawn = near + draw.normal(0, 0.05, near.shape).astype(np.float32)
            drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
            pairs = {each.id: (drawn[2 * n], drawn[2 * n + 1]) for n, each in enumerate(batch)}
            await store.index.write([journal.put(each) for each in batch], pairs)


def _editor(home: str, settings: Mapping[str, Any] | None = None) -> Any:
    options = {"initializationOptions": {"settings": settings}} if settings else {}
    # a process of its own, not a forked one: its memory is measured
    return editor({**os.environ, "STET_HOME": home}, NOTHING, argv=stet_argv("serve", "--stdio"), **options)


async def _first_search(client: RawClient) -> tuple[float, float]:
    """Seconds until the first search is answered, and the longest that another question took meanwhile."""
    gc.collect()
    gc.freeze()  # a pause of this process, which has just written all the rows, is none of the server's
    usual = statistics.median([await _asked(client) for _ in range(20)])
    started = time.perf_counter()
    search = asyncio.create_task(_search(client, 0))
    longest = 0.0
    while not search.done():
        longest = max(longest, await _asked(client))
        await asyncio.sleep(_PAUSE)
    await search
    return time.perf_counter() - started, max(longest - usual, 0.0)


async def _asked(client: RawClient) -> float:
    started = time.perf_counter()
    await command(client, "stet.jobs")
    return time.perf_counter() - started


async def _searched(client: RawClient) -> list[float]:
    return [await _search(client, number) for number in range(1, SEARCHES + 1)]


async def _search(client: RawClient, number: int) -> float:
    query = rephrased(instructions()[number], number)
    started = time.perf_counter()
    await command(client, "stet.memory.search", query=query, limit=3)
    return time.perf_counter() - started


async def _searches(store: SolutionStore) -> list[float]:
    seconds = []
    for number, text in itertools.islice(enumerate(instructions()), SEARCHES):
        started = time.perf_counter()
        await store.search(rephrased(text, number))
        seconds.append(time.perf_counter() - started)
    return seconds


@contextmanager
def _load() -> Iterator[None]:
    """Two processes a core that do nothing but compute."""
    idle = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for each in idle:
            each.kill()
            each.wait()


def _spread(seconds: Sequence[float]) -> str:
    quantiles = statistics.quantiles(seconds, n=100)
    return f"{1000 * quantiles[49]:.0f}/{1000 * quantiles[94]:.0f}/{1000 * quantiles[98]:.0f} ms"


def _process(module: bytes, home: str) -> int:
    """The process of a module that works in a home: by /proc, so on Linux alone."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command_line = (folder / "cmdline").read_bytes()
            if module in command_line and home.encode() in command_line + (folder / "environ").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    raise SystemExit(f"no process of {module.decode()} is seen in /proc: this part is measured on Linux")


def _megabytes(process: int, which: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) * 1024 / 1e6
