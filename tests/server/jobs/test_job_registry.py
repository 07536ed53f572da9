"""The registry of jobs: how each ends, exactly once, and what is remembered."""

from __future__ import annotations

import asyncio

import pytest

from stet_ls.engine.errors import NoModelError, PolicyError, UsageError
from stet_ls.server.jobs.job_registry import HISTORY, JobHandle, JobResult, Jobs, JobStatus


class Watched:
    """A registry whose ends are written down."""

    def __init__(self) -> None:
        self.jobs = Jobs()
        self.ended: list[JobHandle] = []

    def start(self, run: object = None, uri: str = "file:///a.py") -> JobHandle:
        """A job that does `run`, or nothing for ever."""
        return self.jobs.start(JobHandle("refactor", uri, None), run or _for_ever, self.ended.append)  # type: ignore[arg-type]


async def _for_ever(job: JobHandle) -> JobResult:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def _at_once(job: JobHandle) -> JobResult:
    return JobResult(JobStatus.DONE, "ready", applied=True)


async def test_a_job_ends_with_its_return_value() -> None:
    watched = Watched()
    job = watched.start(_at_once)
    assert job.status is JobStatus.RUNNING

    await job.wait()
    await asyncio.sleep(0)

    assert job.result == JobResult(JobStatus.DONE, "ready", applied=True)
    assert watched.ended == [job]


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UsageError("range: there is no line 9."), JobStatus.REFUSED, "range: there is no line 9."),
        (PolicyError("A secret stands in line 3."), JobStatus.REFUSED, "A secret stands in line 3."),
        (NoModelError("No model answers."), JobStatus.FAILED, "No model answers."),
        (TimeoutError(), JobStatus.FAILED, "Stet ran out of time. Try again, or raise the setting `deadline`."),
        (
            ZeroDivisionError("secret path /home"),
            JobStatus.FAILED,
            "This is a bug in Stet (ZeroDivisionError). See its log.",
        ),
    ],
)
async def test_an_error_becomes_one_sentence(error: Exception, status: JobStatus, message: str) -> None:
    async def fails(job: JobHandle) -> JobResult:
        raise error

    job = Watched().start(fails)
    await job.wait()

    assert job.result == JobResult(status, message, applied=False, model_failed=isinstance(error, NoModelError))


async def test_cancelling_stops_the_job_after_its_cleanup() -> None:
    watched, cleaned = Watched(), asyncio.Event()

    async def careful(job: JobHandle) -> JobResult:
        try:
            return await _for_ever(job)
        finally:
            cleaned.set()

    job = watched.start(careful)
    await asyncio.sleep(0)
    assert job.cancel()
    await job.wait()

    assert cleaned.is_set()
    assert job.status is JobStatus.CANCELLED
    assert not job.cancel()
    assert watched.ended == [job]


async def test_a_job_cancelled_before_its_first_step_still_ends_once() -> None:
    watched = Watched()
    job = watched.start()
    job.cancel()
    await job.wait()

    assert job.status is JobStatus.CANCELLED
    assert watched.ended == [job]


async def test_cancelling_a_wait_does_not_cancel_the_job() -> None:
    job = Watched().start()
    waiting = asyncio.create_task(job.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert job.status is JobStatus.RUNNING
    job.cancel()
    await job.wait()


async def test_closing_a_document_stops_only_its_jobs() -> None:
    watched = Watched()
    mine, other = watched.start(), watched.start(uri="file:///b.py")
    watched.jobs.cancel_for("file:///a.py")
    await mine.wait()

    assert (mine.status, other.status) == (JobStatus.CANCELLED, JobStatus.RUNNING)
    other.cancel()
    await other.wait()


async def test_shutdown_stops_all_and_starts_none() -> None:
    watched = Watched()
    running = [watched.start() for _ in range(3)]
    await watched.jobs.close()

    assert {job.status for job in running} == {JobStatus.CANCELLED}
    with pytest.raises(UsageError):
        watched.start()


async def test_history_is_bounded_and_keeps_running_jobs() -> None:
    watched = Watched()
    running = watched.start()
    for _ in range(HISTORY + 10):
        await watched.start(_at_once).wait()
    await asyncio.sleep(0)

    known = list(watched.jobs)
    assert len(known) == HISTORY + 1
    assert known[0] is running
    with pytest.raises(UsageError, match="unknown job"):
        watched.jobs.get("nonsense")
    running.cancel()
    await running.wait()


async def test_ids_cannot_be_guessed_and_are_short() -> None:
    watched = Watched()
    ids = {watched.start(_at_once).id for _ in range(200)}
    await watched.jobs.close()

    assert len(ids) == 200
    assert {len(job_id) for job_id in ids} == {12}


async def test_callbacks_run_when_a_job_is_forgotten() -> None:
    forgotten: list[str] = []
    jobs = Jobs(forgotten.append)
    all_of_them = []
    for _ in range(HISTORY + 2):
        job = jobs.start(JobHandle("refactor", "file:///a.py", None), _at_once, lambda job: None)
        await job.wait()
        all_of_them.append(job.id)

    assert forgotten == all_of_them[:2]
