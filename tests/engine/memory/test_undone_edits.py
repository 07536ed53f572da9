"""What proves a remembered solution, and what an undo or a change by the user takes back of it."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, code_reply, request_for
from support.remembering import FELL, generate, prompt_of
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.memory.learned_solution import solution_from_edit
from stet_ls.engine.memory.solution import Solution, scope_of
from stet_ls.validators.source import Source

ONES = "def shout(text):\n    return text.upper()"
LOUD = "give the text back in capital letters"


@pytest.fixture
def tested(project: Path) -> Path:
    """A project whose function has a test that the edit makes pass."""
    (project / "loud.py").write_text("def shout(text):\n    pass\n")
    (project / "test_loud.py").write_text(
        "from loud import shout\n\n\ndef test_shout():\n    assert shout('a') == 'A'\n"
    )
    return project


def asked(tested: Path) -> Request:
    """What the job of `run_proven` was asked."""
    fields = {"path": tested / "loud.py", "workspace": Workspace((tested,)), "instruction": LOUD}
    return request_for("generate", "def shout(text):\n    $0pass\n", **fields)


async def run_proven(bench: Bench, scripted: ScriptedModel, tested: Path) -> Answer:
    """The answer of a job whose edit makes the project's test pass."""
    scripted.reply(code_reply(ONES))
    answer = await bench.engine.run(asked(tested), on_event=bench.events.append)
    assert answer.success, answer.message
    return answer


NUMBERS = count()
ANSWERS: list[Answer] = []
"""That of `run_proven`, which takes seconds: it is made once, and offered as that of further jobs."""


async def proven(bench: Bench, scripted: ScriptedModel, tested: Path, *, executed: bool = True) -> Answer:
    """An answer as that of `run_proven`, offered in this bench; without the tests if they executed nothing of it."""
    if not ANSWERS:
        async with Bench(scripted) as once:
            ANSWERS.append(await run_proven(once, scripted, tested))
            await rows(once)  # it is written down by now
            await once.engine.memory.memory.ask("clear", scope=None)
    (made,) = ANSWERS
    evidence = made.evidence if executed else tuple(each for each in made.evidence if each.check is not Check.TESTS)
    answer = replace(made, evidence=evidence, metadata=replace(made.metadata, trace=f"{next(NUMBERS):012x}"))
    bench.engine.memory.offered(answer.metadata.trace, asked(tested), answer, ())
    return answer


async def rows(bench: Bench) -> list[dict[str, Any]]:
    await asyncio.gather(*bench.engine.memory._background)
    return await bench.engine.memory.search(LOUD, languages=None, limit=5)


def bytes_of(bench: Bench) -> bytes:
    folder = bench.engine.memory.memory.folder
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def shown_next(bench: Bench, scripted: ScriptedModel, project: Path) -> bool:
    """Whether the next job's prompt shows the code."""
    scripted.reply(code_reply("def other():\n    return 1"))
    await generate(bench, project, "give a text in capital letters", "other.py")
    return ONES in prompt_of(scripted)


async def test_an_edit_that_a_test_executed_is_proven(bench: Bench, scripted: ScriptedModel, tested: Path) -> None:
    await run_proven(bench, scripted, tested)
    (row,) = await rows(bench)

    assert (row["outcome"], row["from"]) == ("proven", "from `loud.py`, proven by tests")
    assert await shown_next(bench, scripted, tested)


@pytest.mark.parametrize("outcome", FELL)
@pytest.mark.parametrize("kept_first", [False, True], ids=["at once", "after it was kept"])
async def test_an_undo_removes_solutions_based_only_on_that_edit(
    bench: Bench, scripted: ScriptedModel, tested: Path, outcome: EditOutcome, kept_first: bool
) -> None:
    answer = await proven(bench, scripted, tested)
    if kept_first:
        await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, ONES)
    words = "from `loud.py`, proven by tests" + (", kept 1 time" if kept_first else "")
    assert [row["from"] for row in await rows(bench)] == [words]
    assert b"text.upper" in bytes_of(bench)
    undo = asyncio.create_task(bench.engine.learn_outcome(answer.metadata.trace, outcome, ""))
    await asyncio.sleep(0)

    assert not await shown_next(bench, scripted, tested), "not even while it is being removed"
    await undo
    assert await rows(bench) == []
    assert b"text.upper" not in bytes_of(bench)


