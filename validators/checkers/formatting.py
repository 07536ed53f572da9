"""Formats what an edit changed in the project's style, so that the next format on save changes nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable
from stet_ls.validators.checkers.formatters import formatters
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.source import Source, Span, Splice

DEADLINE = 5.0
"""Seconds for all formatters."""

_AFTER_LINE_FEED = re.compile(r"(?<=\n)")


def format_changed(
    source: Source,
    changed: Iterable[Span],
    language: str,
    *,
    path: Path | None,
    tools: Toolbox = BUILT_IN,
    deadline: float = DEADLINE,
) -> Source | None:
    """The text with its changed lines formatted; None if it is not formatted.

    It is not formatted if the project's files do not show the formatter, if the formatter cannot read the text, or if
    it would change another line too: then the file was not formatted by it before. All lines outside of `changed` keep
    their bytes, and the result is exactly the formatter's output for the whole text.
    """
    splices = format_splices(source, changed, language, path=path, tools=tools, deadline=deadline)
    return source.splice(splices) if splices else None


def format_splices(
    source: Source,
    changed: Iterable[Span],
    language: str,
    *,
    path: Path | None,
    tools: Toolbox = BUILT_IN,
    deadline: float = DEADLINE,
) -> tuple[Splice, ...]:
    """What `format_changed` changes: whole lines, a splice for each unformatted run of changed lines."""
    end = "\r\n" if b"\r\n" in source.data else "\n"
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    plain = source.text.removeprefix(mark).replace("\r\n", "\n")
    if "\r" in plain or "\0" in plain:
        return ()
    request = CheckerRequest(Source(plain), languages.id_of(language), path, deadline, tools)
    for formatter in formatters(language, tools):
        formatted = formatter.format(replace(request, deadline=min(deadline, formatter.seconds)))
        if isinstance(formatted, Unavailable):
            continue
        return _within(source, mark + formatted.replace("\n", end), _lines(source, changed))
    return ()


def _lines(source: Source, changed: Iterable[Span]) -> list[tuple[int, int]]:
    """Runs of lines that hold the spans, as half-open ranges; adjacent ones are merged."""
    runs: list[tuple[int, int]] = []
    for span in sorted(changed):
        first, last = source.line_of(span.start), source.line_of(span.end)
        # A span that ends at the start of a line changed nothing of that line.
        behind = last if span.end == source.line_span(last).start and span.end > span.start else last + 1
        if span.empty and span.start == source.line_span(first).start:
            behind = first
        if runs and first <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], behind))
        else:
            runs.append((first, behind))
    return runs


def _within(source: Source, formatted: str, runs: Sequence[tuple[int, int]]) -> tuple[Splice, ...]:
    """The new texts of the runs, if everything between them is the same in both texts; else nothing."""
    old, new = _split(source.text), _split(formatted)
    tail = old[runs[-1][1] :] if runs else old
    if not runs or new[len(new) - len(tail) :] != tail:
        return ()
    limit = len(new) - len(tail)
    splices: list[Splice] = []
    at = 0
    behind = 0
    for index, (first, last) in enumerate(runs):
        kept = old[behind:first]
        begin = 0 if index == 0 else _find(new, kept, at, limit)
        if begin is None or new[begin : begin + len(kept)] != kept or begin + len(kept) > limit:
            return ()
        if index:
            _append(splices, source, runs[index - 1], "".join(new[at:begin]))
        at, behind = begin + len(kept), last
    _append(splices, source, runs[-1], "".join(new[at:limit]))
    return tuple(splices)


def _append(splices: list[Splice], source: Source, run: tuple[int, int], text: str) -> None:
    span = Span(source.line_span(run[0]).start, source.line_span(run[1]).start)
    if source.slice(span) != text:
        splices.append(Splice(span, text))


def _find(lines: Sequence[str], wanted: Sequence[str], start: int, limit: int) -> int | None:
    """The next position of the lines; None if they do not occur."""
    return next((at for at in range(start, limit - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted), None)


def _split(text: str) -> list[str]:
    """Lines with their ends, split at line feeds only: `str.splitlines` splits at more characters than editors do."""
    return [line for line in _AFTER_LINE_FEED.split(text) if line]
