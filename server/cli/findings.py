"""What the checkers find in a file: for `stet check`, and as the diagnostics that a job without an editor answers."""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.models import Diagnostic, Selection
from stet_ls.validators import lint, syntax
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Source


def diagnostics(
    source: Source, language: str, path: Path | None, selection: Selection | None
) -> tuple[Diagnostic, ...]:
    """The errors of the syntax check and the linter on the lines of the selection, as an editor would show them."""
    found = [*syntax.check(source, language, path=path).findings, *(lint.check(source, language, path=path) or ())]
    return tuple(
        Diagnostic(finding.span, finding.message, finding.severity, finding.source, finding.code)
        for finding in found
        if finding.severity in (Severity.ERROR, Severity.WARNING) and _touches(finding, source, selection)
    )


def _touches(finding: Finding, source: Source, selection: Selection | None) -> bool:
    if selection is None or selection.is_position:  # a position takes its whole unit, which the engine widens to
        return True
    first, last = (source.line_of(at) for at in (selection.span.start, selection.span.end))
    return first <= source.line_of(finding.span.start) <= last
