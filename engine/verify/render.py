"""A report as text for people: at most 100 columns a line, texts of the repository made harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stet_ls.engine.plurals import plural
from stet_ls.engine.verify.report import Conclusion, Report, VerifyFinding
from stet_ls.validators.invisible_chars import escape_invisible

COLUMNS = 100
_TAIL = 30
"""Columns for the end of a line that is too long: what a call returned stands there."""
_NEAR = 10
"""Characters that a cut moves to fall between words."""
_LONGEST_PATH, _LONGEST_UNIT = 36, 16
"""Columns of a place in a line that is too long."""


def lines(report: Report) -> Iterator[str]:
    """A line for each finding and each unproven unit, then the notes and the conclusion. Notes name what was late."""
    for finding in report.findings:
        yield finding_line(finding)
    reported = {(each.path, each.unit) for each in report.findings}
    for each in report.units:
        is_late = all(one.out_of_time for one in each.checks) and bool(each.checks)
        if each.conclusion is Conclusion.UNPROVEN and not is_late and (each.unit.path, each.unit.label) not in reported:
            yield _fitted_row(each.unit.path, each.unit.line, each.unit.label, "unproven", each.reasons)
    for note in report.notes:
        yield fitted_line(f"note: {note}")
    yield fitted_line(summary(report))


def finding_line(finding: VerifyFinding) -> str:
    """One finding with its place."""
    word = "refuted" if finding.refutes else "note"
    return _fitted_row(finding.path, finding.line, finding.unit, f"{finding.check} {word}", (finding.detail,))


def _fitted_row(path: str, line: int, unit: str, what: str, details: Sequence[str]) -> str:
    """A line with as many details as fit, at least the first. Before that one is cut, long names give way: what was
    found has to be seen.
    """
    for count in range(len(details), 0, -1):
        row = _plain(f"{path}:{line} {unit}: {what}: {'; '.join(details[:count])}")
        if len(row) <= COLUMNS:
            return row
    place = f"{_cut(path, _LONGEST_PATH, _LONGEST_PATH // 2)}:{line} {_cut(unit, _LONGEST_UNIT, _LONGEST_UNIT // 2)}"
    head = _plain(f"{place}: {what}:")[: COLUMNS - 2 * _TAIL // 3]
    left = COLUMNS - len(head) - 1
    return f"{head} {_cut(_plain(details[0]), left, min(_TAIL, left // 2))}"


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
