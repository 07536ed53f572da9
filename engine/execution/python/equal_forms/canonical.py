"""One form of a Python function: two with the same one do the same for all inputs, in the same module.

What is left out must not say what a function is: a name belongs to a function that binds it anywhere, and one with
`yield` is a generator. Where it does, the function stays as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from stet_ls.engine.execution.python.equal_forms.blocks import Blocks, Origins
from stet_ls.engine.execution.python.equal_forms.expressions import Expressions
from stet_ls.engine.execution.python.equal_forms.local_names import rename
from stet_ls.engine.execution.python.equal_forms.scopes import FunctionKind, ModuleNames, UnitNames
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import is_text, statements

_PLAIN_DECORATORS = frozenset({
    "staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "cache", "lru_cache", "wraps",
    "contextmanager", "override", "setter", "getter", "deleter", "final",
})  # fmt: skip
"""The decorators that do not read type hints."""
_HINTS = (ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.Load)


def canonical(node: ast.stmt, module: ModuleNames) -> ast.stmt:
    """The one form of a function or a class; any other statement as it is, without prefixes of its texts."""
    return _written(node, module, {}, joining=True, renaming=True)


def canonical_statements(
    node: ast.stmt, module: ModuleNames, *, joining: bool
) -> Sequence[tuple[ast.stmt, tuple[ast.stmt, ...]]]:
    """The statements of the form of a statement, each with those of the text that it stands for.

    Local variables keep their names, and without `joining` each stands for one.
    """
    origins: Origins = {}
    made = _written(node, module, origins, joining=joining, renaming=False)
    return [(each, origins.get(each, ())) for each in statements(made)]


def _written(node: ast.stmt, module: ModuleNames, origins: Origins, *, joining: bool, renaming: bool) -> ast.stmt:
    made = _copied(node, origins)
    if isinstance(made, ast.ClassDef) and isinstance(node, ast.ClassDef):
        own = [each for each in node.body if module.reads_documentation or not is_text(each)]
        made.body = [_written(each, module, origins, joining=joining, renaming=renaming) for each in own]
    elif isinstance(made, Function):
        names, functions = UnitNames.of(made, module), [each for each in ast.walk(made) if isinstance(each, Function)]
        kinds = [FunctionKind.of(each) for each in functions]
        _Plain(origins, names).visit(made)
        expressions = Expressions(names)
        for each in made.body:
            expressions.visit(each)
        Blocks(names, expressions, origins, joining=joining).write(made)
        if not all(kind.is_kept(each) for kind, each in zip(kinds, functions, strict=True)):
            return _copied(node, origins)
        rename(made, names, of_functions=renaming)
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
