"""Small deliberate bugs in a JavaScript or TypeScript unit, of the kinds that Python's mutants have.

Each comparison is also replaced by either result: in a measurement (docs/quality.md), these are the bugs that show that
nothing tests one side of a condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import text_of
from stet_ls.validators.source import Source, Span, Splice

if TYPE_CHECKING:
    import tree_sitter

_OTHER = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "**": "*", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===", "==": "!=", "!=": "==", "&&": "||",
    "||": "&&", "??": "&&", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=",
}  # fmt: skip
"""What stands in place of an operator."""
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "===", "!==", "==", "!=", "in", "instanceof"})
_OPERATIONS = frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"})
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_CONDITIONS = frozenset({"if_statement", "ternary_expression", *_LOOPS})
_REMOVED = frozenset({"expression_statement", "break_statement", "continue_statement", "throw_statement"})
_NO_CODE = frozenset({
    "import_statement", "type_annotation", "interface_declaration", "type_alias_declaration", "decorator", "comment",
    "type_arguments", "type_parameters",
})  # fmt: skip
_Edit = tuple["tree_sitter.Node", str, str]
"""A node, what stands in its place, and the change in words."""


def script_mutants_of(text: str, language: str, unit: str, most: int) -> list[Mutant]:
    """At most `most` mutants of a unit, of a whole text if none is named; the same for the same unit."""
    module = read_module(text, language)
    found = module.found.get(unit) if module is not None else None
    if module is None or (unit and found is None):
        return []
    source, made = Source(text), dict[str, Mutant]()
    for node, new, change in _edits_below(found.node if found is not None else module.parsed.root):
        mutant = source.splice([Splice(Span(node.start_byte, node.end_byte), new)]).text
        made.setdefault(mutant, Mutant(mutant, change, node.start_point[0] + 1))
    chosen = [*made.values()]
    Random(0).shuffle(chosen)  # noqa: S311 - the choice must be the same each time
    return chosen[:most]


def _edits_below(node: tree_sitter.Node) -> Iterator[_Edit]:
    if node.type not in _NO_CODE:
        for made in (_operators, _constants, _conditions, _statements):
            yield from made(node)
        for child in node.named_children:
            yield from _edits_below(child)


def _operators(node: tree_sitter.Node) -> Iterator[_Edit]:
    operator = node.child_by_field_name("operator") if node.type in _OPERATIONS else None
    if operator is not None and operator.type in _OTHER:
        yield operator, _OTHER[operator.type], f"`{operator.type}` became `{_OTHER[operator.type]}`"
    if operator is not None and operator.type in _COMPARISONS:
        yield from _as_constants(node)


def _constants(node: tree_sitter.Node) -> Iterator[_Edit]:
    text = text_of(node)
    if node.type == "number" and text.isdigit():
        for new in (int(text) + 1, int(text) - 1):
            yield node, str(new) if new >= 0 else f"({new})", f"{text} became {new}"
    elif node.type in ("true", "false"):
        new_truth = "false" if text == "true" else "true"
        yield node, new_truth, f"{text} became {new_truth}"
    elif node.type == "string":
        yield node, f"{text[:-1]}x{text[-1]}", f"{text} became {text[:-1]}x{text[-1]}"


def _conditions(node: tree_sitter.Node) -> Iterator[_Edit]:
    test = node.child_by_field_name("condition") if node.type in _CONDITIONS else None
    if test is not None and test.type in ("parenthesized_expression", "expression_statement"):
        test = test.named_children[0] if test.named_children else None
    if test is None:
        return
    yield test, f"!({text_of(test)})", "condition negated"
    if test.type != "binary_expression":
        yield from _as_constants(test)


def _as_constants(test: tree_sitter.Node) -> Iterator[_Edit]:
    """A condition that is always true or always false; one of a loop does not become always true."""
    above = test.parent
    while above is not None and above.type in ("parenthesized_expression", "expression_statement", "binary_expression"):
        above = above.parent
    if above is None or above.type not in _LOOPS:
        yield test, "true", f"`{text_of(test)}` is always true"
    yield test, "false", f"`{text_of(test)}` is always false"


def _statements(node: tree_sitter.Node) -> Iterator[_Edit]:
    is_header = node.parent is not None and node.parent.type == "for_statement"
    if node.type == "return_statement" and node.named_children:
        yield node.named_children[0], "undefined", "returns undefined"
    elif node.type in _REMOVED and not (is_header and node.type == "expression_statement"):
        yield node, ";", f"removed `{text_of(node).splitlines()[0]}`"
