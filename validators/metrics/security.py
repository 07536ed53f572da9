"""Calls of known danger in languages that no security linter here reads (Python has ruff's S rules).

A table of patterns of calls and what to check. It does no data-flow analysis: a finding is a place to check, and no
finding is no proof of safety.
"""

from __future__ import annotations

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.metrics.language_table import language_row
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import captures, tree_of

_SEEN = 160
"""Bytes of a call that are matched; its arguments may be a whole program."""


def hazards(source: Source, language: str) -> tuple[Finding, ...] | None:
    """The calls to check; None for a language without a row or a tree."""
    parsed = tree_of(source, language)
    row = language_row(parsed.language) if parsed else None
    if parsed is None or row is None or not row.hazards:
        return None
    found = []
    for node in captures(parsed, frozenset(NODE_KINDS[parsed.language].calls)):
        text = parsed.data[node.start_byte : min(node.end_byte, node.start_byte + _SEEN)].decode("utf-8", "ignore")
        call = "".join(text.split())
        hazard = next((each for each in row.hazards if each.look.match(call)), None)
        if hazard is not None:
            span = Span(node.start_byte, node.start_byte + len(text.split("(")[0].encode()))
            name = " ".join(text.split("(")[0].split())
            found.append(
                Finding(
                    span,
                    f"`{name}`: {hazard.why}",
                    kind="lint",
                    severity=Severity.INFORMATION,
                    source="stet",
                    code=hazard.code,
                    line=source.line_of(span.start),
                )
            )
    return tuple(dict.fromkeys(found))  # in `a(x).b()` both calls start with the same text
