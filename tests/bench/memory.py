"""The memory at size: searches through the protocol, the process' memory, the disk, and what rephrased requests find.

Rows at size have drawn vectors around the real ones of 500 instructions: ten thousand embeddings would take ten
minutes. The 500 requests are rephrased by rule (`_rephrased`), none by hand.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench.row import Row
from support.session import command, editor

from stet_ls.engine.memory import journal, upkeep
from stet_ls.engine.memory.embedders import OnnxMiniLM
from stet_ls.engine.memory.shelf import Shelf
from stet_ls.engine.memory.solution import Solution, texts_of
from stet_ls.engine.memory.store import Store

PAIRS = 500
ROWS = 10_000
MANY = 100_000
STORES = 1_000
SEARCHES = 200

_VERBS = {
    "parse": "read", "sort": "order", "count": "tally", "merge": "combine", "validate": "check", "remove": "delete",
    "convert": "turn", "find": "locate", "group": "cluster", "format": "render",
}  # fmt: skip
_THINGS = (
    "the dates of a log file", "the rows of a csv table", "duplicate email addresses", "nested json objects",
    "the words of a sentence", "prime numbers", "the nodes of a binary tree", "file paths", "roman numerals",
    "the edges of a graph", "ip addresses", "phone numbers", "matrix columns", "html tags", "time zones", "user names",
    "bank transactions", "colour values", "polygon corners", "the commits of a repository", "temperatures",
    "query parameters", "unicode strings", "command line options", "calendar events",
)  # fmt: skip
_WAYS = (
    "by their length", "without changing the input", "ignoring case", "in reverse order", "and skip empty ones",
    "one line at a time", "from standard input", "in parallel", "with a progress bar", "and report the first error",
    "in constant memory", "for a given year", "as a generator", "until a limit is reached", "from several files",
    "with a cache", "for unit tests", "over the network", "in a database", "on the command line",
)  # fmt: skip


def instructions() -> list[str]:
    """500 different tasks: every verb with every thing, in two ways. Each has nine twins with another verb."""
    made = [f"{verb} {thing} {way}".capitalize() for verb, thing, way in itertools.product(_VERBS, _THINGS, _WAYS[:2])]
    return made[:PAIRS]


def apart() -> list[str]:
    """500 tasks of which no two are told apart by their verb alone: every thing in every way, the verbs by turns."""
    pairs = itertools.product(_THINGS, _WAYS)
    return [f"{verb} {thing} {way}".capitalize() for verb, (thing, way) in zip(itertools.cycle(_VERBS), pairs)][:PAIRS]


def _rephrased(text: str, number: int) -> str:
    """Other words for the verb, another order, a wish for a command: one of four rules by turns."""
    verb, rest = text.lower().split(" ", 1)
    way = next(way for way in _WAYS if rest.endswith(way))
    thing = rest.removesuffix(way).strip()
    other = _VERBS[verb]
    return (
        f"i need a function that can {other} {thing} {way}",
        f"{way}, {other} {thing}",
        f"please {verb} all {thing.removeprefix('the ')} {way}",
        f"how do i {other} {thing}, {way}?",
    )[number % 4]


def _solution(text: str, number: int) -> Solution:
    body = "\n".join(f"    step_{line} = items[{line}] + {number}" for line in range(16))
    return Solution(text, f"def task_{number}(items):\n{body}\n    return step_0", "python")


def rows() -> Iterator[Row]:
    """Recall, speed at ten and at a hundred thousand rows, size, memory and a thousand stores."""
    with asyncio.Runner() as runner:
        measured = _measure()
        while batch := runner.run(anext(measured, [])):
            yield from batch


async def _measure() -> AsyncIterator[list[Row]]:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "STET_HOME": home}
        root = Path(home) / "data" / "memory"
        embedder = OnnxMiniLM()
        texts = instructions()
        real = [_solution(text, number) for number, text in enumerate(texts)]
        vectors = embedder.encode([text for each in real for text in texts_of(each)])
        store = Store(await Shelf.open(root, embedder), MANY * 2)
        await _fill(store, real, vectors, ROWS)
        yield await _recall(store, "ten alike but for the verb", real, vectors, texts)
        others = apart()
        rows_apart = [_solution(text, number) for number, text in enumerate(others)]
        of_others = embedder.encode([text for each in rows_apart for text in texts_of(each)])
        yield await _recall(store, "none alike but for the verb", rows_apart, of_others, others)
        await upkeep.compact(store)
        table = sum(path.stat().st_size for path in store.shelf.folder.rglob("*") if path.is_file())
        yield [Row(f"bytes a solution in the table, {ROWS:,} rows", f"{table / ROWS:,.0f}", "4,096")]
        yield await _through_lsp(environment, texts)
        yield await _stores(store, texts)
        await _fill(store, [], vectors, MANY)
        await upkeep.compact(store)
        yield await _direct(store, texts)


async def _fill(store: Store, real: Sequence[Solution], vectors: Any, count: int) -> None:
    """Real rows and, up to `count`, rows with vectors drawn around theirs."""
    draw = np.random.default_rng(7)
    async with store.shelf.writing():
        pairs = {each.id: (vectors[2 * n], vectors[2 * n + 1]) for n, each in enumerate(real)}
        if real:
            await store.shelf.write([journal.put(each) for each in real], pairs)
        start = await store.shelf.table.count()
        for first in range(start, count, 5000):
            batch = [
                _solution(f"Drawn task number {number}", number) for number in range(first, min(first + 5000, count))
            ]
            near = vectors[draw.integers(0, len(vectors), 2 * len(batch))]
            drawn = near + draw.normal(0, 0.05, near.shape).astype(np.float32)
            drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
            pairs = {each.id: (drawn[2 * n], drawn[2 * n + 1]) for n, each in enumerate(batch)}
            await store.shelf.write([journal.put(each) for each in batch], pairs)


async def _recall(store: Store, which: str, real: Sequence[Solution], vectors: Any, texts: Sequence[str]) -> list[Row]:
    """Among the 500 real rows alone: drawn ones are no tasks that a request could mean."""
    first = third = 0
    with tempfile.TemporaryDirectory() as folder:
        alone = Store(await Shelf.open(Path(folder) / "memory", store.shelf.embedder), MANY)
        await _fill(alone, real, vectors, len(real))
        for number, text in enumerate(texts):
            hits = [hit.solution.instruction for hit in await alone.search(_rephrased(text, number), min_score=0.0)]
            first += hits[:1] == [text]
            third += text in hits[:3]
    return [
        Row(f"recall@1 of {PAIRS} rephrased requests, {which}", f"{first / len(texts):.3f}", "0.94"),
        Row(f"recall@3 of {PAIRS} rephrased requests, {which}", f"{third / len(texts):.3f}", "0.98"),
    ]


async def _through_lsp(environment: dict[str, str], texts: Sequence[str]) -> list[Row]:
    async with editor(environment) as client:
        await command(client, "stet.jobs")
        started = time.perf_counter()
        await command(client, "stet.memory.search", query=texts[0], limit=3)
        ready = time.perf_counter() - started
        stats = await command(client, "stet.memory.stats")
        seconds = []
        for number in range(SEARCHES):
            query = _rephrased(texts[number], number)
            started = time.perf_counter()
            await command(client, "stet.memory.search", query=query, limit=3)
            seconds.append(time.perf_counter() - started)
        return [
            Row(f"worker ready and first search, {stats['solutions']:,} rows", f"{ready:.1f} s", "3 s"),
            Row(
                f"search with embedding through LSP, {stats['solutions']:,} rows, P50/95/99",
                _spread(seconds),
                "15/30/60",
            ),
            Row("memory of the worker", f"{_worker_megabytes():.0f} MB", "400"),
        ]


async def _stores(store: Store, texts: Sequence[str]) -> list[Row]:
    before = await _searches(store, texts)
    seconds = []
    for number in range(STORES):
        words = random.Random(number).sample(_THINGS, 3)  # the same in each run
        solution = _solution(f"Compare {words[0]} with {words[1]} and {words[2]}", number)
        started = time.perf_counter()
        await store.put(solution)
        seconds.append(time.perf_counter() - started)
        await upkeep.maintain(store)
    after = await _searches(store, texts)
    ratio = np.percentile(after, 95) / np.percentile(before, 95)
    return [
        Row(f"one of {STORES:,} stores, P50/95/99", _spread(seconds), "100/-/-"),
        Row(f"search P95 after {STORES:,} stores against before", f"{ratio:.2f} x", "1.5 x"),
    ]


async def _direct(store: Store, texts: Sequence[str]) -> list[Row]:
    count = await store.shelf.table.count()
    return [
        Row(
            f"search with embedding in the worker, {count:,} rows, P50/95/99",
            _spread(await _searches(store, texts)),
            "-/60/-",
        )
    ]


async def _searches(store: Store, texts: Sequence[str]) -> list[float]:
    seconds = []
    for number in range(SEARCHES):
        started = time.perf_counter()
        await store.search(_rephrased(texts[number], number))
        seconds.append(time.perf_counter() - started)
    return seconds


def _spread(seconds: Sequence[float]) -> str:
    quantiles = statistics.quantiles(seconds, n=100)
    return f"{1000 * quantiles[49]:.0f}/{1000 * quantiles[94]:.0f}/{1000 * quantiles[98]:.0f} ms"


def _worker_megabytes() -> float:
    """Of the process that runs the memory's child, by /proc; elsewhere the largest of this one's children."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"stet_ls.engine.memory.child" in (folder / "cmdline").read_bytes():
                pages = int((folder / "statm").read_text().split()[1])
                return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        except OSError:
            continue
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
