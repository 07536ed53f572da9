"""What becomes of an applied edit, undone, saved or lost: the engine hears of it, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.edits import NEW, OLD, TOP, URI, Environment
from support.findings import editing
from support.servers.scripted import ScriptedModel
from support.servers.session import NEOVIM, boxes, command, editor, fenced, finish, lines, start, turned_out
from support.servers.wire import TIMEOUT, Json, RawClient

from stet_ls.engine.api.answer import EditOutcome
from stet_ls.engine.errors import UnknownIdError
from stet_ls.engine.run import Engine
from stet_ls.engine.trace.record_store import RecordStore
from stet_ls.server import app


def undo(client: RawClient) -> None:
    client.undo(URI)


def save(client: RawClient) -> None:
    client.save(URI)


def type_elsewhere_and_save(client: RawClient) -> None:
    client.replace(URI, "A = 1", "A = 2")
    client.save(URI)


def edit_and_save(client: RawClient) -> None:
    client.replace(URI, "return a + b", "return b + a")
    client.save(URI)


def close(client: RawClient) -> None:
    client.close(URI)


@pytest.mark.parametrize(
    ("then", "outcome"),
    [(undo, "undone"), (save, "kept"), (type_elsewhere_and_save, "kept"), (edit_and_save, "edited"), (close, None)],
)
async def test_the_outcome_of_the_edit_is_passed_to_the_engine(
    then: Callable[[RawClient], None], outcome: str | None, scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        client.open(URI, "python", TOP + OLD)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(8)))
        assert result["applied"] is True
        then(client)
        trace = result["answer"]["metadata"]["trace"]
        await until(environment, trace, outcome or "applied")

    log = Path(environment["STET_HOME"], "log", "stet.log").read_text()
    reported = [word for word in ("undone", "kept", "edited", "rejected") if f"job {trace}: {word}" in log]
    assert reported == ([] if outcome is None else [outcome])
    assert became(environment, trace) == (outcome or "applied")


async def test_the_last_outcome_is_processed_before_shutdown(
    scripted: ScriptedModel, environment: Environment, served_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many a user saves and leaves in one breath; here the engine takes its time to hear of it."""
    honest = Engine.learn_outcome

    async def slow(self: Engine, job: str, outcome: EditOutcome, text: str) -> None:
        await asyncio.sleep(0.3)
        await honest(self, job, outcome, text)

    monkeypatch.setattr(Engine, "learn_outcome", slow)
    monkeypatch.setattr(app, "CLOSE_SECONDS", TIMEOUT)
    scripted.default = fenced(NEW)
    async with editing(NEOVIM) as client:
        client.open(URI, "python", TOP + OLD)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(8)))
        client.save(URI)

    assert became(environment, result["answer"]["metadata"]["trace"]) == "kept"


def became(environment: Environment, trace: str) -> str:
    """What is next to the record of a job."""
    store = RecordStore(Path(environment["STET_HOME"], "data", "traces"), 0)
    return store.outcome(store.find(trace))


@pytest.mark.parametrize("outcome", ["discarded", "refused", "cancelled"])
async def test_the_record_says_why_an_edit_was_not_applied(
    outcome: str, scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:

        async def reply(params: Json) -> Json:
            if outcome == "refused":
                client.replace(URI, "total = a + b", "total = b + a")
            elif outcome == "cancelled":
                await asyncio.Event().wait()
            return {"title": "Discard" if outcome == "discarded" else "Apply"}

        client.answers["window/showMessageRequest"] = reply
        client.open(URI, "python", TOP + OLD)
        job = await start(client, "refactor", uri=URI, range=lines(8), preview="always")
        await client.wait_notification("window/showMessageRequest")
        if outcome == "cancelled":
            await command(client, "stet.cancel", job=job)
        assert (await finish(client, job))["applied"] is not True
        [row] = (await command(client, "stet.stats"))["ledger"]["jobs"]
        await until(environment, row["job"], outcome)


@pytest.mark.parametrize(
    ("then", "status", "applied", "outcome"),
    [("applied", "done", True, "applied"), ("declined", "cancelled", False, "cancelled")],
)
async def test_a_job_cancelled_after_sending_its_edit_reports_the_outcome(
    then: str, status: str, applied: bool, outcome: str, scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        honest, cancelled = client.answers["workspace/applyEdit"], asyncio.Event()

        async def reply(params: Json) -> Json:
            await cancelled.wait()
            reported: Json = honest(params) if then == "applied" else {"applied": False}
            return reported

        client.answers["workspace/applyEdit"] = reply
        client.open(URI, "python", TOP + OLD)
        job = await start(client, "refactor", uri=URI, range=lines(8))
        await client.wait_notification("workspace/applyEdit")
        await command(client, "stet.cancel", job=job)
        cancelled.set()
        result = await turned_out(client, job)

        assert (result["status"], result["applied"]) == (status, applied)
        assert boxes(client) or not applied, "who cancelled is told that it was too late"
        assert len(client.received("workspace/applyEdit")) == 1
        await until(environment, result["answer"]["metadata"]["trace"], outcome)


async def test_an_edit_applied_after_its_job_was_cancelled_is_reported(
    scripted: ScriptedModel, environment: Environment
) -> None:
    """The client never answers, and nothing shows for a while."""
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        client.answers["workspace/applyEdit"] = lambda params: asyncio.Event().wait()
        client.open(URI, "python", TOP + OLD)
        job = await start(client, "refactor", uri=URI, range=lines(8))
        await client.wait_notification("workspace/applyEdit")
        await command(client, "stet.cancel", job=job)
        result = await finish(client, job)
        trace = result["answer"]["metadata"]["trace"]

        assert (result["status"], result["applied"]) == ("cancelled", None)
        assert boxes(client) == [result["message"]]
        await until(environment, trace, "sent")

        client.replace(URI, OLD, NEW)

        assert (await turned_out(client, job))["applied"] is True
        await until(environment, trace, "applied")


async def until(environment: Environment, trace: str, outcome: str) -> None:
    """Returns once that is next to the record, which is written in a thread."""
    async with asyncio.timeout(TIMEOUT):
        while True:
            with suppress(UnknownIdError):
                if became(environment, trace) == outcome:
                    return
            await asyncio.sleep(0.05)
