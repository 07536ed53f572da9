"""Code that seems unused: unreachable statements, and private names without another occurrence.

Hints, and few on purpose: a name that occurs twice, even in a comment or a string, counts as used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.languages import row_for
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import UnitNode, captures, find, tree_of

if TYPE_CHECKING:
    import tree_sitter

SOURCE, CODE = "stet", "dead-code"

_NAME = re.compile(rb"[^\W\d][\w$]*")
_ENDS = frozenset({
    "return_statement", "raise_statement", "throw_statement", "break_statement", "continue_statement",
    "return_expression", "break_expression", "continue_expression", "throw_expression", "control_transfer_statement",
})  # fmt: skip
_BLOCKS = frozenset({"block", "statement_block", "compound_statement", "statement_list", "statements"})
# What may follow a return: hoisted functions, goto targets, and idioms.
_REACHED = re.compile(
    r"function_declaration|function_signature|label|case|break_statement|empty_statement|preproc|else"
)
_YIELD = re.compile(rb"yield\b")  # Python: `return` and then `yield` makes an empty generator
_VARIABLE = re.compile(rb"^(_[A-Za-z]\w*)[ \t]*(?::[^=\n]{1,200})?=(?!=)", re.MULTILINE)


def dead_code(source: Source, language: str, *, elsewhere: Iterable[bytes] = ()) -> tuple[Finding, ...] | None:
    """The hints for one text; None if it does not parse.

    `elsewhere`: other texts of the project, which may use what is private to a package.
    """
    parsed = tree_of(source, language)
    if parsed is None or parsed.root.has_error:
        return None
    unused = list(_unused(parsed))
    if unused:
        known = set().union(*(_NAME.findall(data) for data in elsewhere))
        unused = [(name, span, what) for name, span, what in unused if name not in known]
    hints = [_hint(source, span, f"{what} `{name.decode()}` is used nowhere") for name, span, what in unused]
    hints += [_hint(source, span, "this is never reached") for span in _unreached(parsed)]
    return tuple(sorted(hints, key=lambda finding: finding.span))


def _hint(source: Source, span: Span, message: str) -> Finding:
    return Finding(
        span, message, kind="lint", severity=Severity.HINT, source=SOURCE, code=CODE, line=source.line_of(span.start)
    )


def _unused(parsed: Parsed) -> Iterator[tuple[bytes, Span, str]]:
    row = row_for(_PRIVATE, parsed.language, None)
    if row is None:
        return
    count = Counter(_NAME.findall(parsed.data))
    found = find(parsed)
    classes = [one for one in found if one.unit.kind == "class"]
    for one in found:
        name = one.unit.name.removeprefix("#").encode()
        if count[name] == 1 and row.is_private(parsed, one, _around(one, classes)):
            at = parsed.data.find(name, one.node.start_byte)
            yield name, Span(at, at + len(name)), f"the private {one.unit.kind}"
    for match in row.variables.finditer(parsed.data) if row.variables else ():
        if count[match[1]] == 1:
            yield match[1], Span(*match.span(1)), "the private variable"


def _around(one: UnitNode, classes: Iterable[UnitNode]) -> UnitNode | None:
    holding = [other for other in classes if other is not one and other.unit.span.contains(one.unit.span)]
    return min(holding, key=lambda other: other.unit.span.end - other.unit.span.start, default=None)


def _unreached(parsed: Parsed) -> Iterator[Span]:
    for node in captures(parsed, _ENDS):
        statement = node.parent if node.parent is not None and node.parent.type == "expression_statement" else node
        if statement.parent is None or statement.parent.type not in _BLOCKS:
            continue
        behind = _behind(statement)
        if behind is None or _REACHED.search(behind.type) or _YIELD.match(parsed.data, behind.start_byte):
            continue
        if not any("label" in later.type for later in statement.parent.named_children):
            yield parsed.span(behind)


def _behind(node: tree_sitter.Node) -> tree_sitter.Node | None:
    behind = node.next_named_sibling
    while behind is not None and "comment" in behind.type:
        behind = behind.next_named_sibling
    return behind


Private = Callable[[Parsed, UnitNode, "UnitNode | None"], bool]
"""True if a unit is for its own file alone. The argument is the class around it, None at top level."""


def _python(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    name = one.unit.name
    if not name.startswith("_") or name.startswith("__") or _is_decorated(one):
        return False
    # The base class may call the method.
    return around is None or around.node.child_by_field_name("superclasses") is None


def _is_decorated(one: UnitNode) -> bool:
    parent = one.node.parent
    return parent is not None and parent.type == "decorated_definition"


_MODULE = re.compile(rb"^(?:import|export)\b", re.MULTILINE)


def _ecmascript(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    if one.unit.name.startswith("#") or re.match(r"private\b", one.unit.signature):
        return one.unit.kind == "method" and one.unit.name != "constructor"
    exported = parsed.data[one.unit.span.start : one.unit.span.end].lstrip().startswith((b"export", b"@", b"/**"))
    is_top = "." not in one.unit.qualified and one.node.parent is not None and one.node.parent.type == "program"
    return is_top and not exported and bool(_MODULE.search(parsed.data))


def _marked(mark: str, *, unless: bytes = b"") -> Private:
    """Private by a word in the head; a framework may call annotated code."""
    word = re.compile(rf"(?:^|\s){mark}\s")

    def is_private(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
        head = parsed.data[one.unit.span.start : one.node.start_byte + 1]
        return (
            one.unit.kind != "class"
            and "@" not in one.unit.signature
            and b"[" not in head
            and bool(word.search(one.unit.signature))
            and (around is None or one.unit.name != around.unit.name)
            and not (unless and unless in parsed.data)
            and one.unit.name not in _CALLED_BY_THE_RUNTIME
        )

    return is_private


_CALLED_BY_THE_RUNTIME = frozenset({"readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData"})


def _c(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    return around is None and one.unit.kind == "function" and bool(re.match(r"static\b", one.unit.signature))


def _go(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    name = one.unit.name
    return one.unit.kind == "function" and name[:1].islower() and name not in ("main", "init")


def _rust(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    head = parsed.data[one.unit.span.start : one.node.start_byte]
    return (
        around is None
        and one.node.type == "function_item"
        and not re.search(r"\b(?:pub|extern)\b", one.unit.signature)
        and one.unit.name != "main"
        and b"#[" not in head
    )


def _lua(parsed: Parsed, one: UnitNode, around: UnitNode | None) -> bool:
    return one.unit.signature.startswith("local function")


@dataclass(frozen=True, slots=True)
class _Private:
    """What is for its own file alone in a language: units, and variables by the pattern of their definition."""

    is_private: Private
    variables: re.Pattern[bytes] | None = None


_PRIVATE: Mapping[str, _Private | None] = {
    "python": _Private(_python, _VARIABLE),
    "javascript": _Private(_ecmascript),
    "java": _Private(_marked("private")),
    "csharp": _Private(_marked("private", unless=b"partial ")),
    "kotlin": _Private(_marked("private")),
    "swift": _Private(_marked("private")),
    "php": _Private(_marked("private")),
    "c": _Private(_c),
    "go": _Private(_go),
    "rust": _Private(_rust),
    "lua": _Private(_lua),
}
"""Rows by language id; a language without one is only searched for unreachable code."""
