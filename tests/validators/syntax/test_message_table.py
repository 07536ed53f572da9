"""The same faults in eight languages: what the first finding says, where it stands, and what it suggests."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.parse import parse
from stet_ls.validators.source import Source, Span, Splice
from stet_ls.validators.syntax import messages

FAULTS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[1] / "corpus" / "faults.toml").read_text("utf-8")
)
CASES = [(language, fault) for language, cases in FAULTS.items() for fault in cases]


def first(text: str, language: str) -> Finding:
    parsed = parse(Source(text), language)
    assert parsed.root.has_error
    return messages.explain(parsed, end=time.monotonic() + 10)[0]


def test_every_language_has_the_same_cases() -> None:
    assert len(FAULTS) == 8
    assert len({tuple(cases) for cases in FAULTS.values()}) == 1


@pytest.mark.parametrize(("language", "fault"), CASES)
def test_the_first_finding(language: str, fault: str) -> None:
    case = FAULTS[language][fault]
    finding = first(case["text"], language)
    assert (finding.line + 1, finding.message) == (case["line"], case["message"])
    assert finding.suggestions == ((case["suggestion"],) if case["suggestion"] else ())


@pytest.mark.parametrize(("language", "fault"), CASES)
def test_places_are_exact_behind_an_emoji(language: str, fault: str) -> None:
    """On the line of the finding: four bytes, two UTF-16 units, one code point, and what marks it as a comment."""
    text, line, message, _ = FAULTS[language][fault].values()
    plain = first(text, language)
    before = Source(text)
    start = before.line_span(line - 1).start
    at = start + len(before.line_text(line - 1)) - len(before.line_text(line - 1).lstrip())
    if "around" in fault or "too early" in fault or before.line_text(line - 1).startswith("def"):
        return  # there a comment would make another fault of it
    comment = "'🙂';" if language == "python" else "/*🙂*/"
    after = before.splice([Splice(Span(at, at), comment)])
    moved = first(after.text, language)
    assert moved.message == message
    for encoding, units in (("utf-8", 3), ("utf-16", 1), ("utf-32", 0)):
        then, now = before.position(plain.span.start, encoding), after.position(moved.span.start, encoding)
        assert (now[0], now[1] - then[1]) == (then[0], len(comment) + units)
    assert after.slice(moved.span) == before.slice(plain.span)
