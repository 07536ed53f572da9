"""Formats an edit as its project formats, before it is judged, so that the judged text is the applied one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.reply.fitting.fit import Fitted
from stet_ls.validators.checkers import formatting
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.source import Source, Span, Splice


@dataclass(frozen=True, slots=True)
class _Change:
    """One splice of an edit, and the span of its text after the edit."""

    splice: Splice
    after: Span


def format_edit(source: Source, fitted: Fitted, language: str, path: Path | None, tools: Toolbox) -> Fitted:
    """The edit of `source`, its lines formatted as the project's files show; the spans grow to whole lines at most."""
    changes = _changes(fitted.splices)
    after = source.splice(fitted.splices)
    formats = formatting.format_splices(after, [change.after for change in changes], language, path=path, tools=tools)
    if not formats:
        return fitted
    splices: list[Splice] = []
    code = fitted.code
    for form in formats:
        inside = [change for change in changes if form.span.contains(change.after)]
        splices.append(Splice(_before(form.span, inside, changes), form.text))
        if any(fitted.code in change.splice.text for change in inside):
            code = _code(after.slice(form.span), form.text, fitted.code)
    rest = [change.splice for change in changes if not any(form.span.contains(change.after) for form in formats)]
    return replace(fitted, splices=tuple(sorted([*rest, *splices], key=lambda splice: splice.span)), code=code)


def _changes(splices: Iterable[Splice]) -> list[_Change]:
    changes: list[_Change] = []
    moved = 0
    for splice in sorted(splices, key=lambda one: one.span):
        start = splice.span.start + moved
        size = len(splice.text.encode("utf-8", "surrogatepass"))
        changes.append(_Change(splice, Span(start, start + size)))
        moved += size - (splice.span.end - splice.span.start)
    return changes


def _before(lines: Span, inside: Sequence[_Change], changes: Sequence[_Change]) -> Span:
    """The span in the old text of `lines` of the new text; `inside` are the changes within them."""
    earlier = [one for one in changes if one not in inside and one.after.end <= lines.start]
    start = lines.start - sum(map(_growth, earlier))
    return Span(start, start + (lines.end - lines.start) - sum(map(_growth, inside)))


def _growth(change: _Change) -> int:
    return (change.after.end - change.after.start) - (change.splice.span.end - change.splice.span.start)


def _code(old: str, new: str, code: str) -> str:
    """The target's own text in its formatted lines, without the text around it."""
    head, _, tail = old.partition(code)
    if new.startswith(head) and new.endswith(tail) and len(new) >= len(head) + len(tail):
        return new[len(head) : len(new) - len(tail)]
    return new.strip("\r\n")
