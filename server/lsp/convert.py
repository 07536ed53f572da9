"""Converts between the protocol's positions and the engine's byte offsets; no other file does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lsprotocol import types

from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Encoding, Source, Span, Splice

if TYPE_CHECKING:
    from stet_ls.engine.api.request import Diagnostic
    from stet_ls.server.lsp import command_params

    AnyPosition = types.Position | command_params.Position
    AnyRange = types.Range | command_params.Range
    AnyDiagnostic = types.Diagnostic | command_params.DiagnosticParams

SOURCE = "stet"
"""The source of our diagnostics."""
VERIFY = "stet verify"
"""The source of what `stet.verify` found, so that a user can tell it from errors in the text."""

SEVERITIES: Mapping[int | None, Severity] = {
    types.DiagnosticSeverity.Error: Severity.ERROR,
    types.DiagnosticSeverity.Warning: Severity.WARNING,
    types.DiagnosticSeverity.Information: Severity.INFORMATION,
    types.DiagnosticSeverity.Hint: Severity.HINT,
}


def offset_of(position: AnyPosition, source: Source, encoding: Encoding) -> int:
    """The byte offset of a position; one outside the text is moved to the nearest valid one."""
    return source.offset(position.line, position.character, encoding)


def span_of(range_: AnyRange, source: Source, encoding: Encoding) -> Span:
    """The span of a range; reversed ends are swapped, since some clients send the cursor's end of a selection first."""
    start, end = sorted(offset_of(at, source, encoding) for at in (range_.start, range_.end))
    return Span(start, end)


def position_of(offset: int, source: Source, encoding: Encoding) -> types.Position:
    """The protocol's position of a byte offset."""
    line, character = source.position(offset, encoding)
    return types.Position(line, character)


def range_of(span: Span, source: Source, encoding: Encoding) -> types.Range:
    """The protocol's range of a span."""
    return types.Range(position_of(span.start, source, encoding), position_of(span.end, source, encoding))


def text_edits(splices: Iterable[Splice], source: Source, encoding: Encoding) -> list[types.TextEdit]:
    """The protocol's edits of `source`, in document order."""
    ordered = sorted(splices, key=lambda splice: splice.span)
    return [types.TextEdit(range_of(splice.span, source, encoding), splice.text) for splice in ordered]


def diagnostic_of(diagnostic: AnyDiagnostic, source: Source, encoding: Encoding) -> Diagnostic:
    """A diagnostic of any server; missing fields mean an error without code or source."""
    from stet_ls.engine.api.request import Diagnostic  # not imported before the first job

    return Diagnostic(
        span=span_of(diagnostic.range, source, encoding),
        message=diagnostic.message,
        severity=SEVERITIES.get(diagnostic.severity, Severity.ERROR),
        source=diagnostic.source or "",
        code="" if diagnostic.code is None else str(diagnostic.code),
    )


def protocol_diagnostic(finding: Finding, snapshot: Snapshot, client: ClientFeatures) -> types.Diagnostic:
    """A finding of that snapshot for the client, with as much as it supports."""
    source, encoding = snapshot.source, client.encoding
    tags = [_TAGS[finding.code]] if finding.code in _TAGS else []
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(snapshot.uri, range_of(each.span, source, encoding)), each.message
        )
        for each in finding.related
    ]
    opinion = "Opinion: " if finding.source == f"{SOURCE} (model)" else ""
    return types.Diagnostic(
        range=range_of(_visible(finding.span, source), source, encoding),
        message=opinion + _OWN_LINE.sub("", finding.message),
        severity=_LEVELS[finding.severity],
        code=finding.code or None,
        source=VERIFY if finding.source == VERIFY else SOURCE,
        tags=[tag for tag in tags if tag in client.diagnostic_tags] or None,
        related_information=related if related and client.related_information else None,
        data={"tool": finding.source, "suggestions": list(finding.suggestions)} if client.diagnostic_data else None,
    )


_LEVELS = {severity: types.DiagnosticSeverity(level) for level, severity in SEVERITIES.items() if level}

_OWN_LINE = re.compile(r"^line \d+: ")
"""A line number in the message that the editor marks anyway."""

_TAGS = {
    "F401": types.DiagnosticTag.Unnecessary,
    "F811": types.DiagnosticTag.Unnecessary,
    "F841": types.DiagnosticTag.Unnecessary,
}
"""The tags for editors to fade, by rule."""


def _visible(span: Span, source: Source) -> Span:
    """The span, extended to at least one character: editors show nothing for an empty one at the end of a line."""
    line = source.line_span(source.line_of(span.start))
    if not span.empty or line.empty:
        return span
    column = len(source.slice(Span(line.start, span.start)))
    first = column if span.end < line.end else column - 1
    at = source.line_of(span.start)
    return Span(source.offset(at, first, "utf-32"), source.offset(at, first + 1, "utf-32"))