async def test_an_interrupted_undo_is_finished_by_the_next_window(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    """The memory hangs, and then all of it is killed with the server."""
    row = Solution(LOUD, ONES, "python", outcome="kept", scope=scope_of(project.resolve()), grounds=("kept 1a2b3c",))
    await bench.engine.memory.memory.ask("put", solution=row.to_json())
    assert await shown_next(bench, scripted, project)
    worker: Any = bench.engine.memory.memory
    pid = (await worker._worker.lease()).pid
    os.kill(pid, signal.SIGSTOP)
    undo = asyncio.create_task(bench.engine.learn_outcome("1a2b3c", EditOutcome.UNDONE, ""))
    async with asyncio.timeout(60):
        while not list(worker.folder.glob("undone*l")):
            await asyncio.sleep(0.01)
    undo.cancel()
    os.kill(pid, signal.SIGKILL)
    assert b"text.upper" in bytes_of(bench)

    async with Bench(scripted) as window:
        assert not await shown_next(window, scripted, project)
        await window.engine.memory.settle()
        assert await rows(window) == []
        assert b"text.upper" not in bytes_of(window)


async def test_a_solution_kept_from_another_edit_too_is_not_removed(
    bench: Bench, scripted: ScriptedModel, tested: Path
) -> None:
    first, second = [await proven(bench, scripted, tested, executed=False) for _ in range(2)]
    for answer in (first, second):
        await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, ONES)
    assert [row["from"] for row in await rows(bench)] == ["from `loud.py`, kept 2 times"]
    await bench.engine.learn_outcome(second.metadata.trace, EditOutcome.UNDONE, "")
    (row,) = await rows(bench)

    assert (row["outcome"], row["from"]) == ("kept", "from `loud.py`, kept 1 time")
    assert await shown_next(bench, scripted, tested)
    await bench.engine.learn_outcome(first.metadata.trace, EditOutcome.UNDONE, "")
    assert await rows(bench) == []


async def test_an_imported_solution_stays_after_an_undo_but_is_not_proven(
    bench: Bench, scripted: ScriptedModel, tested: Path
) -> None:
    scope = scope_of(tested.resolve())
    imported = Solution(LOUD, ONES, "python", outcome="proven", scope=scope, evidence=("tests: pass, 3 tests pass",))
    await bench.engine.memory.memory.ask("import", solutions=[imported.to_json()])
    assert [row["from"] for row in await rows(bench)] == ["from the memory, imported"], "a file proves nothing"
    answer = await proven(bench, scripted, tested)
    assert [row["outcome"] for row in await rows(bench)] == ["proven"]
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.UNDONE, "")

    assert [(row["outcome"], row["evidence"]) for row in await rows(bench)] == [("imported", [])]


async def test_a_solution_changed_by_the_user_is_replaced(bench: Bench, scripted: ScriptedModel, tested: Path) -> None:
    answer = await proven(bench, scripted, tested)
    changed = ONES.replace("text.upper()", "str(text).swapcase()")
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.EDITED, changed)

    assert [(row["outcome"], row["code"]) for row in await rows(bench)] == [("edited", changed)]
    assert b"text.upper" not in bytes_of(bench)


async def test_tests_that_did_not_execute_the_change_prove_nothing(
    bench: Bench, scripted: ScriptedModel, tested: Path
) -> None:
    answer = await proven(bench, scripted, tested)
    request = Request("generate", "python", Source(ONES), path=tested / "loud.py", instruction=LOUD)
    taught = []
    for change in ({}, {"count": 0}, {"trusted": False}, {"verdict": Ruling.UNKNOWN}):
        changed: dict[str, Any] = change
        evidence = [replace(each, **changed) if each.check is Check.TESTS else each for each in answer.evidence]
        taught.append(solution_from_edit(request, replace(answer, evidence=tuple(evidence)), "workspace"))

    assert [each.outcome if each else None for each in taught] == ["proven", "kept", "kept", "kept"]
