"""A report as text for people: at most 100 columns a line, texts of the repository made harmless."""

from __future__ import annotations

from collections.abc import Iterator

from stet_ls.engine.plurals import plural
from stet_ls.engine.verify.report import Conclusion, Report, VerifyFinding
from stet_ls.validators.invisible_chars import escape_invisible

COLUMNS = 100
_TAIL = 40
"""Columns for the end of a line that is too long: what a call returned stands there."""


def lines(report: Report) -> Iterator[str]:
    """A line for each finding and each unproven unit, then the notes and the conclusion."""
    for finding in report.findings:
        yield finding_line(finding)
    reported = {(each.path, each.unit) for each in report.findings}
    for each in report.units:
        if each.conclusion is Conclusion.UNPROVEN and (each.unit.path, each.unit.label) not in reported:
            yield fitted_line(f"{each.unit.path}:{each.unit.line} {each.unit.label}: unproven: {each.why}")
    for note in report.notes:
        yield fitted_line(f"note: {note}")
    yield fitted_line(summary(report))


def finding_line(finding: VerifyFinding) -> str:
    """One finding with its place."""
    word = "refuted" if finding.refutes else "note"
    return fitted_line(f"{finding.path}:{finding.line} {finding.unit}: {finding.check} {word}: {finding.detail}")


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
    parts += ["out of time"] if report.partial else []
    return "; ".join((*parts, str(report.intent), f"{report.seconds:.1f} s"))


def fitted_line(text: str) -> str:
    """A text as one line of at most `COLUMNS` columns, cut in its middle: the place leads, the results end it."""
    line = escape_invisible(" ".join(text.split()))
    if len(line) <= COLUMNS:
        return line
    return f"{line[: COLUMNS - _TAIL - 1].rstrip()}…{line[-_TAIL:]}"
