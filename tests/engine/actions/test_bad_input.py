"""Code that is hard to check: the evidence says which check was not possible and why, and the confidence what it costs.

A refactoring that renames a variable is right in all of these; how sure one can be of that is another matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.engine import Bench, code_reply, said
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

SURE = 0.9
"""The confidence where behavior was compared on enough inputs, or tests of the user's pass."""


@dataclass(frozen=True)
class Hard:
    """A text, its function and what is said of a candidate; see `changed`."""

    text: str
    check: Check
    verdict: Ruling
    says: str
    unit: str = "work"
    costs: bool = True
    files: dict[str, str] = field(default_factory=dict)


PURE = "def work(n: int) -> int:\n    held = n + 1\n    return held * 2\n"
UNTYPED = "def work(first, second):\n    held = first.merge(second)\n    return held.total()\n"
FAILS = """\
from a import work


def test_wrong():
    assert work(1) == 5


def test_right():
    assert work(1) == 4
"""
FLAKY = """\
import inspect
import os
from a import work


def test_luck():
    assert "held" in inspect.getsource(work) or os.environ["PYTHONHASHSEED"] != "0"
"""

CASES = {
    "cannot be imported on its own": Hard(
        "import company_internals\n\nCLIENT = company_internals.connect()\n\n\n"
        + PURE.replace("n + 1", "CLIENT.get(n)"),
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "`work` not compared: environment: company_internals is not installed here",
    ),
    "a database": Hard(
        "import sqlite3\n\n\ndef work(name: str) -> list:\n    held = sqlite3.connect('shop.db')\n"
        "    return held.execute('select * from items where name = ?', (name,)).fetchall()\n",
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "`work` not compared: it opens a database",
    ),
    "a display": Hard(
        "import tkinter\n\n\ndef work(title: str) -> str:\n    held = tkinter.Tk()\n    held.title(title)\n"
        "    return held.title()\n",
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "raises TclError",
    ),
    "the network": Hard(
        "import urllib.request\n\n\ndef work(path: str) -> bytes:\n"
        "    held = urllib.request.urlopen('http://example.invalid/' + path)\n    return held.read()\n",
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "`work` not compared: it talks to the network",
    ),
    "no end": Hard(
        "def work(n: int) -> int:\n    held = n\n    while True:\n        held += 1\n",
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "`work` not compared: it does not finish in time",
    ),
    "prints without end": Hard(
        "def work(n: int) -> int:\n    held = 'x' * 1000\n    while True:\n        print(held)\n",
        Check.DIFFERENTIAL,
        Ruling.UNKNOWN,
        "`work` not compared: it does not finish in time",
    ),
    "prints a lot": Hard(
        "def work(n: int) -> int:\n    held = 'x' * 1000\n    print(f'{held}\\n' * 100)\n    return n\n",
        Check.DIFFERENTIAL,
        Ruling.PASS,
        "same behavior on",
        costs=False,
    ),
    "no seed": Hard(
        "import random\n\n\ndef work(n: int) -> float:\n    held = random.random()\n    return held * n\n",
        Check.DIFFERENTIAL,
        Ruling.PASS,
        "same behavior on",
        costs=False,
    ),
    "randomness of the system": Hard(
        "import os\n\n\ndef work(n: int) -> bytes:\n    held = os.urandom(8)\n    return held[: n % 8]\n",
        Check.DIFFERENTIAL,
        Ruling.PASS,
        "same behavior on",
        costs=False,
    ),
    "mutates globals": Hard(
        "SEEN: list[int] = []\n\n\n"
        "def work(n: int) -> int:\n    held = len(SEEN)\n    SEEN.append(n)\n    return held\n",
        Check.DIFFERENTIAL,
        Ruling.PASS,
        "same behavior on",
        costs=False,
    ),
    "tests that fail already": Hard(
        PURE, Check.TESTS, Ruling.PASS, "1 test passes; 1 fail as before", costs=False, files={"test_a.py": FAILS}
    ),
    "flaky tests": Hard(
        PURE,
        Check.TESTS,
        Ruling.UNKNOWN,
        "1 test had varying results: test_luck",
        costs=False,
        files={"test_a.py": FLAKY},
    ),
    "no test runner": Hard(PURE, Check.TESTS, Ruling.SKIPPED, "no project test uses `work`", costs=False),
}


def changed(unit: str) -> str:
    """The function with a name of its own changed, and a line more, so that it is more than another form."""
    header, rest = unit.split(":\n", 1)
    return f"{header}:\n    assert sorted(()) == []\n{rest.replace('held', 'kept')}"


async def refactored(scripted: ScriptedModel, root: Path, hard: Hard) -> Answer:
    for name, text in {**hard.files, "a.py": hard.text}.items():
        (root / name).write_text(text)
    unit = hard.text[hard.text.index(f"def {hard.unit}") :]
    scripted.replies([code_reply(changed(unit))] * 3)
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1, repairs=0),))) as bench:
        answer = await bench.run(
            "refactor",
            hard.text.replace(f"def {hard.unit}", f"$0def {hard.unit}"),
            path=root / "a.py",
            workspace=Workspace((root,)),
        )
    if any("code may not run" in item.detail for item in answer.evidence):
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


@pytest.mark.parametrize("hard", [pytest.param(hard, id=name) for name, hard in CASES.items()])
async def test_a_check_that_could_not_run_is_reported_with_its_effect_on_confidence(
    scripted: ScriptedModel, stet_home: Path, tmp_path: Path, hard: Hard
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    answer = await refactored(scripted, root, hard)
    reported = said(answer, hard.check)
    assert answer.success, answer.message
    assert reported.verdict is hard.verdict, reported
    assert hard.says in reported.detail
    if reported.verdict is Ruling.UNKNOWN:
        assert f"{reported.check} unknown: {reported.detail}" in answer.message
    if hard.costs:
        assert answer.confidence < SURE
        assert answer.metadata.reasons == ("syntax ok (ruff)", "names resolve", "not executed")
    else:
        assert answer.confidence == SURE


async def test_code_without_types_is_compared_with_stand_ins_and_is_less_certain(
    scripted: ScriptedModel, stet_home: Path, tmp_path: Path
) -> None:
    """What `merge` and `total` return is made up, so fewer inputs count than of a function of numbers."""
    hard = Hard(UNTYPED, Check.DIFFERENTIAL, Ruling.PASS, "with stand-ins for the objects passed in")
    answer = await refactored(scripted, tmp_path, hard)
    compared = said(answer, hard.check)
    assert compared.verdict is hard.verdict
    assert hard.says in compared.detail
    assert 0.5 < answer.confidence < SURE
