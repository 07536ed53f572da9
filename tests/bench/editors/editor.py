"""What an editor feels: start, code actions, cancelling, and the memory of an idle server."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from bench.row import Row
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel
from support.servers.wire import RawClient, recorded

BARE = [sys.executable, str(Path(__file__).with_name("bare_server.py"))]
URI = "file:///bench/big.py"
UNIT = "def f{n}(a, b=1):\n    total = a + b\n    for i in range(total):\n        total += i\n    return total\n\n\n"


def rows() -> Iterator[Row]:
    """Start, code actions, cancelling, memory."""
    with tempfile.TemporaryDirectory() as home, ScriptedModel() as model:
        env = {
            "STET_HOME": home,
            "STET_BASE_URL": model.base_url,
            "STET_MODEL": model.models[0],
            "STET_API_KEY": "bench",
        }
        with asyncio.Runner() as runner:
            for measurement in (_startup(env), _code_actions(env), _cancel(env, model), _memory(env, model)):
                yield from runner.run(_collected(measurement))


async def _collected(measurement: AsyncIterator[Row]) -> list[Row]:
    return [row async for row in measurement]


def _capabilities() -> dict[str, Any]:
    return dict(recorded("neovim-0.11.4")["capabilities"])


async def _startup(env: dict[str, str], rounds: int = 8) -> AsyncIterator[Row]:
    """Start to `initialize` answered, interleaved with a server of bare pygls; the first round warms the caches."""
    times: dict[str, list[float]] = {"stet": [], "bare": []}
    for round_ in range(rounds + 1):
        for name, argv in (("stet", stet_argv("--stdio")), ("bare", BARE)):
            started = time.perf_counter()
            async with RawClient.stdio(argv, env=env) as client:
                await client.initialize(_capabilities())
                if round_:
                    times[name].append(time.perf_counter() - started)
                await client.stop()
    stet, bare = (statistics.median(times[name]) for name in ("stet", "bare"))
    yield Row("start -> initialize answered (median)", f"{stet:.3f} s = {stet / bare:.2f} x bare pygls", "1.20 x")


async def _code_actions(env: dict[str, str], count: int = 400) -> AsyncIterator[Row]:
    """Code actions all over a file of 10,000 lines, next to a handler that returns nothing."""
    text = "".join(UNIT.format(n=n) for n in range(10_000 // 7 + 1))
    lines = text.count("\n")

    async def measure(client: RawClient) -> list[float]:
        times = []
        for n in range(count):
            line = n * 97 % lines
            params = {
                "textDocument": {"uri": URI},
                "range": {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 4}},
                "context": {"diagnostics": [], "triggerKind": 1},
            }
            started = time.perf_counter()
            await client.request("textDocument/codeAction", params)
            times.append(time.perf_counter() - started)
        return times

    results = {}
    for name, argv in (("bare", BARE), ("stet", stet_argv("--stdio"))):
        async with RawClient.stdio(argv, env=env) as client:
            await client.initialize(_capabilities())
            client.open(URI, "python", text)
            await measure(client)  # warm
            results[name] = sorted(await measure(client))
            await client.stop()
    p50, p99 = (results["stet"][int(count * q)] for q in (0.5, 0.99))
    bare = results["bare"][int(count * 0.99)]
    yield Row("codeAction, 10,000 lines: p99", f"{p99 * 1e3:.2f} ms = {p99 / bare:.1f} x trivial", "10 ms, 3 x")
    yield Row("codeAction, 10,000 lines: p50", f"{p50 * 1e3:.2f} ms", "-")


async def _cancel(env: dict[str, str], model: ScriptedModel, rounds: int = 12) -> AsyncIterator[Row]:
    """`stet.cancel` sent until the model server sees the connection close, in mid-stream and before the first token."""
    for name, reply in (
        ("mid-stream", Reply("x = 1\n" * 400, chunks=["x = 1\n"] * 400, delay=0.02)),
        ("before the first token", Reply("never", first_delay=30)),
    ):
        model.default = reply
        times = []
        async with RawClient.stdio(stet_argv("--stdio"), env=env) as client:
            await client.initialize(_capabilities())
            client.open(URI, "python", UNIT.format(n=1))
            for _ in range(rounds):
                asked, left = len(model.requests), len(model.disconnected)
                job = await client.request(
                    "workspace/executeCommand",
                    {"command": "stet.refactor", "arguments": [{"uri": URI, "position": {"line": 1, "character": 4}}]},
                )
                await asyncio.to_thread(model.wait_request, asked + 1, 30)
                await asyncio.sleep(0.1)
                started = time.monotonic()
                await client.request("workspace/executeCommand", {"command": "stet.cancel", "arguments": [job]})
                times.append(await asyncio.to_thread(model.wait_disconnect, left + 1) - started)
            await client.stop()
        median, worst = statistics.median(times) * 1e3, max(times) * 1e3
        yield Row(f"cancel -> tokens stopped, {name}", f"median {median:.0f} ms, worst {worst:.0f} ms", "100 ms")


async def _memory(env: dict[str, str], model: ScriptedModel) -> AsyncIterator[Row]:
    """Resident memory of the idle server, before its first job and after it, with all that a job imports."""
    model.default = Reply("PLAN: none.\nCODE:\n```python\ndef f1(a, b=1):\n    return a\n```\n")
    async with RawClient.stdio(stet_argv("--stdio"), env=env) as client:
        await client.initialize(_capabilities())
        client.open(URI, "python", UNIT.format(n=1))
        await client.request("workspace/executeCommand", {"command": "stet.health", "arguments": []})
        assert client.process is not None
        before = _resident(client.process.pid)
        where = {"uri": URI, "position": {"line": 1, "character": 4}}
        job = await client.request("workspace/executeCommand", {"command": "stet.refactor", "arguments": [where]})
        await client.request(
            "workspace/executeCommand", {"command": "stet.result", "arguments": [{**job, "wait": True}]}
        )
        resident = f"{before:.0f} MB, after a job {_resident(client.process.pid):.0f} MB"
        yield Row("idle server, resident", resident, "120 MB")
        await client.stop()


def _resident(process_id: int) -> float:
    """Megabytes of memory that a process holds."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
