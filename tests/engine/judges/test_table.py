"""The table of checks: each row has its judge, each judge its row, and each action the judges that it needs."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

from stet_ls import engine
from stet_ls.engine.actions import debug, generate, optimize, refactor
from stet_ls.engine.actions import test as write_tests
from stet_ls.engine.api.evidence import CHECKS, Check, CheckSpec, JudgedEdits
from stet_ls.engine.judges.case import NamedJudge
from stet_ls.engine.judges.table import judge_of, judges_for

ROOT = Path(engine.__file__).parent
FOLDER = ROOT / "judges"
JUDGED = [check for check, row in CHECKS.items() if row.judged_edits is not JudgedEdits.INTERNAL]


def test_every_judge_is_in_the_table() -> None:
    files = {path for path in FOLDER.rglob("*.py") if "\nasync def judge(" in path.read_text(encoding="utf-8")}
    assert {Path(inspect.getfile(judge_of(check).judge)) for check in JUDGED} == files


@pytest.mark.parametrize("check", [check for check in Check if check not in JUDGED])
def test_what_an_action_makes_itself_has_no_judge(check: Check) -> None:
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        judge_of(check)


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(CheckSpec)])
def test_every_field_of_a_row_is_read_somewhere(field: str) -> None:
    server = ROOT.parent / "server"
    texts = (path.read_text(encoding="utf-8") for folder in (ROOT, server) for path in folder.rglob("*.py"))
    assert any(re.search(rf"\.{field}\b", text) for text in texts)


STATIC = "noop syntax danger definitions names"


@pytest.mark.parametrize(
    ("judges", "names"),
    [
        (judges_for(*generate.ACTION.spec.judged_as), f"{STATIC} lint types doctest tests"),
        (judges_for(*write_tests.ACTION.spec.judged_as), f"{STATIC} lint types"),
        (judges_for(*debug.ACTION.spec.judged_as), f"{STATIC} signature lint types doctest tests"),
        (judges_for(*refactor.ACTION.spec.judged_as), f"{STATIC} signature lint types doctest tests differential"),
        (
            judges_for(*optimize.ACTION.spec.judged_as),
            f"{STATIC} signature lint types doctest tests differential timing",
        ),
    ],
)
def test_an_action_has_the_judges_that_it_needs(judges: tuple[NamedJudge, ...], names: str) -> None:
    assert [judge.check.value for judge in judges] == names.split()
