"""The parts of landing that decide on their own: is the edit really there, and is it worth a question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from support.findings import editing
from support.servers.scripted import ScriptedModel
from support.servers.session import NEOVIM, boxes, command, editor, fenced, finish, lines, start, turned_out
from support.servers.wire import PATIENCE, Json, RawClient

from stet_ls.engine.api.answer import Answer, Edit, EditOutcome, NewFile
from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UnknownIdError
from stet_ls.engine.run import Engine
from stet_ls.engine.trace.record_store import RecordStore
from stet_ls.server import app
from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import DocumentChange, EditPlan
from stet_ls.server.edits.edit_verification import is_applied
from stet_ls.server.job_flow.edit_risks import edit_risks, must_ask, question
from stet_ls.validators.source import Source, Span, Splice

PATH = Path("/w/a.py")
HEAD = "import os\nimport sys\n\n\nA = 1\n\n\n"
OLD = "def add(a, b):\n    total = a + b\n    return total\n"
NEW = "def add(a, b):\n    return a + b\n"


def document(text: str) -> Snapshot:
    return Snapshot(PATH.as_uri(), 1, "python", Source(text), PATH)


def change(before: str, after: str) -> DocumentChange:
    return DocumentChange(document(before), Source(after), minimal(Source(before), Source(after)))


@pytest.mark.parametrize(
    ("live", "seen"),
    [
        (HEAD + NEW, True),
        (HEAD + OLD, False),
        ((HEAD + NEW).replace("\n", "\r\n"), True),
        ((HEAD + NEW).rstrip("\n"), True),
        ("# typed above\n" + HEAD + NEW, True),
        (HEAD + NEW + "# typed below\n", True),
        ("# typed above\n" + HEAD + OLD, False),
        (HEAD + OLD + "# typed below\n", False),
        (HEAD + NEW.replace("a + b", "a - b"), False),
        ("", False),
    ],
)
def test_an_edit_counts_as_applied_if_its_lines_are_present(live: str, seen: bool) -> None:
    assert is_applied(Source(live), change(HEAD + OLD, HEAD + NEW)) is seen


@pytest.mark.parametrize(("live", "seen"), [("aa = 1\ndbg()\nb = 2\n", False), ("aa = 1\nb = 2\n", True)])
def test_a_deletion_counts_as_applied_once_its_text_is_gone(live: str, seen: bool) -> None:
    assert is_applied(Source(live), change("a = 1\ndbg()\nb = 2\n", "a = 1\nb = 2\n")) is seen


def answer(*edits: Edit, evidence: tuple[Evidence, ...] = (), new_files: tuple[NewFile, ...] = ()) -> Answer:
    start = len(HEAD)
    guard = Span(start, start + len(OLD) - 1)
    return Answer(
        True, "refactor", "python", Summary("Refactored", "`f`"), edits, new_files, evidence=evidence, guard=guard
    )


def edit(start: int, end: int, text: str, path: Path = PATH) -> Edit:
    return Edit(path, Source(HEAD + OLD), Span(start, end), text)


INSIDE = edit(len(HEAD), len(HEAD + OLD) - 1, NEW)
IMPORT = edit(len("import os\n"), len("import os\n"), "import re\n")
BELOW_IMPORTS = edit(HEAD.index("A = 1"), HEAD.index("A = 1") + 5, "A = 2")
ELSEWHERE = edit(0, 0, "x", Path("/w/b.py"))


def found(of: Answer) -> tuple[str, ...]:
    paths = dict.fromkeys(each.path for each in of.edits)
    changes = tuple(
        DocumentChange(Snapshot(path.as_uri(), 1, "python", Source(""), path), Source("x"), (Splice(Span(0, 0), "x"),))
        for path in paths
        if path is not None
    )
    return edit_risks(of, EditPlan(changes, of.new_files), document(HEAD + OLD))


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (answer(INSIDE), []),
        (answer(INSIDE, IMPORT), []),
        (answer(new_files=(NewFile(Path("/w/test_a.py"), "x"),)), []),
        (answer(INSIDE, BELOW_IMPORTS), ["outside"]),
        (answer(INSIDE, ELSEWHERE), ["2 files (a.py, b.py)", "outside"]),
        (answer(INSIDE, evidence=(Evidence(Check.LINT, Ruling.FAIL, "F821"),)), ["lint FAILED: F821"]),
        (answer(INSIDE, evidence=(Evidence(Check.TESTS, Ruling.UNKNOWN, "?", trusted=True),)), ["tests unknown: ?"]),
        (answer(INSIDE, evidence=(Evidence(Check.SYNTAX, Ruling.UNKNOWN, "not parsed"),)), []),
        (answer(INSIDE, evidence=(Evidence(Check.TESTS, Ruling.SKIPPED, "none"),)), []),
    ],
)
def test_only_risky_edits_need_confirmation(offered: Answer, words: list[str]) -> None:
    reasons = found(offered)

    assert len(reasons) == len(words), reasons
    assert all(word in reason for word, reason in zip(words, reasons, strict=True))
    assert must_ask("auto", reasons) is bool(words)
    assert must_ask("always", reasons)
    assert not must_ask("never", reasons)


@pytest.mark.parametrize("verdict", [Ruling.UNKNOWN, Ruling.SKIPPED])
def test_new_tests_that_did_not_run_need_confirmation(verdict: Ruling) -> None:
    why = "tests not run: pytest is missing"
    unrun = answer(new_files=(NewFile(Path("/w/test_a.py"), "x"),), evidence=(Evidence(Check.TESTS, verdict, why),))

    assert found(replace(unrun, action="test")) == (why,)
    assert found(unrun) == (), "those of the project, which could not be run, stop no edit"


def test_an_edit_that_no_check_ran_is_asked_about_with_the_way_to_have_it_checked() -> None:
    syntax = (Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True),)
    unproven = Metadata(evidence_tier=EvidenceTier.PARSED, raised_by="give an example: f(...) == ...")
    offered = replace(answer(INSIDE, evidence=syntax), metadata=unproven)
    assert found(offered) == ("no check ran it; give an example: f(...) == ...",)
    for tier in (EvidenceTier.SELF_TESTED, EvidenceTier.COMPARED, EvidenceTier.TESTED):
        assert found(replace(offered, metadata=replace(unproven, evidence_tier=tier))) == ()
    unwatched = (Evidence(Check.SYNTAX, Ruling.SKIPPED, "the setting `checks.validation` is off"),)
    assert found(replace(offered, evidence=unwatched)) == (), "its user switched the checks off"


def test_the_question_states_each_fact_once() -> None:
    evidence = (
        Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok"),
        Evidence(Check.LINT, Ruling.FAIL, "F821 at line 3"),
        Evidence(Check.DANGER, Ruling.UNKNOWN, "adds `eval`, which runs text as code", trusted=True),
        Evidence(Check.TESTS, Ruling.UNKNOWN, "pytest is missing", trusted=True),
    )
    metadata = Metadata(reasons=("lint FAILED: F821 at line 3",))
    offered = replace(answer(INSIDE, evidence=evidence), metadata=metadata, confidence=0.1)

    assert question(offered, found(offered)) == (
        "10 % sure · Refactored `f` · syntax ok. Apply it? "
        "Lint FAILED: F821 at line 3; adds `eval`, which runs text as code; tests unknown: pytest is missing."
    )


# What becomes of an edit ----------------------------------------------------------------------------------------------

URI = "file:///w/a.py"


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
    then: Callable[[RawClient], None], outcome: str | None, scripted: ScriptedModel, environment: Mapping[str, str]
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        client.open(URI, "python", HEAD + OLD)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(8)))
        assert result["applied"] is True
        then(client)
        trace = result["answer"]["metadata"]["trace"]
        await until(environment, trace, outcome or "applied")

    log = Path(environment["STET_HOME"], "log", "stet.log").read_text()
    told = [word for word in ("undone", "kept", "edited", "rejected") if f"job {trace}: {word}" in log]
    assert told == ([] if outcome is None else [outcome])
    assert became(environment, trace) == (outcome or "applied")


async def test_the_last_outcome_is_processed_before_shutdown(
    scripted: ScriptedModel, environment: Mapping[str, str], served_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many a user saves and leaves in one breath; here the engine takes its time to hear of it."""
    honest = Engine.learn_outcome

    async def slow(self: Engine, job: str, outcome: EditOutcome, text: str) -> None:
        await asyncio.sleep(0.3)
        await honest(self, job, outcome, text)

    monkeypatch.setattr(Engine, "learn_outcome", slow)
    monkeypatch.setattr(app, "CLOSE_SECONDS", PATIENCE)
    scripted.default = fenced(NEW)
    async with editing(NEOVIM) as client:
        client.open(URI, "python", HEAD + OLD)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(8)))
        client.save(URI)

    assert became(environment, result["answer"]["metadata"]["trace"]) == "kept"


