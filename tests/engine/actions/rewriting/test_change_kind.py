"""The kinds of bugs and of refactorings, by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.rewriting.change_kind import bug_kind, refactoring_kind
from stet_ls.engine.actions.rewriting.rewrite import _WARNS
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Diagnostic
from stet_ls.engine.judges.case import Case
from stet_ls.validators.source import Source, Span


def case(before: str, after: str) -> Case:
    return Case("debug", "python", None, Source(before), Source(after))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("for i in range(n):\n    x()\n", "for i in range(n + 1):\n    x()\n", "off by one"),
        ("while i < n:\n    i()\n", "while i <= n:\n    i()\n", "off by one"),
        ("x = a + b\n", "x = a * b\n", "wrong operator"),
        ("if a and b:\n    x()\n", "if a or b:\n    x()\n", "wrong condition"),
        ("return x\n", "if x is None:\n    return 0\nreturn x\n", "missing case"),
        ("x = 10\n", "x = 24\n", "wrong constant"),
        ("x = price\n", "x = prices\n", "wrong name"),
        ("x = a\n", "x = sorted(a, key=len)[0]\n", "logic"),
    ],
)
def test_a_bug_that_only_results_show_is_named_by_its_fix(before: str, after: str, kind: str) -> None:
    assert bug_kind(case(before, after), (), ()) == kind


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("mean([]) raises ZeroDivisionError", "division by zero"),
        ("test_a: KeyError: 'x'", "missing element"),
        ("AttributeError: 'NoneType' object has no attribute 'x'", "missing value"),
        ("TypeError: unsupported operand", "type"),
    ],
)
def test_a_failure_names_the_bug(words: str, kind: str) -> None:
    seen = Evidence(Check.REPRODUCED, Ruling.PASS, words)
    assert bug_kind(case("a", "b"), (seen,), ()) == kind


def test_so_does_a_diagnostic() -> None:
    said = Diagnostic(Span(0, 1), "undefined name `x`", code="F821")
    assert bug_kind(case("a", "b"), (), (said,)) == "undefined name"


DEEP = "def f(a):\n    if a:\n        if a > 1:\n            return 1\n    return 0\n"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (DEEP, "def f(a):\n    if a and a > 1:\n        return 1\n    return 0\n", "flatten"),
        (DEEP, "def f(a):\n    return g(a)\n\n\ndef g(a):\n    return 1 if a > 1 else 0\n", "extract"),
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    return a\n", "shorten"),
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    copy = a\n    return copy\n", "rename"),
        (DEEP + "def g():\n    return f(1)\n", DEEP, "inline"),
    ],
)
def test_a_refactoring_is_named_by_its_measures(before: str, after: str, kind: str) -> None:
    assert refactoring_kind(case(before, after), (), ()) == kind


def test_notes_that_warn() -> None:
    for note in ("Warning: slow", "It does not handle empty lists.", "This may raise KeyError.", "**Caution**: beta"):
        assert _WARNS.search(note), note
    for note in ("Uses a set for speed.", "Returns the mean of the values."):
        assert not _WARNS.search(note), note


@pytest.mark.parametrize(
    ("action", "marked", "reply", "kind"),
    [
        (
            "debug",
            "def last(items: list[int]) -> int:\n    $0return items[len(items)]\n",
            "def last(items: list[int]) -> int:\n    return items[len(items) - 1]",
            "off by one",
        ),
        (
            "refactor",
            "def total(a: int, b: int) -> int:\n    $0result = a + b\n    return result\n",
            "def total(a: int, b: int) -> int:\n    return a + b",
            "shorten",
        ),
    ],
)
async def test_an_answer_names_the_kind_of_its_change(
    scripted: ScriptedModel, stet_home: Path, action: str, marked: str, reply: str, kind: str
) -> None:
    scripted.default = Reply(code_reply(reply))
    async with Bench(scripted) as bench:
        answer = await bench.run(action, marked)

    assert answer.success, answer.message
    assert answer.metadata.kind == kind
    assert answer.to_json()["metadata"]["kind"] == kind


async def test_an_answer_says_why_new_code_has_no_tests(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(code_reply("def double(n: int) -> int:\n    return n * 2"))
    async with Bench(scripted) as bench:
        answer = await bench.run("generate", "# stet: a function double(n)$0\n")

    assert answer.success, answer.message
    assert answer.metadata.no_tests == "the budget `standard` has no call for tests; use `thorough`"


@pytest.mark.parametrize("note", ["Warning: may overflow in other languages", "It fails for texts"])
async def test_a_note_that_warns_is_a_warning_of_the_answer(
    scripted: ScriptedModel, stet_home: Path, note: str
) -> None:
    code = code_reply("def total(a: int, b: int) -> int:\n    return a + b")
    scripted.default = Reply(f"{code}NOTES: {note}\n")
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", "def total(a: int, b: int) -> int:\n    $0c = a + b\n    return c\n")

    assert answer.success, answer.message
    assert note.removeprefix("Warning: ") in answer.warnings
