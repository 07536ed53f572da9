"""A part of a Python text that an edit added or changed, and the text with an error planted in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from stet_ls.validators.ast_text import parse_module, unparse

Start = tuple[int, int]
"""The line, from 1, and the column at which a statement begins."""
Extent = tuple[int, int, int, int]
"""The line and the column at which an expression begins and ends."""


@dataclass(frozen=True, slots=True, eq=False)
class ChangedPart:
    """A function, a class or a variable that an edit added or changed.

    `name` is "" for code without one. `statements` are those of which one has to run: the lines of each, by its start,
    and none if its lines show nothing because other code shares them. `lazy` are expressions that hold all changes of
    their statement and need not be evaluated with it. `names`: if the part runs when the file is loaded, a test that
    uses one of them counts too. `new` are the statements among `statements` that were rewritten. `at` are the lines
    of a statement outside of functions, which has to have run itself when the file was loaded.
    """

    name: str
    statements: Mapping[Start, frozenset[int]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    new: frozenset[Start] = frozenset()
    lazy: frozenset[Extent] = frozenset()
    at: frozenset[int] = frozenset()

    @property
    def lines(self) -> frozenset[int]:
        """The lines of which one has to run."""
        return frozenset().union(*self.statements.values())

    @property
    def is_hidden(self) -> bool:
        """Whether some of it may run without a line that shows it."""
        return bool(self.lazy) or not all(self.statements.values())


def with_error(text: str, part: ChangedPart, word: str) -> str | None:
    """The text with an error of that word before each statement of a part; None if none can be placed."""
    if not part.statements and not part.lazy:
        return None
    try:
        tree = parse_module(text)
        _ErrorPlanter(part, word).generic_visit(tree)
        return unparse(ast.fix_missing_locations(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def start_of(node: ast.stmt) -> Start:
    """Where a statement begins."""
    return node.lineno, node.col_offset


def extent_of(node: ast.expr) -> Extent:
    """Where an expression begins and ends."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


class _ErrorPlanter(ast.NodeTransformer):
    """Places an error before statements, and in place of expressions. The error is `SystemExit`, so that code which
    catches every `Exception` does not hide it.
    """

    def __init__(self, part: ChangedPart, word: str) -> None:
        self._starts, self._lazy = part.statements.keys(), part.lazy
        self._word = word

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        """A statement with the error before it; any other node with its children visited."""
        if isinstance(node, ast.expr) and extent_of(node) in self._lazy:
            leaves = ast.Attribute(ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant("sys")], []), "exit")
            return ast.Call(leaves, [ast.Constant(self._word)], [])
        self.generic_visit(node)
        if not isinstance(node, ast.stmt) or start_of(node) not in self._starts:
            return node
        error = ast.Call(ast.Name("SystemExit", ast.Load()), [ast.Constant(self._word)], [])
        return [ast.Raise(error), node]
