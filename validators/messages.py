"""From a broken tree to findings that say what was expected, in the order in which they help.

Brackets first (they explain the most), then an unterminated string, then what is missing, then what is unexpected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from stet_ls.validators import brackets, wording
from stet_ls.validators.failure import Failure, first_failure
from stet_ls.validators.findings import Finding, Related
from stet_ls.validators.parse import Parsed
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

_MOST = 100  # a text with more is hopeless, but an edit of it is still judged by what it adds
_SIGNED = 40

UNCLOSED = "unclosed-bracket"
STRAY = "stray-bracket"
UNTERMINATED = "unterminated-string"
MISSING = "missing"
UNEXPECTED = "unexpected"


def explain(parsed: Parsed, *, end: float) -> tuple[Finding, ...]:
    """The findings of a tree that has errors: at least one, whatever little time is left.

    Each has a signature that does not depend on the other errors of the text, so that two texts can be compared:
    only the wording draws on where the parser failed first. `end` is a time of time.monotonic().
    """
    failure = first_failure(parsed, end=end)
    nodes = list(errors(parsed.root))
    struck = _struck(nodes, failure)
    if struck is not None and (quote := wording.open_quote(parsed, failure)):
        # What stands behind an open quote was swallowed by it: the brackets there tell nothing.
        unmatched = []
        found = [_string(parsed, quote, struck)]
    else:
        unmatched = brackets.unmatched(parsed.root, end=end)[:_MOST]
        found = [_bracket(parsed, problem, failure) for problem in unmatched]
    told = [finding.span for finding in found] + ([failure.span] if failure and found else [])
    closers = {one.closer for one in unmatched if isinstance(one, brackets.Unclosed)}
    for node in nodes[:_MOST]:
        is_told = node.type in closers or any(parsed.span(node).contains(span) for span in told)
        if not is_told:
            found.append(_error(parsed, node, failure if node == struck else None))
    return tuple(found[:_MOST])


def errors(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The innermost ERROR nodes and the MISSING ones, in order, looking only where the tree has an error.

    Where something hidden is missing there is neither: then the innermost node that is said to have an error counts.
    """
    pending = [root]
    while pending:
        node = pending.pop()
        deeper = [child for child in node.children if child.has_error or child.is_missing]
        if not deeper:
            yield node
        pending += reversed(deeper)


def _struck(nodes: list[tree_sitter.Node], failure: Failure | None) -> tree_sitter.Node | None:
    """The error node that the first failure became: the first that ends behind it, else the last."""
    if failure is None or not nodes:
        return None
    return next((node for node in nodes if node.end_byte >= failure.span.start), nodes[-1])


def _bracket(parsed: Parsed, problem: brackets.Unclosed | brackets.Stray, failure: Failure | None) -> Finding:
    if isinstance(problem, brackets.Stray):
        message = f"unexpected '{problem.node.type}': nothing opened it"
        return _finding(parsed, parsed.span(problem.node), message, STRAY)
    span = parsed.span(problem.opener)
    message = f"line {parsed.source.line_of(span.start) + 1}: '{problem.opener.type}' is never closed"
    related: tuple[Related, ...] = ()
    if before := wording.expected_before(parsed, problem, failure):
        token, place = before
        message += f"; expected '{problem.closer}' before {token}"
        related = (Related(place, f"expected '{problem.closer}' before this"),)
    return replace(_finding(parsed, span, message, UNCLOSED), related=related)


def _string(parsed: Parsed, quote: Span, node: tree_sitter.Node) -> Finding:
    line = parsed.source.line_of(quote.start) + 1
    return _finding(parsed, quote, f"line {line}: unterminated string", UNTERMINATED, node)


def _error(parsed: Parsed, node: tree_sitter.Node, failure: Failure | None) -> Finding:
    """What one error node says; the first failure knows better where it is and what would have fitted."""
    if node.is_missing:
        at = parsed.span(node)
        message = f"expected {wording.name(node.type)} before {wording.next_token(parsed, at.end)}"
        return _finding(parsed, at, message, MISSING, node)
    if failure is None:
        span = wording.first_token(parsed, node)
        return _finding(parsed, span, f"unexpected {wording.quoted(parsed.source.slice(span))}", UNEXPECTED, node)
    code = MISSING if (expected := wording.expected(parsed, node, failure)) else UNEXPECTED
    token = wording.quoted(failure.token)
    return _finding(
        parsed, failure.span, f"expected {expected} before {token}" if expected else f"unexpected {token}", code, node
    )


def _finding(parsed: Parsed, span: Span, message: str, code: str, node: tree_sitter.Node | None = None) -> Finding:
    line = parsed.source.line_of(span.start)
    if node is None:
        signature = f"{code} {parsed.source.line_text(line).strip()[:_SIGNED]}"
    else:
        parent = node.parent.type if node.parent else ""
        signature = f"{node.type} {node.is_missing} {parent} {parsed.text(node)[:_SIGNED]}"
    return Finding(span, message, code=code, line=line, signature=signature)
