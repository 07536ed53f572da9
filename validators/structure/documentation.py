"""The documentation of a unit: the comments directly above it, or Python's docstring."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators.language_table.row import NodeKinds
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

_COMMENT_MARKS = re.compile(
    r"^[ \t]*(?:/\*[*!]?|\*/|\*(?!/)|//[/!]?|#|--+(?:\[\[)?)[ \t]?|(?<![ \t])[ \t]*(?:\*/|\]\])[ \t]*$", re.MULTILINE
)
# A shebang is for the shell; a `stet:` comment is an instruction. Neither documents the code below.
_NO_DOCUMENTATION = re.compile(r"#!|\W*stet:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Documentation:
    """A documentation's text without its marks, and its span with them."""

    text: str = ""
    span: Span | None = None


def leading(parsed: Parsed, shape: NodeKinds, outer: tree_sitter.Node) -> tuple[tree_sitter.Node, Documentation]:
    """The first node of a unit, with the decorators and doc comments directly above it, and those comments' text."""
    first = outer
    comments: list[str] = []
    spans: list[Span] = []
    while (above := _above(first)) is not None and _touches(parsed, above, first):
        text = parsed.text(above)
        if "comment" in above.type:
            if not shape.docs.match(text) or _NO_DOCUMENTATION.match(text) or not _starts_line(parsed, above):
                break
            comments.append(_COMMENT_MARKS.sub("", "\n".join(text.splitlines())).strip())
            spans.append(parsed.span(above))
        elif above.type not in shape.leading:
            break
        first = above
    text = "\n".join(reversed(comments)).strip()
    return first, Documentation(text, Span(spans[-1].start, spans[0].end)) if text else Documentation()


def _above(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The sibling above; in Ruby the comment above a body's first method is before the body."""
    parent = node.parent
    if node.prev_sibling is None and parent is not None and parent.start_byte == node.start_byte:
        return parent.prev_sibling
    return node.prev_sibling


def _touches(parsed: Parsed, above: tree_sitter.Node, below: tree_sitter.Node) -> bool:
    return parsed.data.count(b"\n", parsed.span(above).end, below.start_byte) <= 1


def _starts_line(parsed: Parsed, node: tree_sitter.Node) -> bool:
    line_start = parsed.data.rfind(b"\n", 0, node.start_byte) + 1
    return not parsed.data[line_start : node.start_byte].strip()


def docstring(parsed: Parsed, body: tree_sitter.Node | None) -> Documentation:
    """Python's docstring, without quotes and indentation; none in other languages."""
    statement = _first_statement(body) if body is not None and body.type == "block" else None
    if statement is None or statement.type != "expression_statement":
        return Documentation()
    string = statement.named_child(0)
    if string is None or string.type != "string":
        return Documentation()
    text = "".join(parsed.text(child) for child in string.named_children if child.type == "string_content")
    return Documentation("\n".join(line.strip() for line in text.strip().splitlines()), parsed.span(string))


def _first_statement(body: tree_sitter.Node) -> tree_sitter.Node | None:
    for number in range(body.named_child_count):
        child = body.named_child(number)
        if child is not None and "comment" not in child.type:
            return child
    return None
