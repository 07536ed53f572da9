"""Names of a function's own, whose spelling nothing outside of it sees, in the order in which they occur.

Parameters keep their names, since callers may give them by name; so do imports, functions and classes, which know
theirs, and all that a `global`, a `nonlocal` or a class binds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stet_ls.engine.execution.python.equal_forms.scopes import UnitNames, bound_in, origins, parameter_names
from stet_ls.engine.execution.python.inputs.subject import Function

_BY_POSITION = frozenset({
    "map", "filter", "sorted", "min", "max", "sort", "reduce", "sub", "subn", "groupby", "takewhile", "dropwhile",
    "starmap", "accumulate", "filterfalse", "nlargest", "nsmallest",
})  # fmt: skip
"""The functions that call what they are given by position: of a lambda for these the parameters may have any names."""


def rename(node: ast.AST, names: UnitNames, *, of_functions: bool) -> None:
    """Renames the variables of comprehensions and lambdas in a function; `of_functions`, also those of functions."""
    if not names.is_reflective:
        _Renamer({*names.shared, *_fixed(node)}, of_functions=of_functions).visit(node)


def _fixed(node: ast.AST) -> Iterator[str]:
    """The names that others see."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import | ast.ImportFrom):
            yield from (name for name, _ in origins(each))
        elif isinstance(each, Function | ast.ClassDef):
            yield each.name
            yield from bound_in(each) if isinstance(each, ast.ClassDef) else ()


class _Renamer(ast.NodeTransformer):
    """Each scope on the stack has the names that it binds, with the new ones of those that occurred so far."""

    def __init__(self, fixed: set[str], *, of_functions: bool) -> None:
        self._fixed, self._of_functions = fixed, of_functions
        self._scopes: list[dict[str, str]] = []
        self._lambdas: set[ast.Lambda] = set()

    def _new(self, name: str) -> str:
        for depth in reversed(range(len(self._scopes))):
            scope = self._scopes[depth]
            if name in scope:
                if not scope[name]:
                    scope[name] = f"local#{depth}.{sum('#' in each for each in scope.values())}"
                return scope[name]
        return name

    def _enter(self, bound: set[str], kept: set[str]) -> None:
        own = {each for each in bound if each in self._fixed or each.startswith("__")} | kept
        self._scopes.append({each: each if each in own else "" for each in bound})

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new(node.id)
        return node

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> ast.AST:
        node.name = self._new(node.name) if node.name else node.name
        self.generic_visit(node)
        return node

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = _named

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        node.rest = self._new(node.rest) if node.rest else node.rest
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _BY_POSITION:
            given = (*node.args, *(each.value for each in node.keywords))
            self._lambdas.update(each for each in given if isinstance(each, ast.Lambda) and _is_plain(each.args))
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._visit_all(node.args.defaults, node.args.kw_defaults)
        self._enter(bound_in(node), set() if node in self._lambdas else {*parameter_names(node.args)})
        for each in node.args.args if node in self._lambdas else ():
            each.arg = self._new(each.arg)
        self.visit(node.body)
        self._scopes.pop()
        return node

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._visit_all(node.decorator_list, node.args.defaults, node.args.kw_defaults)
        bound = bound_in(node)
        self._enter(bound, {*parameter_names(node.args)} if self._of_functions else bound)
        self._visit_all(node.body)
        self._scopes.pop()
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _visit_comprehension(self, node: Any) -> ast.AST:
        made: ast.AST = node
        first = node.generators[0]
        self.visit(first.iter)
        self._enter(bound_in(node), set())
        for each in ast.iter_child_nodes(node):
            if each is not first:
                self.visit(each)
        self._visit_all([first.target], first.ifs)
        self._scopes.pop()
        return made

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def _visit_all(self, *groups: Any) -> None:
        for each in (node for group in groups for node in group if node is not None):
            self.visit(each)


def _is_plain(node: ast.arguments) -> bool:
    others = (*node.posonlyargs, *node.kwonlyargs, *node.defaults, node.vararg, node.kwarg)
    return not any(others)
