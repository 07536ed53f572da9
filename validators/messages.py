"""From a broken tree to sentences that say what was expected, the most telling first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.validators import brackets
from stet_ls.validators.findings import Finding
from stet_ls.validators.parse import Parsed
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

_MOST = 20


def explain(parsed: Parsed, *, end: float) -> tuple[Finding, ...]:
    """The findings of a tree that has errors; at least one. `end` is a time of time.monotonic()."""
    found = [_bracket(parsed, problem) for problem in brackets.unmatched(parsed.root, end=end)[:_MOST]]
    if not found:
        found = [_plain(parsed, node) for node in errors(parsed.root)][:_MOST]
    return tuple(found) or (_finding(parsed, Span(0, 0), "syntax error"),)


def errors(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The innermost ERROR nodes and the MISSING ones, looking only where the tree says that something is wrong."""
    pending = [root]
    while pending:
        node = pending.pop()
        deeper = [child for child in node.children if child.has_error]
        if node.is_missing or (node.is_error and not deeper) or not deeper:
            yield node
        pending += reversed(deeper)


def _bracket(parsed: Parsed, problem: brackets.Unclosed | brackets.Stray) -> Finding:
    if isinstance(problem, brackets.Stray):
        return _finding(parsed, parsed.span(problem.closer), f"unexpected '{problem.closer.type}'")
    line = parsed.source.line_of(problem.opener.start_byte) + 1
    return _finding(parsed, parsed.span(problem.opener), f"line {line}: '{problem.opener.type}' is never closed")


def _plain(parsed: Parsed, node: tree_sitter.Node) -> Finding:
    return _finding(parsed, parsed.span(node), f"expected '{node.type}'" if node.is_missing else "syntax error")


def _finding(parsed: Parsed, span: Span, message: str) -> Finding:
    return Finding(span, message, line=parsed.source.line_of(span.start))
