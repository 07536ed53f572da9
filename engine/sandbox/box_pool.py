"""Boxes built ahead: each has an interpreter started and its modules imported, waits, serves one run, and dies.

The walls, the limits and the watch over a box are those of any other: it is the same run, whose command waits for what
it is to do. Nothing is shared between runs, so nothing of one can reach the next. What dies with the server: all of it.
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
"""Seconds that a box waits before it is given up."""

_MOST = 4
"""Boxes in all; each holds an interpreter of some 30 MB."""

_SOURCE = Path(__file__).parent / "inside" / "box_worker.py"
_LOADER = "exec(__import__('sys').argv.pop(1), {'__name__': 'box'})"
"""Keeps `__main__` empty for the job."""

_FLAGS = frozenset({"-I", "-E", "-s", "-S", "-B", "-u", "-P", "-O"})


Key = tuple[object, ...]
"""What all runs that one box could serve have in common."""


@runtime_checkable
class Serving(Protocol):
    """A backend that can build a box ahead of its job."""

    async def serve(self, spec: RunSpec, start: BoxStart) -> RunResult:
        """Builds the box of `spec` and runs its command, which waits for its job."""


@dataclass(frozen=True, slots=True)
class _Box:
    task: asyncio.Task[RunResult]
    start: BoxStart
    pipe: int
    state: str
    leaves: asyncio.TimerHandle


class Pool:
    """The boxes that wait. `idle` in seconds, `each` is how many wait for runs of one kind.

    One is enough for runs that come now and then; of two, one is ready while the other is built anew.
    """

    def __init__(self, *, idle: float = IDLE, each: int = 1) -> None:
        self._idle = idle
        self._each = each
        self._waiting: dict[Key, list[_Box]] = {}
        self._tasks: set[asyncio.Task[RunResult]] = set()

    async def run(self, backend: Box, spec: RunSpec) -> RunResult:
        """Runs `spec` in a box that waits for it, else in one that is built now; the next is then built ahead."""
        kind = kind_of(spec) if isinstance(backend, Serving) else None
        if kind is None:
            return await backend.run(spec)
        assert isinstance(backend, Serving)
        state = await asyncio.to_thread(stamp, spec.binds)
        try:
            while (box := self._take(_key(kind))) is not None:
                if box.state != state:
                    await _discard(box)
                elif (result := await _serve(box, spec)) is not None:
                    return result
            return await backend.run(spec)
        finally:
            self._fill(backend, kind, state)

    async def ready(self, backend: Box, spec: RunSpec) -> None:
        """Has boxes built for runs of the kind of `spec`, as if one had been run."""
        kind = kind_of(spec) if isinstance(backend, Serving) else None
        if kind is not None:
            assert isinstance(backend, Serving)
            self._fill(backend, kind, await asyncio.to_thread(stamp, spec.binds))

    def waiting(self) -> int:
        """How many boxes wait."""
        return sum(len(boxes) for boxes in self._waiting.values())

    async def close(self) -> None:
        """Gives all boxes up; nothing of them is left on return."""
        boxes = [box for boxes in self._waiting.values() for box in boxes]
        self._waiting.clear()
        for box in boxes:
            await _discard(box)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self, key: Key) -> _Box | None:
        """The box that waits longest."""
        boxes = self._waiting.get(key, [])
        box = boxes.pop(0) if boxes else None
        if not boxes:
            self._waiting.pop(key, None)
        if box is not None:
            box.leaves.cancel()
        return box

    def _fill(self, backend: Serving, kind: RunSpec, state: str) -> None:
        key = _key(kind)
        while len(self._waiting.get(key, [])) < self._each:
            while self.waiting() >= _MOST:
                other = next((each for each in self._waiting if each != key), None)
                if other is None:
                    return
                self._drop(other)
            self._waiting.setdefault(key, []).append(self._build(backend, kind, state))

    def _build(self, backend: Serving, kind: RunSpec, state: str) -> _Box:
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
        """Lets the oldest box of a kind go, without waiting for its end."""
        if (box := self._take(key)) is not None:
            os.close(box.pipe)
            box.task.cancel()


async def _live(backend: Serving, kind: RunSpec, start: BoxStart) -> RunResult:
    with in_use(kind.binds):
        return await backend.serve(kind, start)


async def _serve(box: _Box, spec: RunSpec) -> RunResult | None:
    """The run's result; None if the box had died before its job came."""
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
    """Blocks no longer than the box lives: with it goes the reading end."""
    with contextlib.suppress(BrokenPipeError), os.fdopen(pipe, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


async def _discard(box: _Box) -> None:
    os.close(box.pipe)
    box.task.cancel()
    await asyncio.gather(box.task, return_exceptions=True)


def _looked_at(task: asyncio.Task[RunResult]) -> None:
    """A box that died waiting is no error of anybody's: the next run is a cold one."""
    if not task.cancelled():
        task.exception()


def kind_of(spec: RunSpec) -> RunSpec | None:
    """The run that waits for `spec`'s job, the same for all that it could serve; None if `spec` has to run cold.

    An overlay shows a workspace as it is now, and artifacts are named to the shell that starts the command.
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