def became(environment: Mapping[str, str], trace: str) -> str:
    """What is next to the record of a job."""
    store = RecordStore(Path(environment["STET_HOME"], "data", "traces"), 0)
    return store.outcome(store.find(trace))


@pytest.mark.parametrize("outcome", ["discarded", "refused", "cancelled"])
async def test_the_record_says_why_an_edit_was_not_applied(
    outcome: str, scripted: ScriptedModel, environment: Mapping[str, str]
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:

        async def answer(params: Json) -> Json:
            if outcome == "refused":
                client.replace(URI, "total = a + b", "total = b + a")
            elif outcome == "cancelled":
                await asyncio.Event().wait()
            return {"title": "Discard" if outcome == "discarded" else "Apply"}

        client.answers["window/showMessageRequest"] = answer
        client.open(URI, "python", HEAD + OLD)
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
    then: str, status: str, applied: bool, outcome: str, scripted: ScriptedModel, environment: Mapping[str, str]
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        honest, cancelled = client.answers["workspace/applyEdit"], asyncio.Event()

        async def answer(params: Json) -> Json:
            await cancelled.wait()
            told: Json = honest(params) if then == "applied" else {"applied": False}
            return told

        client.answers["workspace/applyEdit"] = answer
        client.open(URI, "python", HEAD + OLD)
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
    scripted: ScriptedModel, environment: Mapping[str, str]
) -> None:
    """The client never answers, and nothing shows for a while."""
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        client.answers["workspace/applyEdit"] = lambda params: asyncio.Event().wait()
        client.open(URI, "python", HEAD + OLD)
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


async def until(environment: Mapping[str, str], trace: str, outcome: str) -> None:
    """Returns once that is next to the record, which is written in a thread."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(UnknownIdError):
                if became(environment, trace) == outcome:
                    return
            await asyncio.sleep(0.05)
