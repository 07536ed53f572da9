"""The checkers' findings in a file: for `stet check`, and as the diagnostics of a job without an editor."""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.api.request import Diagnostic, Selection
from stet_ls.validators import lint, syntax
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import unit_at


def diagnostics(
    source: Source, language: str, path: Path | None, selection: Selection | None
) -> tuple[Diagnostic, ...]:
    """The errors of the syntax check and the linter on the lines of the selection, as an editor would show them."""
    found = [*syntax.check(source, language, path=path).findings, *(lint.check(source, language, path=path) or ())]
    place = _place(source, language, selection)
    return tuple(
        Diagnostic(finding.span, finding.message, finding.severity, finding.source, finding.code)
        for finding in found
        if finding.severity in (Severity.ERROR, Severity.WARNING) and finding.span.overlaps(place)
    )


def _place(source: Source, language: str, selection: Selection | None) -> Span:
    """The selected lines as a whole; a single position means the unit around it."""
    if selection is None:
        return source.whole
    span = selection.span
    if selection.is_position:
        unit = unit_at(source, language, span)
        span = unit.span if unit else source.whole
    return Span(source.starts[source.line_of(span.start)], source.line_span(source.line_of(span.end)).end)
