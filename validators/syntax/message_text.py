"""The words of messages for what is there and what was expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span
from stet_ls.validators.syntax import brackets
from stet_ls.validators.syntax.parse_failure import END_OF_FILE, END_OF_LINE, ParseFailure

if TYPE_CHECKING:
    import tree_sitter

_LONGEST = 30
_QUOTES = re.compile(r"""[bBfFrRuU$@#]*(?:["'`]+|string_start|<<<?[-~]?)""")
_IN_STRING = re.compile(r"string.*(?:content|fragment|end)|escape_sequence|template_chars")
# The closing marks that people forget, the most frequent first.
_RANKED = (")", "]", "}", ";", ":", ",", "=>", "->", "=", "then", "do", "end", "fi", "done", "esac")
_FEW = 4
_OUTWARD = 50  # nodes; each step from a deep one is a walk from the root
_VALUE = re.compile(r"(?:integer|number|float|decimal)(?:_literal)?|int_literal")
# If these fit, an operator or a new statement fits: more than a value may be missing.
_NOT_ONLY_VALUES = frozenset({"==", "!=", "&&", "do", "pass", "defer", "use", "struct", "enum", "package"})
# A capital, at least four words that do not occur next to each other in code, and a mark at the end.
_SENTENCE = re.compile(r"[A-Z][a-z']*(?:,? [\w'`\"().-]+){3,60}[.:!?]")
_STARTS_ITEM = re.compile(r"""[\w"'`$@]""")
_NAMES = {
    "identifier": "a name",
    "type_identifier": "a type's name",
    "field_identifier": "a field's name",
    "property_identifier": "a property's name",
    "simple_identifier": "a name",
    "_newline": "a line end",
    "newline": "a line end",
    "_indent": "an indented block",
    "\n": "a line end",
}


def name(kind: str) -> str:
    """A token's kind in words."""
    return _NAMES.get(kind) or f"'{kind}'"


def quoted(token: str) -> str:
    """A token as messages show it: its first line, truncated if long."""
    token = token.strip()
    if token in (END_OF_FILE, END_OF_LINE, ""):
        return token or END_OF_FILE
    if _QUOTES.fullmatch(token):
        return "a string"
    token = token[: 10 * _LONGEST]  # spelling out a token of a megabyte takes seconds
    line = token.splitlines()[0] if token.splitlines() else token
    line = "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in line)
    return f"'{line[:_LONGEST]}…'" if len(line) > _LONGEST else f"'{line}'"


def place(token: str, line: int | None) -> str:
    """Where something is to be inserted: "before ')' on line 3", "at the end of the file"."""
    if token == END_OF_FILE:
        return "at the end of the file"
    if token == END_OF_LINE:
        return f"at the end of line {line}"
    return f"before {token}" + (f" on line {line}" if line else "")


def next_token(parsed: Parsed, offset: int) -> str:
    """The text after an offset, in quotes."""
    rest = parsed.source.data[offset : offset + 400]
    if not rest.strip() and offset + 400 >= len(parsed.source.data):
        return END_OF_FILE
    if rest.lstrip(b" \t")[:1] in (b"\r", b"\n"):
        return END_OF_LINE
    start = offset + len(rest) - len(rest.lstrip())
    leaf = parsed.root.descendant_for_byte_range(start, start + 1)
    if leaf is not None and not leaf.child_count:
        return quoted(parsed.text(leaf))
    words = rest.decode("utf-8", "ignore").split()  # U+2028 and others are blank too
    return quoted(words[0]) if words else END_OF_LINE


def first_token(parsed: Parsed, node: tree_sitter.Node) -> Span:
    """The span of a node's first leaf that has a text."""
    while node.child_count:
        following = next((child for child in node.children if child.end_byte > child.start_byte), None)
        if following is None:
            break
        node = following
    return parsed.span(node)


def open_quote(parsed: Parsed, failure: ParseFailure | None) -> Span | None:
    """The quote that opened the string in which the parser failed; None if it was in none."""
    if failure is None or failure.expected & {",", ";", ")"} or not any(map(_IN_STRING.search, failure.expected)):
        return None
    quote = None
    for leaf in brackets.leaves(parsed.root):
        if leaf.start_byte >= max(failure.span.start, 1):
            break
        if _QUOTES.fullmatch(leaf.type) or _QUOTES.fullmatch(parsed.text(leaf)):
            quote = leaf
    return parsed.span(quote) if quote else None


def is_prose(line: str) -> bool:
    """True for a line that is an English sentence, as models add around their code."""
    return _SENTENCE.fullmatch(line.strip()) is not None


def expected_before(parsed: Parsed, problem: brackets.Unclosed, failure: ParseFailure | None) -> tuple[str, Span]:
    """The token, quoted, before which a closing bracket was expected at the latest, and its place."""
    start = problem.opener.end_byte
    end = problem.before.start_byte if problem.before else len(parsed.data)
    if failure is not None and start <= failure.span.start <= end and _closes(parsed, problem, failure):
        return quoted(failure.token), failure.span
    if problem.before is not None:
        span = first_token(parsed, problem.before)
        return quoted(parsed.source.slice(span)), span
    return END_OF_FILE, Span(len(parsed.source.data), len(parsed.source.data))


def _closes(parsed: Parsed, problem: brackets.Unclosed, failure: ParseFailure) -> bool:
    """True if the closer would have fitted at the failure, or if the next line continues there without it."""
    if problem.closer in failure.expected:
        return True
    return parsed.source.line_of(failure.span.start) > parsed.source.line_of(problem.opener.start_byte)


def expected(parsed: Parsed, node: tree_sitter.Node, failure: ParseFailure) -> str:
    """The expected token, if it is one thing rather than many; "" otherwise."""
    marks = [mark for mark in _RANKED if mark in failure.expected]
    others = {kind for kind in failure.expected if not kind.startswith("_") and "comment" not in kind}
    if marks and len(others) <= _FEW:
        return f"'{marks[0]}'"
    closer = _closer_around(parsed, node, failure)
    if closer and closer in failure.expected and "," in failure.expected and _STARTS_ITEM.match(failure.token):
        return f"',' or '{closer}'"
    if any(map(_VALUE.fullmatch, others)) and not others & _NOT_ONLY_VALUES:
        return "an expression"
    if "identifier" in others and len(others) <= _FEW:
        return "a name"
    return ""


def _closer_around(parsed: Parsed, node: tree_sitter.Node, failure: ParseFailure) -> str:
    """The closer of the innermost bracket that was open where the parser failed, if that is not far outside."""
    around: tree_sitter.Node | None = node
    for _ in range(_OUTWARD):
        if around is None:
            break
        for child in reversed(around.children):
            if child.type in brackets.CLOSERS and child.end_byte <= failure.span.start:
                return brackets.CLOSERS[child.type]
        around = parsed.parent(around)
    return ""
