"""Debug reproduces first: failing tests, examples and what the user said are in the prompt, and judged after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, said
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.rewriting.prose_examples import documented_examples
from stet_ls.engine.actions.rewriting.stated_examples import examples_of_new_code, is_example, stated_examples
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Diagnostic, Workspace
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


SUM = "def total(a: int, b: int, n: int) -> int:\n    return a + b\n"


async def test_a_fix_that_behaves_as_before_is_refuted_and_repaired(scripted: ScriptedModel, root: Path) -> None:
    same, fixed = SUM.replace("a + b", "b + a"), SUM.replace("a + b", "a + b + n")
    answer = await debug(scripted, root, same, fixed, text=SUM, instruction="it forgets n")
    assert "effect: behaves as before on" in scripted.requests[1].prompt
    assert "a + b + n" in answer.code
    assert said(answer, Check.EFFECT).verdict is Ruling.PASS


async def test_a_fix_that_changes_only_comments_is_refuted(scripted: ScriptedModel, root: Path) -> None:
    scripted.default = reply(SUM.replace("    return", "    # n counts\n    return"))
    answer = await debug(scripted, root, text=SUM, instruction="it forgets n")
    assert said(answer, Check.EFFECT).verdict is Ruling.FAIL
    assert "effect FAILED: behaves as before: " in answer.message


async def test_what_a_tool_reported_may_be_fixed_without_another_behavior(scripted: ScriptedModel, root: Path) -> None:
    ruff = Diagnostic(Span(0, len(SUM)), "Unused argument `n`", source="ruff")
    answer = await debug(scripted, root, SUM.replace("a + b", "b + a"), text=SUM, diagnostics=(ruff,))
    assert not any(each.check is Check.EFFECT for each in answer.evidence)


async def test_examples_in_prose_are_symptoms(scripted: ScriptedModel, root: Path) -> None:
    text = 'def discount(price, rate):\n    """The price to pay: discount(100, 0.25) => 75.0"""\n'
    answer = await debug(scripted, root, f"{text}    return price * (1 - rate)\n",
                         text=f"{text}    return price * (1 + rate)\n")  # fmt: skip
    wrong = "`discount(100, 0.25) == 75.0` should return True, returns False"
    assert said(answer, Check.REPRODUCED).detail == wrong
    assert said(answer, Check.DOCTEST).trusted


async def test_a_doubtful_example_is_only_shown_to_the_model(scripted: ScriptedModel, root: Path) -> None:
    text = 'def names(price):\n    """Examples: names(1) => ("net")"""\n'
    answer = await debug(scripted, root, f'{text}    return ("net",)\n', text=f"{text}    return None\n")
    message = "should return 'net', returns None (if its description is read rightly)"
    assert message in scripted.requests[0].prompt
    assert said(answer, Check.DOCTEST).verdict is Ruling.SKIPPED
    assert answer.success


@pytest.mark.parametrize(
    ("words", "examples"),
    [
        ("f(2, 3) => 5", ">>> f(2, 3)\n5\n"),
        ("f(2, 3) ==> 5, as usual", ">>> f(2, 3)\n5\n"),
        ("`f(2, 3)` -> `5`", ">>> f(2, 3)\n5\n"),
        ("f(2, 3) ➞ true", ">>> f(2, 3)\nTrue\n"),
        ("f(2, 3)  # returns 'a'", ">>> f(2, 3)\n'a'\n"),
        ("f(2, 3) should return 5.", ">>> f(2, 3)\n5\n"),
        ("f(2,-3) = -1", ">>> f(2, -3)\n-1\n"),
        ("for f(2, 3) == {'a': 1}", ">>> f(2, 3) == {'a': 1}\nTrue\n"),
        ("f([1], 3) == [1] # the sum of 1 and 3", ">>> f([1], 3)\n[1]\n"),
        ("For a = [1], b = 'x' the output should be 3", ">>> f(a=[1], b='x')\n3\n"),
        ("Input: a = [1, 2], b = 4\nOutput: [4]", ">>> f(a=[1, 2], b=4)\n[4]\n"),
        ("| a | b | result |\n|---|---|---|\n| 1 | 2 | 3 |", ">>> f(1, 2)\n3\n"),
        ("| f(1, 2) | 3 |", ">>> f(1, 2)\n3\n"),
        ("f(2, 3) => None", ">>> f(2, 3) is None\nTrue\n"),
        ("f(2, 3) => 2 + 3", ""),
        ("f(2, 3) => 2.x", ""),
        ("f(2, x) => 5", ""),
        ("f(2, 3) => 5\nf(2, 3) => 6", ""),
        ("o.f(2, 3) => 5", ""),
        ("For c = 1 the output should be 3", ""),
        ("if a == 3 the result is 5", ""),
        (">>> f(2, 3)\n5\nf(2, 3) => 6", ""),
    ],
)
def test_examples_are_read_from_prose(words: str, examples: str) -> None:
    source = f'def f(a, b):\n    """{words}\n    """\n'.replace("\n| ", "\n    | ").replace("\n|-", "\n    |-")
    found = documented_examples(source, "f")
    assert "".join(each.text for each in found) == examples
    assert all(each.certain for each in found)


def test_examples_are_read_from_comments_and_words() -> None:
    source = "# f(1) => 2\ndef f(a):\n    # f(2) -> 4\n    return a\n"
    found = documented_examples(source, "f", "f(3) => 6, but f(4) returns 4")
    assert [(each.call, each.value, each.certain) for each in found] == [
        ("f(1)", "2", True), ("f(2)", "4", True), ("f(3)", "6", True), ("f(4)", "4", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("f(2) == 4", True),
        ("example: `f([1]) == [2]`", True),
        ("f(2) == g(2)", False),
        ("f(2)", False),
        ("f(2) == 4 fails", False),
    ],
)
def test_an_example_alone_is_recognized(text: str, alone: bool) -> None:
    assert is_example(text) is alone
    assert bool(stated_examples(text, "f")) is alone, "it states the expected value"


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
    assert stated_examples(text, "f", requested=True) == examples
    assert stated_examples("f(2) gives 5400", "f") == "", "of code that is there, this is only what it does"


def test_reading_a_hostile_sentence_takes_bounded_time() -> None:
    assert stated_examples("f(" * 3000 + "1 instead of 2", "f") == ""
    assert stated_examples("f(1) is " + "is " * 3000 + "instead of", "f") == ""


CLAMP = "clamp(x, low, high); clamp(7, 0, 5) == 5"


@pytest.mark.parametrize(("existing", "examples"), [("", ">>> clamp(7, 0, 5)\n5\n"), ("def clamp(x): ...", "")])
def test_examples_of_code_that_has_no_name_yet(existing: str, examples: str) -> None:
    assert examples_of_new_code(f"{CLAMP}, unlike max(1, 2) == 2", existing) == examples


async def test_an_example_in_a_comment_that_becomes_code_is_run(scripted: ScriptedModel, root: Path) -> None:
    new = "def clamp(x, low, high):\n    return max(low, min(x, high))\n"
    scripted.replies([reply(new.replace("max", "min")), reply(new)])
    async with Bench(scripted, ASKS) as bench:
        answer = await bench.run("generate", f"$0# stet: {CLAMP}\n", path=root / "a.py", workspace=Workspace((root,)))
    assert "`clamp(7, 0, 5)` should return 5, returns 0" in scripted.requests[1].prompt
    assert said(answer, Check.DOCTEST).detail == "1 doctest passes"
