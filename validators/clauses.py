"""What a file has to begin with."""

from __future__ import annotations

from stet_ls.validators import wording
from stet_ls.validators.findings import Finding
from stet_ls.validators.parse import Parsed

CLAUSE = "missing-clause"


def package(parsed: Parsed) -> tuple[Finding, ...]:
    """Go: the package clause, without which nothing else may stand in a file. An empty file is not begun yet."""
    first = next((node for node in parsed.root.children if "comment" not in node.type), None)
    while first is not None and first.child_count:
        first = first.children[0]
    if first is None or first.type == "package" or first.is_missing:
        return ()
    span = parsed.span(first)
    line = parsed.source.line_of(span.start)
    return (
        Finding(
            span,
            f"expected 'package' before {wording.quoted(parsed.source.slice(span))}",
            code=CLAUSE,
            line=line,
            suggestions=("begin the file with a package clause",),
            signature=CLAUSE,
        ),
    )
