"""A report as text for people: at most 100 columns a line, texts of the repository made harmless."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain

from stet_ls.engine.plurals import plural
from stet_ls.engine.verify.report import Conclusion, Report, VerifyFinding
from stet_ls.engine.verify.shortened_line import shortened_line, without_middle
from stet_ls.validators.invisible_chars import escape_invisible

COLUMNS = 100
_TAIL = 30
"""Columns for the end of a line that is too long: what a call returned stands there."""
_NEAR = 10
"""Characters that a cut moves to fall between words."""
_WIDTHS = ((36, 16), (24, 14), (16, 10))
"""Columns of a path and of a unit in a line that is too long, tried in this order."""
_INDENT = "    "
_MOST_BELOW = 5
"""Lines below a finding that does not fit into its own."""


def lines(report: Report) -> Iterator[str]:
    """A line for each finding and each unproven unit, then the notes and the conclusion. Notes name what was late."""
    for finding in report.findings:
        yield from finding_lines(finding)
    reported = {(each.path, each.unit) for each in report.findings}
    for each in report.units:
        is_late = all(one.out_of_time for one in each.checks) and bool(each.checks)
        if each.conclusion is Conclusion.UNPROVEN and not is_late and (each.unit.path, each.unit.label) not in reported:
            unit = each.unit
            row = _fitted_row(unit.path, unit.line, unit.label, "unproven", each.reasons)
            yield row or _cut_row(unit.path, unit.line, unit.label, "unproven", each.reasons[0])
    for note in report.notes:
        yield fitted_line(f"note: {note}")
    yield fitted_line(summary(report))


def finding_line(finding: VerifyFinding) -> str:
    """One finding with its place, in one line."""
    return next(finding_lines(finding))


def finding_lines(finding: VerifyFinding) -> Iterator[str]:
    """The line of a finding. If its words alone are too many, the line holds their start, and those below it all."""
    word = "refuted" if finding.refutes else "note"
    what = f"{finding.check} {word}"
    row = _fitted_row(finding.path, finding.line, finding.unit, what, (finding.detail,))
    if row is not None:
        yield row
        return
    yield _cut_row(finding.path, finding.line, finding.unit, what, finding.detail)
    yield from _below(_plain(finding.detail))


def _below(detail: str) -> Iterator[str]:
    """A detail in full, as far as some lines hold it."""
    width = COLUMNS - len(_INDENT)
    shown = without_middle(detail, _MOST_BELOW * width * 9 // 10)
    yield from textwrap.wrap(shown, COLUMNS, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _fitted_row(path: str, line: int, unit: str, what: str, details: Sequence[str]) -> str | None:
    """A line with as many details as fit, at least the first; None if that one does not fit. Long names give way first,
    then long values: an input that shows a difference has to be seen, and so have both results.
    """
    for count in range(len(details), 0, -1):
        row = _plain(f"{path}:{line} {unit}: {what}: {'; '.join(details[:count])}")
        if len(row) <= COLUMNS:
            return row
    detail = _plain(details[0])
    heads = [f"{_place(path, line, unit, widths)}: {what}: " for widths in _WIDTHS]
    whole = (head + detail for head in heads if len(head) + len(detail) <= COLUMNS)
    short = (head + some for head in heads if (some := shortened_line(detail, COLUMNS - len(head))) is not None)
    return next(chain(whole, short), None)


def _cut_row(path: str, line: int, unit: str, what: str, detail: str) -> str:
    """A line for what does not fit, with its end: what a call returned stands there."""
    head = f"{_place(path, line, unit, _WIDTHS[1])}: {what}:"
    left = COLUMNS - len(head) - 1
    return f"{head} {_cut(_plain(detail), left, min(_TAIL, left // 2))}"


def _place(path: str, line: int, unit: str, widths: tuple[int, int]) -> str:
    return f"{without_middle(_plain(path), widths[0])}:{line} {without_middle(_plain(unit), widths[1])}"


def summary(report: Report) -> str:
    """The conclusion in one line."""
    if not report.units and not report.notes:
        return f"ok: no change between {report.base} and {report.head}"
    conclusions = [each.conclusion for each in report.units]
    counts = [f"{conclusions.count(each)} {each}" for each in reversed(Conclusion) if each in conclusions]
    failing = sum(each.refutes for each in report.tests)
    by = f" by {plural(failing, 'test')}" if failing else ""
    parts = [f"{report.conclusion}{by}"]
    if counts:
        parts = [f"{parts[0]}: {plural(len(conclusions), 'unit')} ({', '.join(counts)})"]
    parts += [f"{plural(len(report.unjudged), 'file')} not judged"] if report.unjudged else []
    parts += ["out of time"] if report.partial else []
    return "; ".join((*parts, str(report.intent), f"{report.seconds:.1f} s"))


def fitted_line(text: str) -> str:
    """A text as one line of at most `COLUMNS` columns, cut in its middle: the place leads, the results end it."""
    return _cut(_plain(text), COLUMNS, _TAIL)


def _plain(text: str) -> str:
    return escape_invisible(" ".join(text.split()))


def _cut(text: str, most: int, tail: int = 10) -> str:
    """The text without its middle if it is too long, between words where one ends near the place."""
    if len(text) <= most:
        return text
    lead, end = text[: most - tail - 1], text[-tail:]
    near = lead.rfind(" ")
    lead = lead[:near] if len(lead) - near <= _NEAR else lead
    first = end.find(" ")
    return f"{lead}…{end[first:] if 0 <= first < _NEAR else end}"
