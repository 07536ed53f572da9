"""Code that seems unused: unreachable statements, and private names without another occurrence.

Hints, and few on purpose: a name that occurs twice, even in a comment or a string, counts as used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.metrics.language_table import language_row
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
    row = language_row(parsed.language)
    if row is None or row.is_private is None:
        return
    count = Counter(_NAME.findall(parsed.data))
    found = find(parsed)
    classes = [one for one in found if one.unit.kind == "class"]
    for one in found:
        name = one.unit.name.removeprefix("#").encode()
        if count[name] == 1 and row.is_private(parsed, one, _around(one, classes)):
            at = parsed.data.find(name, one.node.start_byte)
            yield name, Span(at, at + len(name)), f"the private {one.unit.kind}"
    for match in row.private_variables.finditer(parsed.data) if row.private_variables else ():
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
