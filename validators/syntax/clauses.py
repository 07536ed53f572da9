"""How a file has to start, and what may be outside of all functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.syntax import message_text

if TYPE_CHECKING:
    import tree_sitter

CLAUSE = "missing-clause"
TOP_LEVEL = "top-level"

_MACRO = "macro_invocation"


def package(parsed: Parsed) -> tuple[Finding, ...]:
    """Go: the package clause, which is required first. An empty file is not an error."""
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
            f"expected 'package' before {message_text.quoted(parsed.source.slice(span))}",
            code=CLAUSE,
            line=line,
            suggestions=("begin the file with a package clause",),
            signature=CLAUSE,
        ),
    )


def top_level(statements: str) -> Callable[[Parsed], tuple[Finding, ...]]:
    """The check for statements outside of all functions, by a pattern of their node kinds.

    Some grammars accept them at the top of a file and no compiler does; C# and the scripting languages run such code.
    """
    pattern = re.compile(statements)

    def check(parsed: Parsed) -> tuple[Finding, ...]:
        found = []
        for node in parsed.root.named_children:
            if not pattern.fullmatch(node.type) or node.has_error or (node.named_child_count and _is_macro(node)):
                continue
            span = message_text.first_token(parsed, node)
            line = parsed.source.line_of(span.start)
            quoted = message_text.quoted(parsed.source.slice(span))
            signature = f"{TOP_LEVEL} {parsed.source.line_text(line).strip()[:40]}"
            message = f"unexpected {quoted}: a statement outside of all functions"
            found.append(Finding(span, message, code=TOP_LEVEL, line=line, signature=signature))
        return tuple(found)

    return check


def _is_macro(node: tree_sitter.Node) -> bool:
    inner = node.named_child(0)
    return inner is not None and inner.type == _MACRO
