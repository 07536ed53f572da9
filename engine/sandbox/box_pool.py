"""Sandboxes built ahead: each starts an interpreter, imports modules, waits, serves one run and ends.

Walls, limits and monitoring are those of any other sandbox: it is the same run, except that its command waits for a
job. Runs share nothing, so one cannot affect the next. All sandboxes end with the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from stet_ls.engine.sandbox.environments.installation import stamp
from stet_ls.engine.sandbox.environments.locks import in_use
from stet_ls.engine.sandbox.files import outputs
from stet_ls.engine.sandbox.processes.box_start import BoxStart
from stet_ls.engine.sandbox.spec import Box, RunResult, RunSpec

IDLE = 60.0
"""Seconds after which a waiting sandbox is discarded."""

_MOST = 4
"""Sandboxes in total; each holds an interpreter of some 30 MB."""

_MOST_COUNTED = 50
"""Kinds of runs that are counted, the last ones."""

_SOURCE = Path(__file__).parent / "inside" / "box_worker.py"
_LOADER = "exec(__import__('sys').argv.pop(1), {'__name__': 'box'})"
"""Keeps `__main__` empty for the job."""

_FLAGS = frozenset({"-I", "-E", "-s", "-S", "-B", "-u", "-P", "-O"})


Key = tuple[object, ...]
"""The common part of all runs that one sandbox could serve."""


@runtime_checkable
class PoolBackend(Protocol):
    """A backend that can build a sandbox ahead of its job."""

    async def serve(self, spec: RunSpec, start: BoxStart) -> RunResult:
        """Builds the sandbox of `spec` and runs its command, which waits for its job."""


@dataclass(frozen=True, slots=True)
class _Box:
    task: asyncio.Task[RunResult]
    start: BoxStart
    pipe: int
    state: str
    leaves: asyncio.TimerHandle


class BoxPool:
    """The waiting sandboxes. `idle` is in seconds; `each` is how many wait per kind of run, `after` that many of them.

    One is enough for occasional runs; with two, one is ready while the other is rebuilt. What ran once may never run
    again, and what is built for nothing takes time from what runs.
    """

    def __init__(self, *, idle: float = IDLE, each: int = 1, after: int = 1) -> None:
        self._idle = idle
        self._each = each
        self._after = after
        self._ran: dict[Key, int] = {}
        self._waiting: dict[Key, list[_Box]] = {}
        self._tasks: set[asyncio.Task[RunResult]] = set()

    async def run(self, backend: Box, spec: RunSpec) -> RunResult:
        """Runs `spec` in a waiting sandbox, or in a new one; then builds the next one ahead."""
        kind = kind_of(spec) if isinstance(backend, PoolBackend) else None
        if kind is None:
            return await backend.run(spec)
        assert isinstance(backend, PoolBackend)
        state = await asyncio.to_thread(stamp, spec.binds)
        try:
            while (box := self._take(_key(kind))) is not None:
                if box.state != state:
                    await _discard(box)
                elif (result := await _serve(box, spec)) is not None:
                    return result
            return await backend.run(spec)
        finally:
            if self._is_frequent(_key(kind)):
                self._fill(backend, kind, state, self._each)

    async def ready(self, backend: Box, spec: RunSpec) -> None:
        """Builds one sandbox for a run like `spec`."""
        kind = kind_of(spec) if isinstance(backend, PoolBackend) else None
        if kind is not None:
            assert isinstance(backend, PoolBackend)
            self._fill(backend, kind, await asyncio.to_thread(stamp, spec.binds), 1)

    def waiting(self) -> int:
        """How many sandboxes wait."""
        return sum(len(boxes) for boxes in self._waiting.values())

    async def close(self) -> None:
        """Discards all sandboxes; no process or file of them is left on return."""
        boxes = [box for boxes in self._waiting.values() for box in boxes]
        self._waiting.clear()
        for box in boxes:
            await _discard(box)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _is_frequent(self, key: Key) -> bool:
        """Counts a run."""
        ran = self._ran[key] = self._ran.pop(key, 0) + 1
        if len(self._ran) > _MOST_COUNTED:
            del self._ran[next(iter(self._ran))]
        return ran >= self._after

    def _take(self, key: Key) -> _Box | None:
        """The sandbox that has waited longest."""
        boxes = self._waiting.get(key, [])
        box = boxes.pop(0) if boxes else None
        if not boxes:
            self._waiting.pop(key, None)
        if box is not None:
            box.leaves.cancel()
        return box

    def _fill(self, backend: PoolBackend, kind: RunSpec, state: str, each: int) -> None:
        key = _key(kind)
        while len(self._waiting.get(key, [])) < each:
            while self.waiting() >= _MOST:
                other = next((each for each in self._waiting if each != key), None)
                if other is None:
                    return
                self._drop(other)
            self._waiting.setdefault(key, []).append(self._build(backend, kind, state))

    def _build(self, backend: PoolBackend, kind: RunSpec, state: str) -> _Box:
        reading, writing = os.pipe()
        start = BoxStart(reading)
        task = asyncio.create_task(_live(backend, kind, start))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_looked_at)
        task.add_done_callback(lambda _: start.close())
        leaves = asyncio.get_running_loop().call_later(self._idle, self._drop, _key(kind))
        return _Box(task, start, writing, state, leaves)

    def _drop(self, key: Key) -> None:
        """Discards the oldest sandbox of a kind without waiting for its end."""
        if (box := self._take(key)) is not None:
            os.close(box.pipe)
            box.task.cancel()


async def _live(backend: PoolBackend, kind: RunSpec, start: BoxStart) -> RunResult:
    with in_use(kind.binds):
        return await backend.serve(kind, start)


async def _serve(box: _Box, spec: RunSpec) -> RunResult | None:
    """The run's result; None if the sandbox died before its job arrived."""
    if box.task.done():
        os.close(box.pipe)
        return None
    box.start.begin()
    sent = asyncio.get_running_loop().run_in_executor(None, _send, box.pipe, _job(spec))
    try:
        return await box.task
    finally:
        await sent


