"""Units of a text, language by language."""

from __future__ import annotations

import re
import time

import pytest
from support.corpora.unit_samples import SAMPLES

from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import units, widen


def described(text: str, language: str) -> list[str]:
    source = Source(text)
    return [
        f"{unit.kind} {unit.qualified} {unit.signature!r} {unit.doc!r} @{source.slice(unit.span).count(chr(10)) + 1}"
        for unit in units(source, language)
    ]


@pytest.mark.parametrize("language", SAMPLES)
def test_units(language: str) -> None:
    """Kind, qualified name, signature, documentation, and the number of lines of each, in the order of the text."""
    text, expected = SAMPLES[language]
    assert described(text, language) == expected


@pytest.mark.parametrize("language", SAMPLES)
def test_spans_are_whole_lines_in_order_and_bodies_lie_inside(language: str) -> None:
    source = Source(SAMPLES[language][0])
    found = units(source, language)
    assert [unit.span.start for unit in found] == sorted(unit.span.start for unit in found)
    for unit in found:
        assert unit.span.start in source.starts
        assert unit.span.end == source.line_span(source.line_of(unit.span.end)).end
        assert unit.body is None or unit.span.contains(unit.body)
        assert unit.qualified.endswith(unit.name)


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
@pytest.mark.parametrize("language", ["python", "typescript", "go", "rust", "java", "csharp", "ruby"])
def test_line_ends_make_no_difference(language: str, line_end: str) -> None:
    text, expected = SAMPLES[language]
    changed = described(text.replace("\n", line_end), language)
    assert [re.sub(r" @\d+$", "", line) for line in changed] == [re.sub(r" @\d+$", "", line) for line in expected]


@pytest.mark.parametrize("text", ["", "\0\0", "\ud83d", "(" * 50_000, "x" * 1_000_000, "def " * 20_000])
def test_odd_texts_have_structure_or_none_but_no_error(text: str) -> None:
    source = Source(text)
    started = time.process_time()
    assert units(source, "python") == ()
    assert widen(source, "python", Span(0, 0)).start == 0
    assert time.process_time() - started < 10


def test_many_units_take_no_square_of_time() -> None:
    source = Source("class A:\n" + "    def f(self):\n        return 1\n\n" * 5000)
    started = time.process_time()
    assert len(units(source, "python")) == 5001
    assert time.process_time() - started < 10
