"""The memory in the life of jobs: kept edits are in the next prompt, rejected ones are not, and no job waits for it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, code_reply, request_for
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.memory import job_memory
from stet_ls.engine.memory.learned_solution import solution_from_edit
from stet_ls.engine.memory.solution import Solution, scope_of
from stet_ls.engine.settings.schema import MemorySettings, Settings
from stet_ls.validators.source import Source

CODE = "def parse_date(text):\n    return datetime.date.fromisoformat(text)"
BEFORE = "import datetime\n\n\n$0\n"
WISH = "Parse an ISO date from a string"
AGAIN = "read a date in ISO form from a string of text"


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path, unhurried: None) -> AsyncIterator[Bench]:
    async with Bench(scripted) as bench:
        yield bench


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return tmp_path / "project"


async def generate(bench: Bench, project: Path, wish: str, name: str = "src/dates.py", code: str = CODE) -> Answer:
    """The answer to a wish in a file of the project; nothing is run for it."""
    where = {"path": project / name, "workspace": Workspace((project,)), "budget": Budget.QUICK}
    return await bench.run("generate", BEFORE, instruction=wish, **where)


async def learn(bench: Bench, scripted: ScriptedModel, project: Path, outcome: EditOutcome, text: str = "") -> Answer:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, WISH)
    assert answer.success, answer.message
    await bench.engine.learn_outcome(answer.metadata.trace, outcome, text or f"import datetime\n\n\n{CODE}\n")
    return answer


def prompt_of(scripted: ScriptedModel) -> str:
    return scripted.requests[-1].prompt


async def test_a_rephrased_request_in_another_window_gets_the_kept_solution(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    (project / "src" / "dates.py").write_text(f"import datetime\n\n\n{CODE}\n")

    async with Bench(scripted) as window:
        await window.engine.memory.memory.ask("stats")
        scripted.reply(code_reply("def other():\n    return 1"))
        answer = await generate(window, project, AGAIN, "src/other.py")

    assert "from `src/dates.py`, kept 1 time:" in prompt_of(scripted)
    assert CODE in prompt_of(scripted)
    assert answer.metadata.memory_hits == 1
    assert answer.message.endswith("· remembered: from `src/dates.py`, kept 1 time")


async def test_a_source_that_changed_is_marked(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    (project / "src" / "dates.py").write_text("def something_else():\n    pass\n")
    scripted.reply(code_reply("def other():\n    return 1"))
    answer = await generate(bench, project, AGAIN, "src/other.py")

    assert "(changed since)" in answer.message


async def test_another_project_does_not_see_the_solution(
    bench: Bench, scripted: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    scripted.reply(code_reply("def other():\n    return 1"))
    other = tmp_path / "other"
    other.mkdir()
    answer = await generate(bench, other, AGAIN, "a.py")

    assert answer.metadata.memory_hits == 0
    assert CODE not in prompt_of(scripted)


FELL = [EditOutcome.UNDONE, EditOutcome.REJECTED]


@pytest.mark.parametrize("outcome", FELL)
async def test_an_edit_that_was_not_kept_is_not_remembered(
    bench: Bench, scripted: ScriptedModel, project: Path, outcome: EditOutcome
) -> None:
    await learn(bench, scripted, project, outcome)

    assert (await bench.engine.memory.stats())["solutions"] == 0


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


async def test_the_text_as_changed_by_the_user_is_learned(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    edited = "def parse_date(text):\n    return datetime.date.fromisoformat(text.strip())"
    await learn(bench, scripted, project, EditOutcome.EDITED, f"import datetime\n\n\n{edited}\n\n\nx = 1\n")
    (row,) = await bench.engine.memory.search(WISH, languages=None, limit=3)

    assert (row["code"], row["outcome"]) == (edited, "edited")


async def test_rows_used_in_an_undone_edit_lose_and_leave_the_prompts(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    for number in range(2):
        scripted.reply(code_reply(f"def other{number}():\n    return 1"))
        answer = await generate(bench, project, AGAIN, f"src/o{number}.py")
        assert answer.metadata.memory_hits == (1 if number == 0 else 0)
        await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.UNDONE, "")
    (row,) = await bench.engine.memory.search(WISH, languages=None, limit=3)

    assert (row["uses"], row["losses"]) == (1, 1)


async def test_a_secret_of_the_project_is_not_remembered(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    (project / ".env").write_text("SHOP_PASSWORD=correct-horse-battery-9\n")
    scripted.reply(code_reply('def connect():\n    return login("correct-horse-battery-9")'))
    answer = await generate(bench, project, "connect to the shop with its password")
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, "")

    assert (await bench.engine.memory.stats())["solutions"] == 0


async def test_a_disabled_memory_starts_and_learns_nothing(
    scripted: ScriptedModel, stet_home: Path, project: Path
) -> None:
    async with Bench(scripted, Settings(memory=MemorySettings(enabled=False))) as bench:
        await learn(bench, scripted, project, EditOutcome.KEPT)
        answer_state = bench.engine.memory.health()

    assert answer_state["status"] == "off"
    assert not (stet_home / "data" / "memory").exists()


async def test_a_memory_that_hangs_is_skipped_and_counted(
    bench: Bench, scripted: ScriptedModel, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    worker: Any = bench.engine.memory.memory
    pid = (await worker._worker.lease()).pid
    monkeypatch.setattr(job_memory, "BUDGET", 0.5)
    os.kill(pid, signal.SIGSTOP)
    try:
        scripted.reply(code_reply("def other():\n    return 1"))
        answer = await generate(bench, project, AGAIN, "src/other.py")
    finally:
        os.kill(pid, signal.SIGCONT)

    assert answer.success
    assert answer.metadata.memory_hits == 0
    assert bench.engine.memory.health()["skipped"] == 1


async def test_a_memory_process_that_died_is_skipped_and_restarted(
    bench: Bench, scripted: ScriptedModel, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await learn(bench, scripted, project, EditOutcome.KEPT)
    worker: Any = bench.engine.memory.memory
    os.kill((await worker._worker.lease()).pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        while worker.ready:
            await asyncio.sleep(0.01)
    scripted.reply(code_reply("def other():\n    return 1"))
    answer = await generate(bench, project, AGAIN, "src/other.py")
    assert answer.success

    assert len(await bench.engine.memory.search(WISH, languages=None, limit=3)) == 1


async def test_an_edit_without_an_instruction_or_unit_is_not_learned(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.reply(code_reply("x = 1\ny = 2"))
    answer = await bench.run("generate", "$0\n", instruction="two constants")
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, "")

    assert bench.engine.memory.health()["learned"] == 0


async def test_a_pending_edit_survives_a_change_of_settings(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, WISH)
    async with Bench(scripted, Settings(deadline=40)) as changed:
        changed.engine.memory.inherit(bench.engine.memory)
        await changed.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, f"import datetime\n\n\n{CODE}\n")

        assert (await changed.engine.memory.stats())["solutions"] == 1


EDITED = CODE.replace("(text):", "(text, *more):")


@pytest.mark.parametrize(
    ("left", "outcome", "code"),
    [
        (f"import datetime\n\n\n{CODE}\n", "kept", CODE),
        (f"import datetime\n\n\n{EDITED}\n", "edited", EDITED),
        ("import datetime\n\n\ndef parse_date(text):\n    pass\n", None, ""),
        ("import datetime\n", None, ""),
        (None, None, ""),
    ],
    ids=["still there", "edited", "undone", "gone", "no file"],
)
async def test_an_edit_written_by_a_command_is_learned_if_it_is_still_there_later(
    bench: Bench, scripted: ScriptedModel, project: Path, left: str | None, outcome: str | None, code: str
) -> None:
    scripted.reply(code_reply(CODE))
    before = "import datetime\n\n\ndef parse_date(text):\n    $0pass\n"
    path = project / "src" / "dates.py"
    answer = await bench.run(
        "generate", before, instruction=WISH, path=path, workspace=Workspace((project,)), budget=Budget.QUICK
    )
    await bench.engine.memory.applied(answer.metadata.trace)
    if left is not None:
        path.write_text(left)

    await bench.engine.memory.settle()
    assert (await bench.engine.memory.stats())["solutions"] == 0, "it did not stand for long enough yet"
    at_once = Settings(memory=MemorySettings(stands_seconds=0))
    async with Bench(scripted, at_once) as later:
        for _ in range(2):
            await later.engine.memory.settle()
        rows = await later.engine.memory.search(WISH, languages=None, limit=3)

    assert [(row["outcome"], row["code"], row["wins"]) for row in rows] == ([(outcome, code, 0)] if outcome else [])
    waiting = later.engine.memory.memory.folder / "awaited.jsonl"
    assert waiting.read_text() == ""


async def test_pending_edits_are_forgotten_too(bench: Bench, scripted: ScriptedModel, project: Path) -> None:
    scripted.reply(code_reply(CODE))
    answer = await generate(bench, project, WISH)
    await bench.engine.memory.applied(answer.metadata.trace)
    folder = bench.engine.memory.memory.folder
    assert b"fromisoformat" in (folder / "awaited.jsonl").read_bytes()
    await bench.engine.memory.memory.ask("clear", scope=None)

    assert not any(b"fromisoformat" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_server_process_imports_neither_the_table_nor_numpy() -> None:
    code = "import stet_ls.engine.run, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert not {"lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers"} & set(modules)
    assert job_memory.BUDGET == 0.150
