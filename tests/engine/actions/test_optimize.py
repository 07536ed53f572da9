"""Optimize and refactor promise the same behavior, and a gain: both are measured, or reported as not measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.engine import Bench, code_reply, said
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

HEAD = "def common(a: list[int], b: list[int]) -> list[int]:\n"
SLOW = HEAD + "    return [x for x in a if x in b]\n"
FAST = HEAD + "    known = set(b)\n    return [x for x in a if x in known]\n"
SAME = HEAD + "    return [each for each in a if each in b]\n"
WRONG = HEAD + "    return sorted(set(a) & set(b))\n"

NESTED = """\
def grade(points):
    if points is None:
        return "none"
    else:
        if points >= 90:
            return "A"
        else:
            if points >= 80:
                return "B"
            else:
                if points >= 70:
                    return "C"
                else:
                    return "D"
"""
FLAT = """\
def grade(points):
    if points is None:
        return "none"
    steps = ((90, "A"), (80, "B"), (70, "C"))
    return next((letter for least, letter in steps if points >= least), "D")
"""
RENAMED = NESTED.replace("is None", "== None")


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


async def answer_to(scripted: ScriptedModel, action: str, text: str, *replies: str, **fields: object) -> Answer:
    language = str(fields.get("language", "python"))
    scripted.replies([code_reply(each, language) for each in replies])
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1),))) as bench:
        answer = await bench.run(action, re.sub("(?m)^(?=def|function)", "$0", text, count=1), **fields)
    if any("code may not run" in item.detail for item in answer.evidence):
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


async def test_a_speedup_is_offered_with_its_interval(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, "optimize", SLOW, FAST)
    reported = said(answer, Check.TIMING)
    assert answer.success, answer.message
    assert (reported.verdict, reported.trusted) == (Ruling.PASS, True)
    assert reported.count > 0
    assert f" · {reported.detail}" in answer.message
    assert "same behavior on" in answer.message


async def test_the_model_is_shown_which_line_takes_the_most_time(scripted: ScriptedModel) -> None:
    await answer_to(scripted, "optimize", SLOW.replace("return", "found =") + "    return found\n", FAST)
    assert re.search(r"this line takes \d+ % of the time", scripted.requests[0].prompt)


async def test_an_edit_without_a_speedup_is_refused_with_its_measurement(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, "optimize", SLOW, *[SAME] * 3)
    reported = said(answer, Check.TIMING)
    assert (answer.success, answer.edits) == (False, ())
    assert reported.verdict is Ruling.FAIL
    assert "x (" in reported.detail
    assert f" on {reported.count} input" in reported.detail
    assert answer.message == f"Optimize: no edit, {reported.detail}."
    assert answer.code.strip() == SAME.strip(), "who wants it all the same finds it there"
    assert reported.detail in scripted.requests[1].prompt, "the number is what a second try is asked with"


async def test_code_that_cannot_run_is_not_offered_as_faster(scripted: ScriptedModel) -> None:
    needs = "import display_that_is_nowhere\n\n\n"
    answer = await answer_to(scripted, "optimize", needs + SLOW, FAST)
    assert (answer.success, answer.edits) == (False, ())
    assert "Optimize: no edit, cannot measure the gain:" in answer.message
    assert "display_that_is_nowhere" in answer.message


@pytest.mark.parametrize(
    ("language", "old", "new", "fields", "why"),
    [
        (
            "javascript",
            "function twice(xs) {\n  return xs.map((x) => x * 2);\n}\n",
            "function twice(xs) {\n  const found = [];\n  for (const x of xs) found.push(x * 2);\n  return found;\n}\n",
            {},
            "speed measurement does not support javascript yet",
        ),
        ("python", SLOW, FAST, {"budget": Budget.QUICK}, "the budget `quick` measures no speed"),
    ],
    ids=["another language", "quick"],
)
async def test_an_edit_that_cannot_be_measured_needs_confirmation(
    scripted: ScriptedModel, language: str, old: str, new: str, fields: dict[str, Budget], why: str
) -> None:
    answer = await answer_to(scripted, "optimize", old, new, language=language, **fields)
    reported = said(answer, Check.TIMING)
    assert answer.success, answer.message
    # Trusted and unknown is what an editor asks about before it applies.
    assert (reported.verdict, reported.trusted, reported.detail) == (Ruling.UNKNOWN, True, f"not measured: {why}")
    assert f"timing unknown: not measured: {why}" in answer.message


@pytest.mark.parametrize("action", ["refactor", "optimize"])
async def test_different_behavior_is_reported_first(scripted: ScriptedModel, action: str) -> None:
    answer = await answer_to(scripted, action, SLOW, *[WRONG] * 3)
    reported = said(answer, Check.DIFFERENTIAL)
    assert reported.verdict is Ruling.FAIL
    assert "was: " in reported.detail
    assert reported.detail in answer.message
    assert answer.refuted
    assert answer.confidence == 0.1
    if answer.success:
        assert answer.message.startswith("NOT EQUIVALENT · ")


@pytest.mark.parametrize("action", ["refactor", "optimize"])
def test_the_command_line_does_not_write_an_edit_that_behaves_differently(
    environment: Mapping[str, str], scripted: ScriptedModel, tmp_path: Path, action: str
) -> None:
    stet = Stet(tmp_path, environment)
    file = tmp_path / "sets.py"
    file.write_text(SLOW)
    scripted.replies([code_reply(WRONG)] * 3)

    ran = stet("run", action, "sets.py:1", "--apply")

    assert ran.status == 1, ran.err
    assert ran.out.startswith("--- "), "what is not written can be read"
    assert "nothing was written: a check refuted the edit" in ran.err
    assert "common(" in ran.err
    assert "was: " in ran.err
    assert file.read_text() == SLOW


async def test_improvements_of_a_refactoring_are_counted(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, "refactor", NESTED, FLAT)
    assert answer.success, answer.message
    assert "complexity 5 → 2, cognitive 14 → 1, nesting 4 → 1, 14 → 5 lines" in answer.message


async def test_a_refactoring_without_improvement_is_reported_unless_the_instruction_differs(
    scripted: ScriptedModel,
) -> None:
    answer = await answer_to(scripted, "refactor", NESTED, RENAMED)
    asked = await answer_to(scripted, "refactor", NESTED, RENAMED, instruction="compare with ==")
    assert "no metric improved (complexity 5, 14 lines)" in answer.message
    assert "improved" not in asked.message


async def test_code_moved_into_a_helper_still_counts(scripted: ScriptedModel) -> None:
    helper = NESTED.replace("def grade", "def _grade") + "\n\ndef grade(points):\n    return _grade(points)\n"
    answer = await answer_to(scripted, "refactor", NESTED, helper)
    assert "no metric improved (14 → 16 lines)" in answer.message
