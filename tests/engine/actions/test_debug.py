"""Debug reproduces first: failing tests, examples and what the user said are in the prompt, and judged after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench
from support.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.rewriting.stated_examples import stated_examples
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Budget, Diagnostic, Workspace
from stet_ls.engine.settings.schema import Checks, Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.validators.source import Span

BROKEN = "def discount(price, rate):\n    return price * (1 + rate)\n"
FIXED = "def discount(price, rate):\n    return price * (1 - rate)\n"
OTHER = "def discount(price, rate):\n    return price + rate * 0\n"
TEST = "from prices import discount\n\n\ndef test_discount():\n    assert discount(100, 0.25) == 75\n"


ASKS = Settings(models=(ModelRow(name="*", samples=1),), checks=Checks(search=False))
"""Settings with which the model is asked, though most of these bugs would be found without it."""


def reply(code: str) -> Reply:
    return Reply(f"PLAN: the sign\nCODE:\n```python\n{code}```\n")


async def debug(scripted: ScriptedModel, root: Path, *codes: str, text: str = BROKEN, **fields: object) -> Answer:
    scripted.replies([reply(code) for code in codes])
    path = root / "prices.py"
    path.write_text(text)
    async with Bench(scripted, ASKS) as bench:
        asked = {"path": path, "workspace": Workspace((root,)), **fields}
        return await bench.run("debug", text.replace("return", "$0return", 1), **asked)


def said(answer: Answer, check: Check) -> Evidence:
    return next(item for item in answer.evidence if item.check is check)


@pytest.fixture
def root(tmp_path: Path, stet_home: Path) -> Path:
    root = tmp_path / "shop"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


async def test_a_failing_test_is_in_the_prompt_and_passes_after_the_fix(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_prices.py").write_text(TEST)
    answer = await debug(scripted, root, FIXED)
    prompt = scripted.requests[0].prompt
    assert "test_discount fails: 125.0 == 75 is false" in prompt
    assert "assert discount(100, 0.25) == 75" in prompt, "the test itself is shown"
    assert said(answer, Check.TESTS).detail == "1 test passes, 1 of them failed before"
    assert not answer.warnings
    assert said(answer, Check.REPRODUCED).detail == "test_discount fails: 125.0 == 75 is false"
    assert "Fixed `discount` · reproduced: test_discount fails: 125.0 == 75 is false · " in answer.message


async def test_a_refusal_reports_the_reproduced_failure(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_prices.py").write_text(TEST + "\n\ndef test_free():\n    assert discount(0, 1) == 0\n")
    scripted.default = Reply("I see no bug.")
    answer = await debug(scripted, root, instruction="it takes too much")
    assert not answer.success
    assert said(answer, Check.REPRODUCED).verdict is Ruling.PASS


async def test_code_that_cannot_be_loaded_is_reproduced_by_its_tests(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_prices.py").write_text(TEST)
    answer = await debug(scripted, root, FIXED, text=f"RATES = {{}}['none']\n\n\n{BROKEN}")
    detail = "tests/test_prices.py fails: KeyError: 'none'"
    assert (said(answer, Check.REPRODUCED).verdict, said(answer, Check.REPRODUCED).detail) == (Ruling.PASS, detail)


async def test_a_fix_that_still_fails_is_repaired(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_prices.py").write_text(TEST)
    answer = await debug(scripted, root, OTHER, FIXED)
    assert "test_discount fails: 100.0 == 75 is false (as before)" in scripted.requests[1].prompt
    assert said(answer, Check.TESTS).verdict is Ruling.PASS


async def test_an_example_in_the_instruction_is_run(scripted: ScriptedModel, root: Path) -> None:
    words = "discount(200, 0.5) returns 300.0 instead of 100.0"
    answer = await debug(scripted, root, OTHER, FIXED, instruction=words)
    assert "`discount(200, 0.5) == 100.0` should return True, returns False" in scripted.requests[0].prompt
    assert len(scripted.requests) == 2, "the first reply does not do what the user said"
    assert said(answer, Check.DOCTEST).verdict is Ruling.PASS
    assert said(answer, Check.DOCTEST).trusted


async def test_a_diagnostic_reproduces_the_bug_without_a_run(scripted: ScriptedModel, root: Path) -> None:
    ruff = Diagnostic(Span(0, len(BROKEN)), "Undefined name `rat`\n(see F821)", source="ruff")
    answer = await debug(scripted, root, FIXED, text=BROKEN.replace("+ rate", "+ rat"), diagnostics=(ruff,))
    assert said(answer, Check.REPRODUCED).verdict is Ruling.PASS
    assert "reproduced: ruff says: Undefined name `rat` · " in answer.message
    assert not any("not reproduced" in warning for warning in answer.warnings)


async def test_a_bug_that_cannot_be_reproduced_is_reported(scripted: ScriptedModel, root: Path) -> None:
    answer = await debug(scripted, root, FIXED)
    assert any("not reproduced" in warning for warning in answer.warnings)
    assert "not reproduced: no executed test or example fails" in answer.message
    assert said(answer, Check.REPRODUCED).verdict is Ruling.UNKNOWN


async def test_examples_in_a_whole_file_reproduce_its_bug(scripted: ScriptedModel, root: Path) -> None:
    example = '    """\n    >>> discount(100, 0.25)\n    75.0\n    """\n'
    head = f"def discount(price, rate):\n{example}    return price * "
    scripted.replies([reply(f"{head}(1 - rate)\n")])
    async with Bench(scripted, ASKS) as bench:
        answer = await bench.run("debug", f"{head}(1 + rate)\n", path=root / "prices.py", workspace=Workspace((root,)))
    detail = "`discount(100, 0.25)` should return 75.0, returns 125.0"
    assert (said(answer, Check.REPRODUCED).verdict, said(answer, Check.REPRODUCED).detail) == (Ruling.PASS, detail)
    assert not any("not reproduced" in warning for warning in answer.warnings)


async def test_code_without_a_bug_is_reported(scripted: ScriptedModel, root: Path) -> None:
    words = "discount(200, 0.5) returns 300.0 instead of 100.0"
    answer = await debug(scripted, root, FIXED.replace("1 -", "1.0 -"), text=FIXED, instruction=words)
    assert any("already behaves as the instruction says" in warning for warning in answer.warnings)


async def test_the_budget_quick_runs_no_tests(scripted: ScriptedModel, root: Path) -> None:
    (root / "tests/test_prices.py").write_text(TEST)
    answer = await debug(scripted, root, FIXED, budget=Budget.QUICK, instruction="wrong sign")
    assert "test_discount" not in scripted.requests[0].prompt
    assert said(answer, Check.TESTS).detail == "not run: project tests need the budget `standard` or larger"
    assert "not reproduced: the budget `quick` runs no code" in answer.message


@pytest.mark.parametrize(
    ("text", "examples"),
    [
        ("f(2) returns 3 instead of 4", ">>> f(2)\n4\n"),
        ("f(2) should be 4.", ">>> f(2)\n4\n"),
        ("`f('a b', [1, 2])` gives `None`, expected `['a']`", ">>> f('a b', [1, 2])\n['a']\n"),
        ("f(2) is 3 but should return 4, and f(3) == 9 instead of 6", ">>> f(2)\n4\n>>> f(3)\n6\n"),
        ("I get f(1) -> 0.1 rather than 0.5", ">>> f(1) == 0.5\nTrue\n"),
        ("f({'a': 1}) returned 1, should be {'a': 2}", ">>> f({'a': 1}) == {'a': 2}\nTrue\n"),
        ("f() returns 1 instead of None", ">>> f() is None\nTrue\n"),
        (">>> f(2)\n4\nthis fails", ">>> f(2)\n4\n"),
        ("f(2) raises TypeError, expected -1", ">>> f(2)\n-1\n"),
        ("obj.f(2) should be 4", ""),
        ("f(2) is wrong", ""),
        ("f(x) returns garbage instead of the sum", ""),
        ("f(2 returns 3 instead of 4", ""),
        ("elf(2) should be 3", ""),
    ],
)
def test_expectations_are_read_from_a_statement(text: str, examples: str) -> None:
    assert stated_examples(text, "f") == examples


@pytest.mark.parametrize(
    ("text", "examples"),
    [
        ("f('1h30m') gives 5400", ">>> f('1h30m')\n5400\n"),
        ("so that f(2) == 4 and f(3) -> 9", ">>> f(2)\n4\n>>> f(3)\n9\n"),
        ("f(2) should be 4", ">>> f(2)\n4\n"),
        ("f(2) gives an error", ""),
    ],
)
def test_expectations_are_read_from_a_request(text: str, examples: str) -> None:
    assert stated_examples(text, "f", wished=True) == examples
    assert stated_examples("f(2) gives 5400", "f") == "", "of code that is there, this is only what it does"


def test_reading_a_hostile_sentence_takes_bounded_time() -> None:
    assert stated_examples("f(" * 3000 + "1 instead of 2", "f") == ""
    assert stated_examples("f(1) is " + "is " * 3000 + "instead of", "f") == ""
