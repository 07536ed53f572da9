"""From an edit to its first squiggle in a file of 10,000 lines, for a client that is pushed to and one that pulls."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterator

from bench.row import Row
from support.processes.stet import stet_argv
from support.servers.wire import RawClient, recorded

URI = "file:///bench/big.py"
UNIT = "def f{n}(a, b=1):\n    total = a + b\n    for i in range(total):\n        total += i\n    return total\n\n\n"
LINES = 10_000
ROUNDS = 60

PUBLISH = "textDocument/publishDiagnostics"

EDITS = {
    "parseable": (("total", "total1"), ("total1", "total")),
    "breaking": (("a + b", "a + (b"), ("a + (b", "a + b")),
}
"""An edit and what takes it back; the second one is not measured."""


def rows() -> Iterator[Row]:
    """First squiggle by push and by pull."""
    with tempfile.TemporaryDirectory() as home, asyncio.Runner() as runner:
        env = {"STET_HOME": home, "STET_BASE_URL": "http://127.0.0.1:9/v1", "STET_MODEL": "none"}
        for way, name in (("push", "emacs28-eglot-1.9"), ("pull", "neovim-0.11.4")):
            yield from runner.run(_collected(_squiggles(env, way, name)))


async def _collected(measurement: AsyncIterator[Row]) -> list[Row]:
    return [row async for row in measurement]


async def _squiggles(env: dict[str, str], way: str, name: str) -> AsyncIterator[Row]:
    text = "".join(UNIT.format(n=n) for n in range(LINES // 7 + 1))
    async with RawClient.stdio(stet_argv("--stdio"), env=env) as client:
        await client.initialize(dict(recorded(name)["capabilities"]))
        client.open(URI, "python", text)
        await _wait_for_diagnostics(client, way)
        for kind, goal in (("parseable", "p95 30 ms"), ("breaking", "p95 120 ms")):
            times = [await _round(client, way, kind, number) for number in range(ROUNDS)]
            # The first ones meet cold caches.
            measured = sorted(times[ROUNDS // 6 :])
            p50, p95 = (measured[int(len(measured) * share)] * 1e3 for share in (0.5, 0.95))
            yield Row(
                f"edit -> first squiggle, {way}, {LINES:,} lines, {kind}", f"p50 {p50:.0f} ms, p95 {p95:.0f} ms", goal
            )
        await client.stop()


async def _round(client: RawClient, way: str, kind: str, number: int) -> float:
    """One edit somewhere in the file, measured, and its taking back, waited for."""
    (old, new), (now, back) = EDITS[kind]
    line = (number * 1663 % (LINES // 7)) * 7 + 1
    took = await _edit(client, way, line, old, new)
    await _edit(client, way, line, now, back)
    return took


async def _edit(client: RawClient, way: str, line: int, old: str, new: str) -> float:
    column = client.documents[URI].source.line_text(line).index(old)
    started = time.perf_counter()
    client.change(URI, new, ((line, column), (line, column + len(old))))
    await _wait_for_diagnostics(client, way)
    return time.perf_counter() - started


async def _wait_for_diagnostics(client: RawClient, way: str) -> None:
    """Returns once the newest version was judged."""
    if way == "pull":
        await client.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
        return
    version = client.documents[URI].version
    await client.wait_for(lambda m: m.get("method") == PUBLISH and m["params"].get("version") == version)
    client.messages.clear()