def _send(pipe: int, data: bytes) -> None:
    """Blocks no longer than the sandbox lives: the reading end closes with it."""
    with contextlib.suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(data)


async def _discard(box: _Box) -> None:
    os.close(box.pipe)
    box.task.cancel()
    await asyncio.gather(box.task, return_exceptions=True)


def _looked_at(task: asyncio.Task[RunResult]) -> None:
    """Retrieves the exception of a sandbox that died while waiting: the next run builds a new one."""
    if not task.cancelled():
        task.exception()


def kind_of(spec: RunSpec) -> RunSpec | None:
    """The spec of a waiting sandbox that can serve `spec`; None if `spec` needs a new sandbox.

    An overlay shows a workspace as it is now, and the shell that starts the command needs the names of artifacts.
    """
    if not spec.warm or spec.overlay or spec.artifacts or not Path(spec.argv[0]).is_absolute():
        return None
    flags = _flags(spec.argv)
    rest = spec.argv[1 + len(flags) :]
    if not rest or (rest[0].startswith("-") and (rest[0] != "-m" or len(rest) == 1)):
        return None
    source = _SOURCE.read_text(encoding="utf-8")
    return replace(spec, argv=(spec.argv[0], *flags, "-c", _LOADER, source, spec.program, *spec.warm), files={})


def _key(kind: RunSpec) -> Key:
    return kind.argv, kind.binds, tuple(sorted(kind.env.items())), kind.limits, kind.report


def _flags(argv: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for argument in argv[1:]:
        if argument not in _FLAGS:
            break
        found.append(argument)
    return tuple(found)


def _job(spec: RunSpec) -> bytes:
    files = {outputs.relative(name): content for name, content in spec.files.items()}
    argv = spec.argv[1 + len(_flags(spec.argv)) :]
    header = json.dumps({"argv": argv, "files": [(name, len(content)) for name, content in files.items()]}).encode()
    return b"".join((len(header).to_bytes(8, "big"), header, *files.values()))
