"""A pool of processes: parsing holds the interpreter's lock, so threads would wait for each other.

A worker that dies (a grammar is native code) costs its current item and not the run; so does one that does not finish.
No process outlives the run: workers end with their parent, even if that is killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any, Generic, TypeVar

from stet_ls.server.cli.check.signals import cleanup_on_signal, delayed_signals, unblock_signals

Item = TypeVar("Item")
Result = TypeVar("Result")

# Forking takes milliseconds, and is safe without threads. Elsewhere it is not safe or not available.
_CONTEXT: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
_LEAVING = 3.0  # seconds for a worker to kill its tools


@dataclass(frozen=True, slots=True)
class WorkerTask(Generic[Item, Result]):
    """The work to do with all items.

    `work` returns one result for each item of a chunk. `lost` returns the result for an item whose worker died, from
    the item and the reason. `seconds_per_item` is the limit in seconds for one item; a chunk gets the sum.
    """

    work: Callable[[Sequence[Item]], Sequence[Result]]
    lost: Callable[[Item, str], Result]
    seconds_per_item: float = 60.0


@dataclass(frozen=True, slots=True)
class _Unit(Generic[Item]):
    """Items whose results start at `offset` in the results of a chunk."""

    chunk: int
    offset: int
    items: Sequence[Item]


def map_in_processes(
    job: WorkerTask[Item, Result], chunks: Sequence[Sequence[Item]], *, processes: int
) -> Generator[Sequence[Result], None, None]:
    """Yields the results of the chunks in order, each as soon as all before it are known.

    Errors of `work` are raised here. Closing the generator stops all workers.
    """
    pool = _Pool(job, chunks)
    try:
        pool.start(processes)
        for index in range(len(chunks)):
            while pool.missing[index]:
                pool.wait()
            yield [pool.results[index].pop(offset) for offset in range(len(chunks[index]))]
    finally:
        pool.stop()


class _Pool(Generic[Item, Result]):
    """The workers, their current items, and the items that remain."""

    def __init__(self, job: WorkerTask[Item, Result], chunks: Sequence[Sequence[Item]]) -> None:
        self._job = job
        self._left: deque[_Unit[Item]] = deque(_Unit(index, 0, chunk) for index, chunk in enumerate(chunks))
        self._workers: dict[connection.Connection, _Worker[Item]] = {}
        self.missing = [len(chunk) for chunk in chunks]
        self.results: list[dict[int, Result]] = [{} for _ in chunks]

    def start(self, count: int) -> None:
        """Starts workers and gives each its first unit."""
        sys.stdout.flush()  # a forked process would write buffered output again
        for _ in range(count):
            if self._left:
                ours, theirs = _CONTEXT.Pipe()
                inherited = [*self._workers, ours] if _CONTEXT.get_start_method() == "fork" else []
                process = _CONTEXT.Process(target=_serve, args=(self._job.work, theirs, inherited), daemon=True)
                with delayed_signals():
                    process.start()
                theirs.close()
                self._workers[ours] = _Worker(process)
                self._give(ours)

    def wait(self) -> None:
        """Waits until a worker sends something or dies, and handles it."""
        end = min(worker.end for worker in self._workers.values())
        ready = connection.wait(list(self._workers), timeout=max(end - time.monotonic(), 0))
        for each in ready:
            assert isinstance(each, connection.Connection)
            self._receive(each)
        for each in [each for each, worker in self._workers.items() if worker.end < time.monotonic()]:
            self._lose(each, "it did not finish")

    def stop(self) -> None:
        """Ends all workers and the processes that they started."""
        for worker in self._workers.values():
            worker.process.terminate()
        for each, worker in self._workers.items():
            worker.process.join(_LEAVING)
            worker.process.kill()
            worker.process.join()
            each.close()
        self._workers.clear()

    def _receive(self, ours: connection.Connection) -> None:
        try:
            answer = ours.recv()
        except (EOFError, OSError):
            self._lose(ours, "its process died", has_died=True)
            return
        if isinstance(answer, Exception):
            raise answer
        unit = self._workers[ours].unit
        assert unit is not None
        self._keep(unit, answer)
        self._give(ours)

    def _lose(self, ours: connection.Connection, why: str, *, has_died: bool = False) -> None:
        """Handles a dead worker. Its items are tried one by one: only the one that killed it is given up."""
        worker = self._workers.pop(ours)
        worker.process.kill()
        worker.process.join()
        ours.close()
        unit = worker.unit
        assert unit is not None
        if len(unit.items) == 1:
            code = worker.process.exitcode or 0
            reason = f"{why} ({signal.Signals(-code).name})" if code < 0 and has_died else why
            self._keep(unit, [self._job.lost(unit.items[0], reason)])
        else:
            singles = [_Unit(unit.chunk, unit.offset + at, [item]) for at, item in enumerate(unit.items)]
            self._left.extendleft(reversed(singles))
        self.start(1)

    def _keep(self, unit: _Unit[Item], results: Sequence[Result]) -> None:
        for at, result in enumerate(results):
            self.results[unit.chunk][unit.offset + at] = result
        self.missing[unit.chunk] -= len(results)

    def _give(self, ours: connection.Connection) -> None:
        """Sends the next unit to a worker; ends a worker for which none is left."""
        worker = self._workers[ours]
        if not self._left:
            ours.close()
            worker.process.join(_LEAVING)
            worker.process.kill()
            del self._workers[ours]
            return
        worker.unit = self._left.popleft()
        worker.end = time.monotonic() + self._job.seconds_per_item * len(worker.unit.items)
        try:
            ours.send(worker.unit.items)
        except OSError:
            return  # the worker died while it was idle; `wait` notices


class _Worker(Generic[Item]):
    """A process, its current unit and the deadline for that."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self.unit: _Unit[Item] | None = None
        self.end = 0.0


def _serve(work: Callable[[Any], Any], theirs: connection.Connection, inherited: list[connection.Connection]) -> None:
    """Runs in a worker. Closes inherited pipe ends: if a sibling holds one, the parent's end goes unnoticed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    with cleanup_on_signal(), contextlib.suppress(EOFError, OSError):
        unblock_signals()
        for other in inherited:
            other.close()
        while True:
            items = theirs.recv()
            try:
                answer: object = work(items)
            except Exception as error:  # noqa: BLE001 - raised where the results are read
                answer = error
            theirs.send(answer)
