"""One form of a Python function: two with the same one do the same for all inputs, in the same module.

What is left out must not say what a function is: a name belongs to a function that binds it anywhere, and one with
`yield` is a generator. Where it does, the function stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from stet_ls.engine.execution.python.equal_forms.blocks import Blocks, Origins
from stet_ls.engine.execution.python.equal_forms.expressions import Expressions
from stet_ls.engine.execution.python.equal_forms.local_names import rename
from stet_ls.engine.execution.python.equal_forms.scopes import FunctionKind, ModuleNames, UnitNames
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import is_text, statements
from stet_ls.validators.ast_text import dump

_PLAIN_DECORATORS = frozenset({
    "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "cache", "lru_cache", "wraps",
    "contextmanager", "override", "setter", "getter", "deleter", "final",
})  # fmt: skip
"""The decorators that do not read type hints."""
_HINTS = (ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.Load)


def written_alike(one: ast.Module, other: ast.Module) -> frozenset[str]:
    """The statements of two modules, and those of classes in them, that stand in both, as text."""
    return frozenset(_alike(one.body, other.body))


def _alike(one: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> Iterator[str]:
    first, second = ({dump(each): each for each in body} for body in (one, other))
    yield from first.keys() & second.keys()
    left = [
        [node for text, node in own.items() if text not in others] for own, others in ((first, second), (second, first))
    ]
    members = [[each for node in side if isinstance(node, ast.ClassDef) for each in node.body] for side in left]
    if all(members):
        yield from _alike(*members)


def canonical(node: ast.stmt, module: ModuleNames, common: Set[str] = frozenset()) -> ast.stmt:
    """The one form of a function or a class; any other statement as it is, and so are those with a `common` text."""
    return _written(node, _Writing(module, common, {}, joining=True, renaming=True))


def canonical_statements(
    node: ast.stmt, module: ModuleNames, common: Set[str] = frozenset(), *, joining: bool
) -> Sequence[tuple[ast.stmt, tuple[ast.stmt, ...]]]:
    """The statements of the form of a statement, each with those of the text that it stands for.

    Local variables keep their names, and without `joining` each stands for one.
    """
    writing = _Writing(module, common, {}, joining=joining, renaming=False)
    made = _written(node, writing)
    return [(each, writing.origins.get(each, ())) for each in statements(made)]


@dataclass(frozen=True, slots=True)
class _Writing:
    """How a statement is written: what its names refer to, what stays as it is, and how far its form goes."""

    module: ModuleNames
    common: Set[str]
    origins: Origins
    joining: bool
    renaming: bool


def _written(node: ast.stmt, how: _Writing) -> ast.stmt:
    if how.common and dump(node) in how.common:
        how.origins.update((each, (each,)) for each in statements(node))
        return node
    if isinstance(node, ast.ClassDef):
        own = [each for each in node.body if how.module.reads_documentation or not is_text(each)]
        made = copy.copy(node)
        how.origins[made] = (node,)
        made.body = [_written(each, how) for each in own]
        return made
    return _function(node, how) if isinstance(node, Function) else _copied(node, how.origins)


def _function(node: ast.stmt, how: _Writing) -> ast.stmt:
    made = _copied(node, how.origins)
    names, functions = UnitNames.of(made, how.module), [each for each in ast.walk(made) if isinstance(each, Function)]
    kinds = [FunctionKind.of(each) for each in functions]
    _Plain(how.origins, names).visit(made)
    expressions = Expressions(names)
    for each in functions[0].body:
        expressions.visit(each)
    Blocks(names, expressions, how.origins, joining=how.joining).write(functions[0])
    if not all(kind.is_kept(each) for kind, each in zip(kinds, functions, strict=True)):
        return _copied(node, how.origins)
    rename(made, names, of_functions=how.renaming)
    return made


def _copied(node: ast.stmt, origins: Origins) -> ast.stmt:
    """A copy without prefixes of texts."""
    memo: dict[int, Any] = {}
    made = copy.deepcopy(node, memo)
    for each in ast.walk(node):
        if isinstance(each, ast.stmt):
            origins[memo[id(each)]] = (each,)
    for each in ast.walk(made):
        if isinstance(each, ast.Constant):
            each.kind = None
    return made


class _Plain(ast.NodeTransformer):
    """Leaves out type hints in functions, and `None` after `return`."""

    def __init__(self, origins: Origins, names: UnitNames) -> None:
        self._origins, self._names = origins, names
        self._depth, self._in_class = 0, False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self._in_class = self._in_class, True
        self.generic_visit(node)
        self._in_class = outer
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        hinted = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        hints = [*(each.annotation for each in hinted), node.returns]
        if all(_name(each) in _PLAIN_DECORATORS for each in node.decorator_list) and (
            not self._depth or self._names.module.defers_hints or all(map(self._is_known, hints))
        ):
            node.returns = None
            for each in hinted:
                each.annotation = None
        outer = self._depth, self._in_class
        self._depth, self._in_class = self._depth + 1, False
        self.generic_visit(node)
        self._depth, self._in_class = outer
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if self._in_class or (node.value is None and not isinstance(node.target, ast.Name)):
            return node
        made = ast.Assign([node.target], node.value) if node.value else ast.Pass()
        self._origins[made] = self._origins.get(node, ())
        return made

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            node.value = None
        return self.generic_visit(node)

    def _is_known(self, hint: ast.expr | None) -> bool:
        """Whether evaluating a hint does nothing: it runs wherever an inner function is made."""
        parts = list(ast.walk(hint)) if hint else []
        named = (each.id for each in parts if isinstance(each, ast.Name))
        return all(isinstance(each, _HINTS) for each in parts) and all(map(self._names.is_there, named))


def _name(node: ast.expr) -> str:
    """The last name of a decorator."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
