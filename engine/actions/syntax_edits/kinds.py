"""The one table of operators behind mutants and repairs, in Python and in JavaScript and TypeScript.

A row is asked about every node of a function. `table.py` has the words that it puts in place of others.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Flag, auto
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits import expressions, script_expressions, script_statements, statements
from stet_ls.engine.actions.syntax_edits.edit import EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.script import EditedScript

if TYPE_CHECKING:
    import tree_sitter


class Use(Flag):
    """What the edits of a row serve as: deliberate bugs that tests should detect, or repairs that the search tries."""

    MUTANT = auto()
    REPAIR = auto()
    BOTH = MUTANT | REPAIR


@dataclass(frozen=True, slots=True)
class EditKind:
    """One kind of edit.

    use: Whether it makes mutants, repairs or both; not each edit of a kind that serves as both has to be both.
    python: The edits of a node of Python.
    script: The edits of a node of JavaScript or TypeScript.
    """

    name: str
    use: Use
    python: Callable[[EditedFunction, ast.AST], Iterator[SyntaxEdit]]
    script: Callable[[EditedScript, tree_sitter.Node], Iterator[SyntaxEdit]]


_E, _S, _SE, _SS = expressions, statements, script_expressions, script_statements
KINDS = (
    EditKind("operators", Use.BOTH, _E.operators, _SE.operators),  # another operator, comparison or connective
    EditKind("constants", Use.BOTH, _E.constants, _SE.constants),  # another number, text or truth value
    EditKind("names", Use.REPAIR, _E.names, _SE.names),  # another variable, method or property
    EditKind("calls", Use.REPAIR, _E.calls, _SE.calls),  # other arguments, a missing await
    EditKind("orders", Use.REPAIR, _E.orders, _SE.orders),  # operands, items or branches swapped
    EditKind("parts", Use.REPAIR, _E.parts, _SE.parts),  # a part in place of the whole
    EditKind("bounds", Use.REPAIR, _E.bounds, _SE.bounds),  # off by one
    EditKind("wraps", Use.REPAIR, _E.wraps, _SE.wraps),  # a call or a copy that is missing around a value
    EditKind("conditions", Use.BOTH, _E.conditions, _SE.conditions),  # a condition negated
    EditKind("decided", Use.MUTANT, _E.decided, _SE.decided),  # a condition always true or always false
    EditKind("removals", Use.BOTH, _S.removals, _SS.removals),  # a statement removed
    EditKind("returns", Use.BOTH, _S.returns, _SS.returns),  # a return added, or of something else
    EditKind("swaps", Use.REPAIR, _S.swaps, _SS.swaps),  # two statements in the other order
    EditKind("moves", Use.REPAIR, _S.moves, _SS.moves),  # a statement moved to another level
    EditKind("branches", Use.REPAIR, _S.branches, _SS.branches),  # another way on: break, continue, else
    EditKind("defaults", Use.REPAIR, _S.defaults, _SS.defaults),  # a default that all calls share
)
