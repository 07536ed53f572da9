"""Converts tool output to findings: positions in many units, and lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stet_ls.validators.checkers.checker_request import CheckerResult, Unavailable
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.findings import Finding, Kind, Severity
from stet_ls.validators.source import Encoding, Source, Span

MOST = 200
"""Findings of one text; a person reads the first few."""

_WORD = re.compile(rb"\w+|[^\s\w]|")


def finding(
    source: Source,
    message: str,
    line: int,
    column: int,
    tool: str,
    *,
    encoding: Encoding = "utf-32",
    kind: Kind = "syntax",
    severity: Severity = Severity.ERROR,
    code: str = "",
) -> Finding:
    """A finding at a position that is counted from 1; it covers the word there."""
    start = source.offset(max(line, 1) - 1, max(column, 1) - 1, encoding)
    return spanned(source, message, Span(start, start), tool, kind=kind, severity=severity, code=code)


def spanned(
    source: Source,
    message: str,
    span: Span,
    tool: str,
    *,
    kind: Kind = "syntax",
    severity: Severity = Severity.ERROR,
    code: str = "",
    suggestions: tuple[str, ...] = (),
) -> Finding:
    """A finding at bytes of the text; an empty span is widened to the word there."""
    size = len(source.data)
    start, end = min(span.start, size), min(span.end, size)
    if start >= end:
        word = _WORD.match(source.data, start)
        end = max(start, min(word.end() if word else start, source.line_span(source.line_of(start)).end))
    line = source.line_of(start)
    return Finding(Span(start, end), message, kind, severity, tool, code, line, suggestions)


def listed(
    source: Source, output: bytes, pattern: re.Pattern[str], tool: str, *, encoding: Encoding = "utf-32"
) -> tuple[Finding, ...]:
    """The findings that a pattern with the groups `line`, `column` and `message` finds in an output."""
    matches = pattern.finditer(output.decode("utf-8", "replace"))
    found = (finding(source, m["message"], int(m["line"]), int(m["column"]), tool, encoding=encoding) for m in matches)
    return distinct(found)


def distinct(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, in order, at most `MOST`."""
    return tuple(dict.fromkeys(found))[:MOST]


def judged(result: ToolResult, found: tuple[Finding, ...], tool: str) -> CheckerResult:
    """The findings. A tool that failed without a position did not fail on the syntax."""
    if result.status == 0:
        return ()
    return found or Unavailable(f"{tool} failed without a location (exit status {result.status})")
