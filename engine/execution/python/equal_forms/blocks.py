"""The rules for statements: each writes a block of them in another form that does the same."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from stet_ls.engine.execution.python.equal_forms.expressions import Expressions
from stet_ls.engine.execution.python.equal_forms.scopes import UnitNames
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.engine.execution.python.statements import is_text

Origins = dict[ast.stmt, tuple[ast.stmt, ...]]
"""The statements of a text that each statement of its other form stands for."""
Rule = Callable[[Sequence[ast.stmt]], list[ast.stmt]]
_ENDS = ast.Return | ast.Raise | ast.Continue | ast.Break
_BLOCKS = ("body", "orelse", "finalbody")


class Blocks:
    """Writes the blocks of a function in one form; not `joining`, only what never runs is left out."""

    def __init__(self, names: UnitNames, expressions: Expressions, origins: Origins, *, joining: bool) -> None:
        self._names, self._expressions, self._origins, self._joining = names, expressions, origins, joining
        self._returned_names: frozenset[str] = frozenset()

    def write(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Rewrites a function and those in it."""
        self._rewrite(node, self._executed)
        if not self._joining:
            return
        self._rewrite(node, self._joined)
        for each in ast.walk(node):
            if isinstance(each, Function):
                each.body = _without_last_return(each.body) or [ast.Pass()]
        self._returned_names = frozenset() if self._names.is_reflective else frozenset(_only_returned(node))
        self._rewrite(node, self._with_values)

    def _rewrite(self, node: ast.AST, rule: Rule) -> None:
        """Applies a rule to all blocks in a node, the innermost first."""
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case):
                self._rewrite(each, rule)
        for name, block in _blocks(node):
            setattr(node, name, rule(block) or ([ast.Pass()] if name == "body" else []))

    def _executed(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """`if True: a`, also for a version: `a`; nothing for `pass`, nor for a text that is a statement."""
        found: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.If) and isinstance(node.test, ast.Constant) and isinstance(node.test.value, bool):
                found += node.body if node.test.value else node.orelse
            elif not self._is_idle(node):
                found.append(node)
        return found

    def _is_idle(self, node: ast.stmt) -> bool:
        is_read = self._names.module.reads_documentation
        return (is_text(node) and not is_read) or (self._joining and isinstance(node, ast.Pass))

    def _joined(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """`if a: if b: c`: `if a and b: c`; `else` after a branch that ends: what comes next."""
        found: list[ast.stmt] = []
        for node in body:
            found.append(node)
            if isinstance(node, ast.If) and isinstance(node.body[-1], _ENDS):
                found += node.orelse
                node.orelse = []
            match node:
                case ast.If(body=[ast.If(orelse=[]) as inner], orelse=[]):
                    node.test = self._expressions.simplified(ast.BoolOp(ast.And(), [node.test, inner.test]))
                    node.body = inner.body
                    self._take(node, node, inner)
        return found

    def _with_values(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """`x = e; return x`, with no other `x`: `return e`; `if a: return b; return c`: `return b if a else c`."""
        found: list[ast.stmt] = []
        for node in reversed(body):
            after = found[0] if found else None
            match node, after:
                case (ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Return(value=ast.Name(id=other))) if (
                    name == other and name in self._returned_names and self._names.is_local(name)
                ):
                    found[0] = self._take(ast.Return(value), node, after)
                case ast.If(test=test, body=[ast.Return() as first], orelse=[]), ast.Return():
                    values = (each.value or ast.Constant(None) for each in (first, after))
                    value = self._expressions.simplified(ast.IfExp(test, *values))
                    found[0] = self._take(ast.Return(value), node, first, after)
                case _:
                    found.insert(0, node)
        return found

    def _take(self, made: ast.stmt, *others: ast.stmt) -> ast.stmt:
        """A statement that stands for others."""
        own = [origin for each in others for origin in self._origins.get(each, ())]
        self._origins[made] = tuple(dict.fromkeys(own))
        return made


def _blocks(node: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The blocks directly in a node, by the name of their field."""
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield name, block


def _without_last_return(body: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a function without the `return` at its end, also in the branches of its last statement."""
    while body and isinstance(body[-1], ast.Return) and body[-1].value is None:
        body = body[:-1]
    if body and isinstance(last := body[-1], ast.If):
        last.body = _without_last_return(last.body) or [ast.Pass()]
        last.orelse = _without_last_return(last.orelse)
    return body


def _only_returned(node: ast.AST) -> Iterator[str]:
    """The names that occur in nothing but `x = e; return x`."""
    used = Counter(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    pairs = Counter[str]()
    for owner in ast.walk(node):
        for _, block in _blocks(owner):
            for one, other in pairwise(block):
                match one, other:
                    case ast.Assign(targets=[ast.Name(id=name)]), ast.Return(value=ast.Name(id=same)) if name == same:
                        pairs[name] += 1
    return (name for name, count in pairs.items() if used[name] == 2 * count)
