"""The literals and comments of a text: what must not be re-indented, and what is not code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from stet_ls.validators.parsing.grammars import NoGrammarError
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    import tree_sitter

PassageKind = Literal["string", "heredoc", "doc", "comment"]

# The names that the grammars of `languages.LANGUAGES` give to literals whose white space belongs to the program. YAML's
# scalars are left out on purpose: their indentation follows the key's.
_STRINGS = frozenset({
    "string", "string_literal", "raw_string", "raw_string_literal", "interpreted_string_literal", "template_string",
    "rune_literal", "char_literal", "character_literal", "verbatim_string_literal", "interpolated_string_expression",
    "encapsed_string", "multiline_string_literal", "multi_line_string_literal", "line_string_literal",
    "raw_str_part", "string_value", "regex", "text_block", "system_lib_string", "ansi_c_string", "character",
})  # fmt: skip
_HEREDOCS = frozenset({"heredoc_body", "heredoc_end", "heredoc", "nowdoc"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "multiline_comment", "shebang"})


@dataclass(frozen=True, slots=True)
class LiteralOrComment:
    """A literal or a comment. "doc" is a Python docstring: a string whose indentation follows the code's."""

    kind: PassageKind
    span: Span


def passages(source: Source, language: str) -> tuple[LiteralOrComment, ...]:
    """The outermost literals and comments in document order; none if the language cannot be parsed."""
    try:
        parsed = parse(source, language)
    except (NoGrammarError, DeadlineError):
        return ()
    return _passages(parsed)


@lru_cache(maxsize=8)
def _passages(parsed: Parsed) -> tuple[LiteralOrComment, ...]:
    """Cached for the last few texts: a walk through the whole tree takes as long as a parse."""
    return tuple(_walk(parsed))


def fixed_lines(source: Source, language: str) -> frozenset[int]:
    """The lines that start inside a literal: their leading white space is data and must stay as it is."""
    return _fixed_lines(source, passages(source, language))


@lru_cache(maxsize=8)
def _fixed_lines(source: Source, found: tuple[LiteralOrComment, ...]) -> frozenset[int]:
    fixed: set[int] = set()
    for passage in found:
        if passage.kind in ("string", "heredoc"):
            first = source.line_of(passage.span.start) + (passage.kind == "string")
            last = source.line_of(max(passage.span.start, passage.span.end - 1))
            fixed.update(range(first, last + 1))
    return frozenset(fixed)


def _walk(parsed: Parsed) -> Iterator[LiteralOrComment]:
    cursor = parsed.tree.walk()
    above: list[tree_sitter.Node] = []  # Node.parent would search for it from the root
    while True:
        node = cursor.node
        assert node is not None
        kind = _kind(node, above)
        if kind is not None:
            yield LiteralOrComment(kind, Span(node.start_byte, min(node.end_byte, len(parsed.source.data))))
        if kind is None and cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            above.pop()


def _kind(node: tree_sitter.Node, above: Sequence[tree_sitter.Node]) -> PassageKind | None:
    # A keyword can have a literal's name: TypeScript's type `string` is a token without children.
    if not node.is_named:
        return None
    if node.type in _STRINGS:
        return "doc" if _is_docstring(node, above) else "string"
    if node.type in _HEREDOCS:
        return "heredoc"
    return "comment" if node.type in _COMMENTS else None


def _is_docstring(node: tree_sitter.Node, above: Sequence[tree_sitter.Node]) -> bool:
    """True for the string that opens a Python module, class or function."""
    if node.type != "string" or len(above) < 2 or above[-1].type != "expression_statement":
        return False
    suite = above[-2]
    if suite.type not in ("module", "block"):
        return False
    first = next((child for child in suite.named_children if child.type != "comment"), None)
    return first is not None and first.start_byte == above[-1].start_byte
