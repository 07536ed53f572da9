"""The conditions that a change adds to a unit, each held false once, and the literals that tests pass to it: those of
JavaScript and TypeScript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.engine.actions.generated_tests.mutants import Mutant, mutants_by
from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.script import EditedScript
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

_HOLDING = frozenset({"if_statement", "while_statement", "ternary_expression"})
_LITERALS = frozenset({"number", "string", "template_string", "unary_expression"})
_USUAL = frozenset({"0", "1", "-1", "''", '""', "``"})
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_SPACE = re.compile(r"\s+")


def without_script_conditions(before: str, after: str, language: str, unit: str) -> list[Mutant]:
    """The texts in which one new condition of a unit never holds, or always if it excludes values. Only conditions with
    a literal that is not a usual one, or with a constant. Parses.
    """
    module, old = read_module(after, language), tree_of(Source(before), language)
    found = module.found.get(unit) if module is not None else None
    if found is None:
        return []
    source = Source(after)
    code = EditedScript(source, found.node)
    known = {_plain(Source(before).slice(code.span(each))) for each in _conditions(old.root)} if old else set[str]()

    def edits() -> Iterator[SyntaxEdit]:
        for each in _conditions(found.node):
            if _plain(code.text(each)) not in known and _names_value(code, each):
                text = "true" if _excludes(each) else "Symbol()" if _is_case(each) else "false"
                text = f"({text})" if each.type == "parenthesized_expression" else text
                shown = code.text(each).removeprefix("(").removesuffix(")") if text[0] == "(" else code.text(each)
                yield code.replaced(each, text, UNLIKELY, short_text(shown), mutates=True)

    return mutants_by(source, edits())


def given_script_literals(callee: str, text: str, language: str) -> frozenset[str]:
    """The literals that a text of tests passes to a function, whole and by their parts, as they are written. Parses."""
    parsed = tree_of(Source(text), language)
    if parsed is None:
        return frozenset()
    calls = (each for each in _below(parsed.root) if each.type == "call_expression")
    given = (
        arguments
        for each in calls
        if (called := each.child_by_field_name("function")) is not None
        and parsed.text(called).rpartition(".")[2] == callee
        and (arguments := each.child_by_field_name("arguments")) is not None
    )
    return frozenset(parsed.text(part) for each in given for part in _below(each) if part.type in _LITERALS)


def _conditions(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for each in _below(node):
        field = "condition" if each.type in _HOLDING else "value" if each.type == "switch_case" else ""
        if field and (held := each.child_by_field_name(field)) is not None:
            yield held


def _names_value(code: EditedScript, condition: tree_sitter.Node) -> bool:
    return any(
        (each.type in _LITERALS and code.text(each) not in _USUAL)
        or (each.type == "identifier" and _CONSTANT.fullmatch(code.text(each)) is not None)
        for each in _below(condition)
    )


def _excludes(condition: tree_sitter.Node) -> bool:
    """Whether a condition is one that all but a few values meet: `x !== 10`."""
    inner = condition.named_children[0] if condition.type == "parenthesized_expression" else condition
    operator = inner.child_by_field_name("operator")
    return inner.type == "binary_expression" and operator is not None and operator.type in ("!==", "!=")


def _is_case(condition: tree_sitter.Node) -> bool:
    return condition.parent is not None and condition.parent.type == "switch_case"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text)


def _below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.named_children:
        yield from _below(child)
