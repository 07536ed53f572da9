"""Every judge says pass where it should and fail where it should; a judge that cannot fail is no judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Buffer
from stet_ls.engine.api.summary import evidence_line
from stet_ls.engine.judges import doctest
from stet_ls.engine.judges.case import Case, Judge
from stet_ls.engine.judges.differential import judge as differential
from stet_ls.engine.judges.project_tests import judge as project_tests
from stet_ls.engine.judges.text import definitions, lint, names, noop, signature, syntax
from stet_ls.validators.source import Source, Span

BEFORE = """\
import os


def area(width, height=1):
    return width + height
"""
TARGET = Span(BEFORE.index("def area"), len(BEFORE) - 1)


def case(
    new: str, *, before: str = BEFORE, old: Span = TARGET, action: str = "debug", language: str = "python"
) -> Case:
    source = Source(before)
    after = Source(before[: old.start] + new + before[old.end :])
    return Case(action, language, Path("a.py"), source, after, "area")


GOOD = "def area(width, height=1):\n    return width * height"


@pytest.mark.parametrize(
    ("judge", "new", "verdict", "says"),
    [
        (noop.judge, GOOD, Ruling.PASS, "1 line"),
        (noop.judge, "# one\n" + BEFORE[TARGET.start : TARGET.end] + "\n# two", Ruling.PASS, "2 lines changed"),
        (noop.judge, BEFORE[TARGET.start : TARGET.end], Ruling.FAIL, "unchanged"),
        (noop.judge, BEFORE[TARGET.start : TARGET.end].replace("\n", "  \n\n"), Ruling.FAIL, "unchanged"),
        (syntax.judge, GOOD, Ruling.PASS, "syntax ok"),
        (syntax.judge, "def area(width, height=1:\n    return 1", Ruling.FAIL, "xpected"),
        (names.judge, GOOD, Ruling.PASS, "resolve"),
        (names.judge, "def area(width, height=1):\n    return width * hight", Ruling.FAIL, "hight"),
        (names.judge, f"from math import *\n\n\n{GOOD}", Ruling.UNKNOWN, "existing names are unknown"),
        (names.judge, f"{GOOD}\n\n\n{GOOD}", Ruling.FAIL, "`area` is defined a second time"),
        (names.judge, f"import os\n\n\n{GOOD}", Ruling.PASS, "resolve"),
        (signature.judge, GOOD, Ruling.PASS, "kept"),
        (signature.judge, "def area(\n    width,\n    height=1,\n):\n    return 1", Ruling.PASS, "kept"),
        (signature.judge, "def area(width):\n    return width", Ruling.FAIL, "area(width)"),
        (definitions.judge, "def surface(width, height=1):\n    return 1", Ruling.FAIL, "gone"),
        (lint.judge, GOOD, Ruling.PASS, "0 new lint"),
        (lint.judge, "def area(width, height=1):\n    unused = 1\n    return width", Ruling.UNKNOWN, "1 new lint"),
    ],
)
async def test_a_judge_passes_good_code_and_fails_bad_code(judge: Judge, new: str, verdict: Ruling, says: str) -> None:
    evidence = await judge(case(new))
    assert evidence.verdict is verdict, evidence
    assert says in evidence.detail


async def test_in_a_large_file_only_the_lines_that_changed_are_counted() -> None:
    body = "".join(f"x{number} = {number}\n" for number in range(1500))
    before, after = (Source(f"import {name}\n{body}print({name})\n") for name in ("os", "sys"))
    evidence = await noop.judge(Case("debug", "python", Path("a.py"), before, after))
    assert evidence.detail == "2 lines changed"


async def test_a_lost_docstring_is_reported() -> None:
    before = 'def area(width):\n    """What it covers."""\n    return width\n'
    old = Span(0, len(before) - 1)
    lost = await signature.judge(case("def area(width):\n    return 2 * width", before=before, old=old))
    new = await signature.judge(case('def area(width):\n    """New."""\n    return width', before=before, old=old))
    assert (lost.verdict, new.verdict) == (Ruling.FAIL, Ruling.PASS)
    assert "documentation" in lost.detail


@pytest.mark.parametrize("judge", [syntax.judge, names.judge, lint.judge])
async def test_existing_errors_do_not_count_against_a_candidate(judge: Judge) -> None:
    before = "x = undefined_name\nimport sys, os\n\n\ndef area(width):\n    return width\n"
    old = Span(before.index("def area"), len(before) - 1)
    evidence = await judge(case("def area(width):\n    return 2 * width", before=before, old=old))
    assert evidence.verdict is Ruling.PASS, evidence


@pytest.mark.parametrize("judge", [names.judge, lint.judge])
async def test_linting_a_file_with_syntax_errors_gives_an_unknown_verdict(judge: Judge) -> None:
    """They are silent there, whatever the candidate uses."""
    before = "def lost(x:\n    return 1\n\n\ndef area(width):\n    return width\n"
    old = Span(before.index("def area"), len(before) - 1)
    evidence = await judge(case("def area(width):\n    return undefined_name", before=before, old=old))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert "syntax errors" in evidence.detail


async def test_a_stub_that_remains_a_stub_fails() -> None:
    stub = "def area(width):\n    ...\n"
    old = Span(0, len(stub) - 1)
    left = await noop.judge(
        case('def area(width):\n    """Area."""\n    pass', before=stub, old=old, action="generate")
    )
    filled = await noop.judge(case("def area(width):\n    return 1", before=stub, old=old, action="generate"))
    assert (left.verdict, filled.verdict) == (Ruling.FAIL, Ruling.PASS)


@pytest.mark.parametrize(
    ("language", "before", "new"),
    [
        ("python", "def area(w, h):\n    return (w*h)\n", "def area(w, h):\n    # Sides.\n    return w * h"),
        ("python", "def area(w, h):\n    return w * h\n", 'def area(w, h):\n    """Covers."""\n    return w * h'),
        ("javascript", "function area(w, h) {return w*h;}\n", "// Covers\nfunction area(w, h) {\n  return w * h;\n}"),
        ("go", "func area(w, h int) int {return w*h}\n", "func area(w, h int) int {\n\treturn w * h\n}"),
    ],
)
async def test_a_refactoring_must_change_more_than_the_layout(language: str, before: str, new: str) -> None:
    async def ruling(text: str, **changes: Any) -> Ruling:
        made = case(text, before=before, old=Span(0, len(before) - 1), language=language, action="refactor")
        return (await noop.judge(replace(made, **changes))).verdict

    assert await ruling(new) is Ruling.FAIL
    assert await ruling(new, action="optimize", instructed=True) is Ruling.FAIL
    assert await ruling(new, instructed=True) is Ruling.PASS, "they may have asked for just that"
    assert await ruling(new, action="debug") is Ruling.PASS, "a linter may have asked for just that"
    assert await ruling(new.replace("w * h", "h * w")) is Ruling.PASS


async def test_strings_that_look_like_comments_do_not_hide_a_change() -> None:
    head = "const bare = (p) => p.replace(/\\/*$/, '');\n"
    before = f"{head}function area(w, h) {{ return w * h; }}\n"
    span = Span(len(head), len(before) - 1)
    made = case("function area(w, h) { return h * w; }", before=before, old=span, language="javascript")
    assert (await noop.judge(replace(made, action="refactor"))).verdict is Ruling.PASS


async def test_a_language_without_grammar_is_reported_as_unchecked() -> None:
    evidence = await syntax.judge(case("anything", language="klingon"))
    assert evidence.verdict is Ruling.UNKNOWN
    assert "klingon" in evidence.detail


@pytest.mark.parametrize(
    ("judge", "language", "unit", "says"),
    [
        (signature.judge, "python", "", "the target has no signature: it is not a function or class"),
        (names.judge, "klingon", "area", "name checks do not support klingon yet"),
        (lint.judge, "klingon", "area", "no linter for klingon installed; run `stet doctor`"),
        (doctest.judge, "go", "area", "examples in go documentation are not supported yet"),
        (doctest.judge, "python", "area", "no code ran"),
        (differential.judge, "python", "area", "no code ran"),
        (project_tests.judge, "python", "area", "no code ran"),
    ],
)
async def test_a_skipped_check_is_reported_with_the_reason(judge: Judge, language: str, unit: str, says: str) -> None:
    evidence = await judge(replace(case(GOOD, language=language), unit=unit))
    assert (evidence.verdict, evidence.detail) == (Ruling.SKIPPED, says)


def test_the_summary_includes_failures_and_unchecked_parts() -> None:
    evidence = [
        Evidence(Check.NOOP, Ruling.PASS, "1 line changed"),
        Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok (ruff)"),
        Evidence(Check.NAMES, Ruling.FAIL, "undefined name `x`"),
        Evidence(Check.LINT, Ruling.SKIPPED, "no linter for klingon here"),
        Evidence(Check.DIFFERENTIAL, Ruling.SKIPPED, "old and new behaviour were not compared"),
        Evidence(Check.TESTS, Ruling.SKIPPED, "no code ran"),
    ]
    assert evidence_line(evidence) == (
        "names FAILED: undefined name `x` · syntax ok (ruff) · lint not checked · behavior not compared · tests not run"
    )


GO = "package sums\n\nfunc sum(ones []int) int {\n\ttotal := 0\n\treturn total\n}\n"


@pytest.mark.parametrize(
    ("before", "after", "verdict", "says"),
    [
        (GO, GO.replace("0", "len(ones)"), Ruling.PASS, "resolve"),
        (GO, GO.replace("return total", "return totals"), Ruling.FAIL, "undefined: totals"),
        (GO, GO.replace("return total", "return unsaved()"), Ruling.PASS, "resolve"),
        (GO.replace("0", "made()"), GO.replace("0", "made2()"), Ruling.UNKNOWN, "files of the package are missing"),
    ],
    ids=["known", "unknown", "in another buffer", "in a package that lacks a file"],
)
async def test_undefined_names_of_go_are_found(
    before: str, after: str, verdict: Ruling, says: str, tmp_path: Path
) -> None:
    other = Buffer(tmp_path / "other.go", 1, "package sums\n\nfunc unsaved() int { return 1 }\n")
    sources = Source(before), Source(after)
    evidence = await names.judge(Case("debug", "go", tmp_path / "sums.go", *sources, "sum", buffers=(other,)))
    assert (evidence.verdict, says in evidence.detail) == (verdict, True), evidence.detail
