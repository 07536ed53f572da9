"""The jobs of one client: started, watched, cancelled, and kept for a while."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import ModelError, NoModelError, UsageError
from stet_ls.server.errors import ErrorKind, failure_of

if TYPE_CHECKING:
    from stet_ls.engine.actions.multi_file.chosen_parts import ChosenParts
    from stet_ls.engine.api.answer import Answer
    from stet_ls.engine.api.request import Request

HISTORY = 50
"""Ended jobs that `stet.result` still returns; the oldest are dropped first."""


class JobStatus(StrEnum):
    """The state of a job. All but RUNNING are final."""

    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job. `applied` is None if unknown, or if there was nothing to apply.

    `missing_model` names the embedded model whose download would have helped. `model_failed`: there is a model, which
    could not be asked or gave no usable reply. `discarded`: the user refused the edit.
    `short` is the message in fewer words, "" if all of it matters.
    """

    status: JobStatus
    message: str
    applied: bool | None = None
    answer: Answer | None = None
    missing_model: str = ""
    model_failed: bool = False
    discarded: bool = False
    short: str = ""


_BLAMED = {ErrorKind.REFUSED: JobStatus.REFUSED, ErrorKind.FAILED: JobStatus.FAILED}


@dataclass(eq=False)
class JobHandle:
    """One job: its parameters and, once it has ended, its `result`."""

    action: str
    uri: str
    params: Any
    """The validated parameters of the command: `stet.retry` runs them again."""
    id: str = field(default_factory=lambda: secrets.token_hex(6))  # no leading "-": it names folders and options
    started: float = field(default_factory=time.monotonic)
    result: JobResult | None = None
    seconds: float | None = None
    stage: str = ""
    written: str = ""
    """The reply that is being written, if it is meant to be read."""
    answer: Answer | None = None
    """The engine's answer: known while the user is still asked about the edit."""
    cancelling: bool = False
    """True once its end was requested."""
    abandoned: bool = False
    """True once the server shuts down: no more waiting."""
    awaiting_confirmation: bool = False
    """True while the user is asked whether to apply the edit, also after the job has ended."""
    apply_requested: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to apply the edit that the user is asked about, even if the question is closed."""
    choice: ChosenParts | None = None
    """What of the edit `stet.apply` asked for; None for all of it."""
    request: Request | None = field(default=None, repr=False)
    """The engine's request, once it runs."""
    deferred_result: asyncio.Future[JobResult] | None = None
    """For a job that ended while its question was open: the result once that is answered."""
    has_waiter: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a request waits for its result: a plugin that shows it."""
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The job's name in its reports."""
        return f"{self.action}-{self.id}"

    @property
    def status(self) -> JobStatus:
        """The state of the job."""
        return JobStatus.RUNNING if self.result is None else self.result.status

    def elapsed(self) -> float:
        """Seconds that the job took, or has taken so far."""
        return time.monotonic() - self.started if self.seconds is None else self.seconds

    async def wait(self) -> None:
        """Returns once the job has ended; cancelling the wait does not affect it."""
        await self._ended.wait()

    @property
    def moves_its_document(self) -> bool:
        """Whether the editor applies an edit that moves the document of the job."""
        moved = {move.path.as_uri() for move in self.answer.moves} if self.answer is not None else set()
        return self.uri in moved and not self.awaiting_confirmation

    def cancel(self) -> bool:
        """Stops the job; False if it had ended. Its `finally` blocks run before it counts as ended.

        A job whose edit was sent ends once the outcome is known, or a moment later.
        """
        if self.result is not None or self._task is None:
            return False
        self.cancelling = True
        self._task.cancel()
        return True

    def end(self, ending: JobResult) -> None:
        """Records the result: only the first one counts."""
        if self.result is None:
            self.result = ending
            self.seconds = time.monotonic() - self.started

    def replace_result(self, ending: JobResult) -> None:
        """Replaces the result by a later one; earlier waiters have received the first."""
        self.result = ending

    def wake(self) -> None:
        """Releases all waiters."""
        self._ended.set()


Run = Callable[[JobHandle], Awaitable[JobResult]]
Ended = Callable[[JobHandle], None]


class Jobs:
    """The registry of jobs. It holds each task, so that none is garbage-collected while it runs."""

    def __init__(self, forgotten: Callable[[str], None] = lambda job: None) -> None:
        """Calls `forgotten` for each job that is dropped."""
        self._forgotten = forgotten
        self._jobs: dict[str, JobHandle] = {}
        self._closed = False

    def start(self, job: JobHandle, run: Run, on_end: Ended) -> JobHandle:
        """Runs `run` in a separate task and returns at once; `on_end` is called exactly once, with the result set."""
        if self._closed:
            raise UsageError("Stet is shutting down. Start the job again later.")
        self._jobs[job.id] = job
        job._task = asyncio.create_task(_root(job, run), name=f"stet job {job.id}")
        job._task.add_done_callback(lambda task: self._finish(job, task, on_end))
        return job

    def get(self, job_id: str) -> JobHandle:
        """The job with that id; UsageError if there is none or it was dropped."""
        try:
            return self._jobs[job_id]
        except KeyError:
            raise UsageError(f"job: unknown job {job_id!r}. Run `stet.jobs` to list them.") from None

    def __iter__(self) -> Iterator[JobHandle]:
        """All jobs still kept, the oldest first."""
        return iter(tuple(self._jobs.values()))

    @property
    def idle(self) -> bool:
        """Whether no job runs."""
        return all(job.result is not None for job in self)

    def cancel_for(self, uri: str) -> None:
        """Stops all running jobs whose target is that document, except one whose edit moves it: editors close it."""
        for job in self:
            if job.uri == uri and not job.moves_its_document:
                job.cancel()

    async def close(self) -> None:
        """Stops all jobs and waits until each has cleaned up; none can be started afterwards."""
        self._closed = True
        for job in self:
            job.abandoned = True
        tasks = [job._task for job in self if job.cancel() and job._task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _finish(self, job: JobHandle, task: asyncio.Task[None], on_end: Ended) -> None:
        # A task that was cancelled before its first step never entered _root.
        if task.cancelled():
            job.end(JobResult(JobStatus.CANCELLED, "Cancelled."))
        # Waiters are released after the user is notified.
        on_end(job)
        job.wake()
        ended = [known.id for known in self._jobs.values() if known.result is not None]
        for job_id in ended[: max(len(ended) - HISTORY, 0)]:
            del self._jobs[job_id]
            self._forgotten(job_id)


async def _root(job: JobHandle, run: Run) -> None:
    try:
        job.end(await run(job))
    except Exception as error:  # noqa: BLE001 - a task's root: an unexpected error becomes one sentence and a log entry
        failure = failure_of(error, during=f"job {job.id} ({job.action})")
        absent = error.absent if isinstance(error, NoModelError) else ""
        failed = isinstance(error, ModelError) and not absent
        result = JobResult(_BLAMED[failure.blame], failure.message, False, missing_model=absent, model_failed=failed)
        job.end(result)
