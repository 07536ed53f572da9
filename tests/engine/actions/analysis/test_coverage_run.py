"""Coverage that is run: the tests that use a file, in the sandbox, and which parts of it they reach."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from support.engine import Bench
from support.processes.tools import needs
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Checks, Settings

PRICES = """\
def price(amount, member):
    if member:
        return amount * 0.9
    return amount


def parse(text):
    if not text:
        raise ValueError("empty")
    return float(text)
"""
TESTS = "from prices import price\n\n\ndef test_price():\n    assert price(10, False) == 10\n"
ASKED = Settings(checks=Checks(coverage=True))


async def analyzed(
    scripted: ScriptedModel, path: Path, text: str, root: Path, settings: Settings = ASKED, **fields: Any
) -> Answer:
    scripted.default = "No problem found."
    async with Bench(scripted, settings) as bench:
        return await bench.run(
            "analyze", text, path=path, workspace=Workspace((root,)), budget=Budget.STANDARD, **fields
        )


def uncovered(answer: Answer) -> list[str]:
    return [each.message for each in answer.findings if each.code == "uncovered"]


async def test_changed_lines_that_no_test_reaches_are_named(scripted: ScriptedModel, root: Path) -> None:
    path = root / "prices.py"
    path.write_text(PRICES.replace('        raise ValueError("empty")', "        return 0"))
    (root / "tests/test_prices.py").write_text(TESTS)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    path.write_text(PRICES)
    answer = await analyzed(scripted, path, PRICES, root)
    assert "| Test coverage | 50.0 % (4 of 8 statements, 1 of 2 branches) | 1 test run now, pytest |" in answer.markdown
    reported = answer.markdown.split("## Not covered by tests\n")[1].split("\n## ")[0]
    assert "Lines 3, 8-10." in reported
    assert "Of the lines that differ from the last commit: lines 9." in reported
    assert "- line 2: one branch is never taken, to line 3" in reported
    assert uncovered(answer) == ["no test reaches the changed line 9"]


async def test_selected_lines_are_named_and_nothing_runs_unless_asked(scripted: ScriptedModel, root: Path) -> None:
    path = root / "prices.py"
    path.write_text(PRICES)
    (root / "tests/test_prices.py").write_text(TESTS)
    marked = PRICES.replace("    if not text", "    i$0f not text")
    answer = await analyzed(scripted, path, marked, root)
    assert uncovered(answer) == ["no test reaches the selected lines 8-10"]
    silent = await analyzed(scripted, path, marked, root, Settings())
    assert not uncovered(silent)
    assert silent.isolation is None
    assert "Test coverage | not measured" in silent.markdown


@needs("node")
async def test_javascript_is_measured_by_node(scripted: ScriptedModel, root: Path) -> None:
    text = (
        "export function price(amount, member) {\n  if (member) {\n    return amount * 0.9;\n  }\n  return amount;\n}\n"
    )
    path = root / "prices.mjs"
    path.write_text(text)
    (root / "prices.test.mjs").write_text(
        'import test from "node:test";\nimport assert from "node:assert";\nimport { price } from "./prices.mjs";\n'
        'test("price", () => assert.equal(price(10, false), 10));\n'
    )
    answer = await analyzed(scripted, path, text.replace("price(", "pr$0ice(", 1), root, language="javascript")
    assert "66.7 % (4 of 6 statements, 2 of 3 branches) | 1 test run now, node" in answer.markdown
    assert "- line 2: one branch is never taken" in answer.markdown
    assert uncovered(answer) == ["no test reaches the selected lines 3-4"]


async def test_without_tests_it_says_why(scripted: ScriptedModel, root: Path) -> None:
    path = root / "prices.py"
    path.write_text(PRICES)
    answer = await analyzed(scripted, path, PRICES, root)
    assert "| Test coverage | not measured | no project test uses prices.py" in answer.markdown


async def test_the_budget_quick_runs_nothing(scripted: ScriptedModel, root: Path) -> None:
    path = root / "prices.py"
    path.write_text(PRICES)
    (root / "tests/test_prices.py").write_text(TESTS)
    async with Bench(scripted, ASKED) as bench:
        answer = await bench.run("analyze", PRICES, path=path, workspace=Workspace((root,)), budget=Budget.QUICK)
    assert "not measured | no code ran" in answer.markdown
