"""Converts a broken tree to findings that say what was expected, the most helpful first.

Brackets first (they explain the most), then an unterminated string, then what is missing, then what is unexpected.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.syntax import bracket_matching, brackets, message_text, syntax_findings
from stet_ls.validators.syntax.parse_failure import ParseFailure, first_failure
from stet_ls.validators.syntax.syntax_findings import FENCE, MISSING, STRAY, UNCLOSED, UNEXPECTED, UNTERMINATED

if TYPE_CHECKING:
    import tree_sitter

__all__ = ["FENCE", "MISSING", "STRAY", "UNCLOSED", "UNEXPECTED", "UNTERMINATED", "errors", "explain"]

_LISTED = 10_000
_MOST_CHILDREN = 300_000
_MOST = 100  # a text with more is hopeless, but an edit of it is still judged by its new errors


def explain(parsed: Parsed, *, end: float) -> tuple[Finding, ...]:
    """The findings of a tree that has errors: at least one, even with little time left.

    Each has a signature that does not depend on the other errors of the text, so that two texts can be compared: only
    the wording depends on where the parser failed first. `end` is a time of time.monotonic().
    """
    if fences := syntax_findings.fences(parsed):
        return (*fences, *_without(parsed, fences, end))[:_MOST]
    failure = first_failure(parsed, end=end)
    nodes = list(errors(parsed.root))
    struck = _struck(nodes, failure)
    unmatched: list[brackets.Unclosed | brackets.Stray] = []
    found: list[Finding] = []
    if struck is not None and (quote := message_text.open_quote(parsed, failure)):
        # The text after an open quote belongs to the string: brackets there prove nothing.
        found.append(syntax_findings.unterminated(parsed, quote, struck))
    elif unmatched := brackets.unmatched(parsed.root, end=end):
        unmatched = bracket_matching.blame(parsed, unmatched, end=end)[:_MOST]
        found = [_bracket(parsed, problem, failure) for problem in unmatched]
    spans = [finding.span for finding in found]
    is_early = _is_early(parsed, failure, unmatched)
    if failure is not None and found and not is_early:
        spans.append(failure.span)
    closers = {one.closer for one in unmatched if isinstance(one, brackets.Unclosed)}
    others = []
    for node in nodes[:_MOST]:
        is_reported = node.type in closers or any(parsed.span(node).contains(span) for span in spans)
        if not is_reported or (is_early and node == struck):
            others.append(_error(parsed, node, failure if node == struck else None))
    return tuple(_ordered(found, others)[:_MOST])


def _without(parsed: Parsed, fences: list[Finding], end: float) -> tuple[Finding, ...]:
    """The errors other than the fences: in a language with backquoted strings fences swallow half of the text."""
    data = bytearray(parsed.data)
    for fence in fences:
        data[fence.span.start : fence.span.end] = b" " * (fence.span.end - fence.span.start)
    text = data[: len(parsed.source.data)].decode("utf-8", "replace")
    try:
        bare = parse(Source(text), parsed.language, deadline=max(end - time.monotonic(), 0.01))
    except DeadlineError:
        return ()
    return explain(bare, end=end) if bare.root.has_error else ()


def _ordered(found: list[Finding], others: list[Finding]) -> list[Finding]:
    """A closer without an opener comes last if the text is broken above it: there it lost its opener."""
    first = min((finding.line for finding in others), default=None)
    late = [one for one in found if one.code == STRAY and first is not None and first < one.line]
    return [one for one in found if one not in late] + others + late


def errors(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The innermost ERROR nodes and the MISSING ones, in order, searching only where the tree has an error.

    If something hidden is missing there is neither: then the innermost node with an error counts.
    """
    pending = [root]
    while pending:
        node = pending.pop()
        deeper = [child for child in _children(node) if child.has_error or child.is_missing]
        if not deeper:
            yield node
        pending += reversed(deeper)


def _children(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node's children, at most _MOST_CHILDREN. Building a long list of them at once stalls all other threads."""
    if node.child_count <= _LISTED:
        yield from node.children
        return
    cursor = node.walk()
    more = cursor.goto_first_child()
    for _ in range(_MOST_CHILDREN):
        if not more or cursor.node is None:
            return
        yield cursor.node
        more = cursor.goto_next_sibling()


def _struck(nodes: list[tree_sitter.Node], failure: ParseFailure | None) -> tree_sitter.Node | None:
    """The error node of the first failure: the first that ends after it, else the last."""
    if failure is None or not nodes:
        return None
    return next((node for node in nodes if node.end_byte >= failure.span.start), nodes[-1])


def _is_early(
    parsed: Parsed, failure: ParseFailure | None, unmatched: list[brackets.Unclosed | brackets.Stray]
) -> bool:
    """True for a failure above every line that unmatched brackets can affect: it is another error."""
    if failure is None or not unmatched:
        return False
    affected = (one.opener if isinstance(one, brackets.Unclosed) else one.after or one.node for one in unmatched)
    return parsed.source.line_of(failure.span.start) < min(parsed.source.line_of(node.start_byte) for node in affected)


def _bracket(parsed: Parsed, problem: brackets.Unclosed | brackets.Stray, failure: ParseFailure | None) -> Finding:
    if isinstance(problem, brackets.Stray):
        return syntax_findings.stray(parsed, problem)
    return syntax_findings.unclosed(parsed, problem, failure)


def _error(parsed: Parsed, node: tree_sitter.Node, failure: ParseFailure | None) -> Finding:
    """The finding of one error node; the first failure has a better position and expectation."""
    if node.is_missing:
        at = parsed.span(node)
        return _expected(parsed, at, message_text.name(node.type), message_text.next_token(parsed, at.end), node)
    if failure is None:
        span = message_text.first_token(parsed, node)
        return _finding(parsed, span, f"unexpected {message_text.quoted(parsed.source.slice(span))}", UNEXPECTED, node)
    token = message_text.quoted(failure.token)
    if expected := message_text.expected(parsed, node, failure):
        return _expected(parsed, failure.span, expected, token, node)
    return _finding(parsed, failure.span, f"unexpected {token}", UNEXPECTED, node)


def _expected(parsed: Parsed, at: Span, what: str, token: str, node: tree_sitter.Node) -> Finding:
    suggestion = f"insert {what} {message_text.place(token, parsed.source.line_of(at.start) + 1)}"
    certain = what.startswith("'") and " or " not in what  # one mark, not a kind of thing
    return _finding(parsed, at, f"expected {what} before {token}", MISSING, node, (suggestion,) if certain else ())


def _finding(
    parsed: Parsed, span: Span, message: str, code: str, node: tree_sitter.Node, suggestions: tuple[str, ...] = ()
) -> Finding:
    line = parsed.source.line_of(span.start)
    if message_text.is_prose(parsed.source.line_text(line)):
        message, suggestions = f"{message}: this line is prose and no code", (f"remove line {line + 1}",)
    signature = syntax_findings.signature_of(parsed, node)
    return Finding(span, message, code=code, line=line, suggestions=suggestions, signature=signature)
