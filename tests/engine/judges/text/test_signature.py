"""The judge of signatures: the target's, and those that others may call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.text import signature
from stet_ls.validators.source import Source

BEFORE = "class Basket:\n    def total(self):\n        return 0\n\n\ndef words(text):\n    return text.split()\n"


def case(after: str, instruction: str = "", language: str = "python") -> Case:
    return Case("refactor", language, Path("a.py"), Source(BEFORE), Source(after), "words", instruction=instruction)


async def test_a_changed_header_of_any_definition_is_found() -> None:
    after = BEFORE.replace("def total(self)", "def total(self, tax)").replace("text.split()", "[*text.split()]")
    evidence = await signature.judge(case(after))
    assert (evidence.verdict, evidence.detail) == (
        Ruling.FAIL, "the signature of `Basket.total` changed to `def total(self, tax)`",
    )  # fmt: skip
    assert (await signature.judge(case(after, "let total have a tax"))).verdict is Ruling.PASS
    private = replace(case(after), before=Source(BEFORE.replace("total", "_total")),
                      after=Source(after.replace("total", "_total")))  # fmt: skip
    assert (await signature.judge(private)).verdict is Ruling.PASS


async def test_an_overload_that_callers_can_no_longer_call_is_reported() -> None:
    before = "class A {\n  public int f() { return 1; }\n  public int f(int a) { return a; }\n}\n"
    after = before.replace("public int f(int", "int f(int")
    evidence = await signature.judge(replace(case("", language="java"), before=Source(before), after=Source(after)))
    assert (evidence.verdict, evidence.detail) == (Ruling.FAIL, "the signature of `A.f` changed to `int f(int a)`")


async def test_the_signature_of_a_removed_target_is_not_compared() -> None:
    evidence = await signature.judge(case(BEFORE.replace("def words(", "def count(")))
    assert evidence.verdict is Ruling.SKIPPED
    assert "not there after the edit" in evidence.detail


SAME_CALLS = [
    ("function f(o) { const { a } = o; return a; }", "function f({ a }) { return a; }"),
    ("function f(o) { const { a } = o; return a; }", "function f({ a, b: [c, d] = [1, 2] } = {}) { return a; }"),
    ("const f = (pair) => pair[0];", "const f = ([first, second]) => first;"),
    ("function f(a, b = 1) { return a + b; }", "function f(first, second = 1) { return first + second; }"),
    ("function f(...rows) { return rows; }", "function f(...all) { return all; }"),
]
OTHER_CALLS = [
    ("function f(o, p) { return o; }", "function f({ a }) { return a; }"),
    ("function f(o) { return o; }", "function f(...o) { return o; }"),
    ("function f(o, n) { return o; }", "function f(o, n = 2) { return o; }"),
    ("function f(a, b) { return a - b; }", "function f({ a, b }) { return a - b; }"),
    ("const f = (a) => a;", "const f = async (a) => a;"),
]
SAME_TYPED = ("function f(o: Row): number { return o.a; }", "function f({ a }: Row): number { return a; }")
SAME_OPTIONS = [
    ("function f(o: Row, n?: number): number { return 1; }", "function f(o: Row, n = Infinity): number { return 1; }"),
    ("function f(s: string = ''): string { return s; }", "function f(s = ''): string { return s; }"),
    (
        "async function f<T>(n: T, o: Rows = {}): Promise<T> { return n; }",
        "async function f<T>(\n  n: T,\n  { a = 1, b = () => 2 }: Rows = {},\n): Promise<T> { return n; }",
    ),
]
OTHER_TYPED = [
    ("function f(s: string = ''): string { return s; }", "function f(s = 'a'): string { return s; }"),
    ("function f(o: Row, n?: number): number { return 1; }", "function f(o: Row, n = 1): string { return ''; }"),
    ("class f { constructor(readonly size: number) {} }", "class f { constructor(readonly width: number) {} }"),
    ("function f(o: Row): number { return o.a; }", "function f({ a }: Line): number { return a; }"),
    ("function f(o: Row): number { return o.a; }", "function f(o?: Row): number { return o.a; }"),
    ("function f<T extends (x: A) => B>(o: T) {}", "function f<T extends (x: C) => B>(o: T) {}"),
]


@pytest.mark.parametrize(
    ("before", "after", "language", "verdict"),
    [
        *((*pair, "javascript", Ruling.PASS) for pair in SAME_CALLS),
        *((*pair, "javascript", Ruling.FAIL) for pair in OTHER_CALLS),
        (*SAME_TYPED, "typescript", Ruling.PASS),
        *((*pair, "typescript", Ruling.PASS) for pair in SAME_OPTIONS),
        *((*pair, "typescript", Ruling.FAIL) for pair in OTHER_TYPED),
        ("def f(a):\n    return a\n", "def f(b):\n    return b\n", "python", Ruling.FAIL),
    ],
)
async def test_names_of_parameters_count_where_callers_use_them(
    before: str, after: str, language: str, verdict: Ruling
) -> None:  # fmt: skip
    given = Case("refactor", language, None, Source(before), Source(after), "f")
    assert (await signature.judge(given)).verdict is verdict


HINTED = "def words(text: str) -> list[str]:\n    return text.split()\n"
PLAIN = "def words(text):\n    return text.split()\n"


@pytest.mark.parametrize(
    ("before", "after", "ruling"),
    [
        pytest.param(PLAIN, HINTED, Ruling.PASS, id="hints where there were none"),
        pytest.param(PLAIN, HINTED.replace("text: str", "text: str = ''"), Ruling.FAIL, id="hints and a default"),
        pytest.param(HINTED, HINTED.replace("list[str]", "list[int]"), Ruling.FAIL, id="other hints"),
        pytest.param(HINTED, PLAIN, Ruling.FAIL, id="no hints where there were some"),
        pytest.param(HINTED.replace("list", "List"), HINTED, Ruling.PASS, id="the modern spelling"),
        pytest.param(
            HINTED.replace("str)", "Optional[str])"), HINTED.replace("str)", "None | str)"), Ruling.PASS, id="a union"
        ),
        pytest.param(HINTED.replace("str)", "Optional[str])"), HINTED, Ruling.FAIL, id="no longer optional"),
        pytest.param(
            "from rows import List\n" + HINTED.replace("list", "List"), HINTED, Ruling.FAIL, id="a list of its own"
        ),
        pytest.param(
            "class Optional: ...\n" + HINTED.replace("str)", "Optional[str])"),
            "class Optional: ...\n" + HINTED.replace("str)", "str | None)"),
            Ruling.FAIL,
            id="an optional of its own",
        ),
        pytest.param(
            "from typing import List\n" + HINTED.replace("list", "List"), HINTED, Ruling.PASS, id="imported from typing"
        ),
        pytest.param(f"@route\n{PLAIN}", f"@route\n{HINTED}", Ruling.FAIL, id="hints that a decorator may read"),
    ],
)
async def test_added_hints_change_nothing_for_callers(before: str, after: str, ruling: Ruling) -> None:
    given = replace(case(""), before=Source(before), after=Source(after))
    assert (await signature.judge(given)).verdict is ruling


LOADED = "export function load(urls) {\n  return Promise.all(urls.map(fetch));\n}\n"


@pytest.mark.parametrize(
    ("before", "ruling"),
    [(LOADED, Ruling.PASS), (LOADED.replace("Promise.all(urls.map(fetch))", "urls.map(fetch)"), Ruling.FAIL)],
    ids=["promises before", "none before"],
)
async def test_a_function_that_made_promises_may_become_asynchronous(before: str, ruling: Ruling) -> None:
    after = "export async function load(urls) {\n  return urls.map(fetch);\n}\n"
    given = Case("refactor", "javascript", Path("a.js"), Source(before), Source(after), "load")
    assert (await signature.judge(given)).verdict is ruling
