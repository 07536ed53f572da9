"""What fits exactly, and whose tests pass here and now, is the answer: no model is called."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.processes.busy import too_busy_for
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.memory.request_scope import scope_for
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.trace.record import read
from stet_ls.validators.source import Source

STUB = 'def double(n):\n    """Twice a number.\n\n    >>> double(2)\n    4\n    """\n    $0...\n'
INSTRUCTION = "give back the number times two"
GOOD = 'def double(n):\n    """Twice a number.\n\n    >>> double(2)\n    4\n    """\n    return n * 2'
OTHER = GOOD.replace("n * 2", "n + n")
TESTS = "from doubling import double\n\n\ndef test_three():\n    assert double(3) == 6\n"


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path, long_time_limits: None) -> AsyncIterator[Bench]:
    once = Settings(models=(ModelRow(name="*", samples=1),))  # the calls are counted
    async with Bench(scripted, once) as bench:
        yield bench


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def solution(project: Path, code: str = GOOD, **fields: str) -> Solution:
    request = Request("generate", "python", Source(""), path=project / "x.py", workspace=Workspace((project,)))
    about = {"outcome": "kept", "scope": scope_for(request), "signature": "def double(n)", "unit": "double"}
    return Solution(INSTRUCTION, code, "python", **{**about, **fields})  # type: ignore[arg-type]


async def ask(bench: Bench, project: Path, *, marked: str = STUB, **fields: object) -> Answer:
    path = project / "doubling.py"
    path.write_text(marked.replace("$0", ""))
    asked = {"instruction": INSTRUCTION, "path": path, "workspace": Workspace((project,)), **fields}
    return await bench.run("generate", marked, **asked)


async def test_a_solution_kept_twice_answers_without_a_model(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    scripted.reply(code_reply(GOOD))
    first = await ask(bench, project)
    await bench.engine.learn_outcome(first.metadata.trace, EditOutcome.KEPT, GOOD)
    calls = len(scripted.requests)
    answer = await ask(bench, project)

    assert (answer.success, answer.metadata.calls, len(scripted.requests)) == (True, 0, calls), answer.message
    assert answer.message.startswith("Generated `double` · from memory, kept 1 time, its tests pass · ")
    assert "return n * 2" in answer.edits[0].new_text
    assert answer.metadata.memory_hits == 1
    await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.KEPT, GOOD)
    again = await ask(bench, project)
    assert "from memory, kept 3 times" in again.message, "the edit stood, and what it was made of won"
    await bench.engine.close()
    records = [read(file) for file in sorted(user_paths().traces.glob("*.json"))]
    assert sorted(each.whole for each in records) == [False, False, True], "without its reply no replay answers alike"


async def test_a_solution_whose_tests_fail_now_is_not_offered(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    await bench.engine.memory.memory.ask("put", solution=solution(project, GOOD.replace("* 2", "* 3")).to_json())
    scripted.reply(code_reply(OTHER))
    answer = await ask(bench, project)

    assert answer.metadata.calls == 1
    assert "from memory" not in answer.message
    assert "n + n" in answer.edits[0].new_text


WITH_OTHERS = "import doubling\n\n\ndef test_three():\n    assert doubling.double\n"


@pytest.mark.parametrize(
    ("tests", "answers"),
    [(TESTS, True), (TESTS.replace("6", "7"), False), ("", False), (WITH_OTHERS, False)],
    ids=["they pass", "they fail", "none", "they pass without running it"],
)
async def test_a_solution_is_checked_with_its_remembered_tests(
    bench: Bench, scripted: ScriptedModel, project: Path, tests: str, answers: bool
) -> None:
    bare = "def double(n):\n    return n * 2"
    await bench.engine.memory.memory.ask("put", solution=solution(project, bare, tests=tests).to_json())
    scripted.reply(code_reply("def double(n):\n    return n + n"))
    answer = await ask(bench, project, marked="def double(n):\n    $0...\n")

    assert (answer.metadata.calls == 0) is answers, answer.message
    assert ("its own 1 test passes" in [item.detail for item in answer.evidence]) is answers
    neighbor = "Remembered solution not proven: its own 1 test passes, but it does not execute `double`."
    assert (neighbor in answer.warnings) is (tests is WITH_OTHERS), answer.warnings


async def test_tests_without_processor_time_prove_nothing(
    bench: Bench, scripted: ScriptedModel, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the examples of the docstring pass: a model is asked, and why is said."""
    too_busy_for(monkeypatch, lambda spec: TESTS.encode() in spec.files.values())
    await bench.engine.memory.memory.ask("put", solution=solution(project, tests=TESTS).to_json())
    scripted.reply(code_reply(OTHER))
    answer = await ask(bench, project)

    assert (answer.success, answer.metadata.calls) == (True, 1), answer.message
    assert "n + n" in answer.edits[0].new_text
    said = "Remembered solution not proven: its own tests did not finish in time."
    assert said in answer.warnings


@pytest.mark.parametrize(
    "fields",
    [
        {"instruction": "give back the number times two, rounded"},
        {"constraints": ("no multiplication",)},
        {"budget": Budget.QUICK},
        {"marked": STUB.replace("double(n)", "double(n, m=2)")},
    ],
    ids=["other words", "a constraint", "nothing is run", "another signature"],
)
async def test_a_solution_that_does_not_match_exactly_calls_the_model(
    bench: Bench, scripted: ScriptedModel, project: Path, fields: dict[str, object]
) -> None:
    await bench.engine.memory.memory.ask("put", solution=solution(project).to_json())
    scripted.reply(code_reply(OTHER))
    answer = await ask(bench, project, **fields)

    assert answer.metadata.calls >= 1


async def test_an_imported_or_undone_solution_does_not_answer_without_a_model(
    bench: Bench, scripted: ScriptedModel, project: Path
) -> None:
    for row in (solution(project, outcome="imported"), replace(solution(project, OTHER), losses=1)):
        await bench.engine.memory.memory.ask("put", solution=row.to_json())
        scripted.reply(code_reply(OTHER))
        assert (await ask(bench, project)).metadata.calls == 1
        await bench.engine.memory.memory.ask("clear", scope=None)
