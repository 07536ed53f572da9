"""The rules for expressions: each gives another form of an expression that evaluates alike, or None.

They are applied from the innermost expression outwards until none fits, so that both forms end as the same one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import TypeGuard

from stet_ls.engine.execution.python.equal_forms.formats import numbered_fields
from stet_ls.engine.execution.python.equal_forms.patterns import with_pattern
from stet_ls.engine.execution.python.equal_forms.scopes import UnitNames
from stet_ls.engine.execution.python.equal_forms.versions import version_answer
from stet_ls.validators.ast_text import dump

Rule = Callable[[ast.expr, UnitNames], ast.expr | None]
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.In: ast.NotIn, ast.Is: ast.IsNot}
_ASKING = frozenset({"isinstance", "issubclass", "callable", "hasattr", "bool", "any", "all"})
"""Builtin functions that give True or False."""
_UTF8 = frozenset({"utf8", "utf-8", "utf_8"})
_EMPTY: dict[str, Callable[[], ast.expr]] = {
    "list": lambda: ast.List([], ast.Load()),
    "dict": lambda: ast.Dict([], []),
    "tuple": lambda: ast.Tuple([], ast.Load()),
}
_BINDING = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


class Expressions(ast.NodeTransformer):
    """Writes all expressions of a tree in one form."""

    def __init__(self, names: UnitNames) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        """The node in its form; statements are kept, with their expressions in their forms."""
        self.generic_visit(node)
        return self.simplified(node) if isinstance(node, ast.expr) else node

    def simplified(self, node: ast.expr) -> ast.expr:
        """An expression whose parts have their forms, in its own."""
        while (other := next(filter(None, (rule(node, self._names) for rule in RULES)), None)) is not None:
            node = other
            self.generic_visit(node)
        return node


def _version_test(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """A test of Python's version: its answer, where every Python from 3.8 on gives the same."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return None
    answer = version_answer(node, names)
    return None if answer is None else ast.Constant(answer)


def _fixed_condition(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`a if True else b`: `a`."""
    del names
    if not isinstance(node, ast.IfExp) or not _is_fixed(node.test):
        return None
    kept, left = (node.body, node.orelse) if node.test.value else (node.orelse, node.body)
    return kept if _is_removable([left]) else None


def _fixed_operand(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`True and a`: `a`; `False and a`: `False`; the same for `or`."""
    del names
    if not isinstance(node, ast.BoolOp):
        return None
    for number, each in enumerate(node.values[:-1]):
        if not _is_fixed(each):
            continue
        if each.value is isinstance(node.op, ast.And):
            return _joined(node.op, [*node.values[:number], *node.values[number + 1 :]])
        if _is_removable(node.values[number + 1 :]):
            return _joined(node.op, node.values[: number + 1])
    return None


def _fixed_negation(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`not True`: `False`."""
    del names
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and _is_fixed(node.operand):
        return ast.Constant(not node.operand.value)
    return None


def _nested_operands(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`a and (b and c)`: `a and b and c`."""
    del names
    if not isinstance(node, ast.BoolOp) or not any(_is_same_operation(each, node.op) for each in node.values):
        return None
    parts = [each.values if _is_same_operation(each, node.op) else [each] for each in node.values]
    return ast.BoolOp(node.op, [each for part in parts for each in part])


def _several_kinds(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`isinstance(x, A) or isinstance(x, B)`: `isinstance(x, (A, B))`.

    The tuple evaluates B even for an A, so that reading B must not fail: `unicode` does.
    """
    if not isinstance(node, ast.BoolOp) or not isinstance(node.op, ast.Or):
        return None
    for number, (one, other) in enumerate(zip(node.values, node.values[1:], strict=False)):
        if (
            isinstance(one, ast.Call) and isinstance(other, ast.Call)
            and _asks_kind(one, names) and _asks_kind(other, names) and dump(one.args[0]) == dump(other.args[0])
        ):  # fmt: skip
            kinds = ast.Tuple([*_kinds(one), *_kinds(other)], ast.Load())
            joined = ast.Call(one.func, [one.args[0], kinds], [])
            return _joined(node.op, [*node.values[:number], joined, *node.values[number + 2 :]])
    return None


def _chained(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`a <= x <= b`: `a <= x and x <= b`, where reading `x` twice gives the same."""
    if not isinstance(node, ast.Compare) or len(node.ops) < 2 or not _is_repeatable(node.comparators[0], names):
        return None
    first = ast.Compare(node.left, node.ops[:1], [copy.deepcopy(node.comparators[0])])
    return ast.BoolOp(ast.And(), [first, ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])])


def _constant_left(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`0 <= x`: `x >= 0`. A constant knows only its own kind, so that the other side decides in both forms."""
    del names
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or type(node.ops[0]) not in _FLIPPED:
        return None
    left, right = node.left, node.comparators[0]
    if not _is_plain_constant(left) or _is_plain_constant(right):
        return None
    return ast.Compare(right, [_FLIPPED[type(node.ops[0])]()], [left])


def _negated(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`not a in b`: `a not in b`; not so for `==`, which need not be the opposite of `!=`."""
    del names
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(left=left, ops=[op], comparators=[right])):
            return ast.Compare(left, [_NEGATED[type(op)]()], [right]) if type(op) in _NEGATED else None
    return None


def _truth(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`True if a else False`: `bool(a)`; `False if a else True`: `not a`."""
    if not isinstance(node, ast.IfExp) or not _is_fixed(node.body) or not _is_fixed(node.orelse):
        return None
    if node.body.value and not node.orelse.value and names.is_builtin("bool"):
        return ast.Call(ast.Name("bool", ast.Load()), [node.test], [])
    return ast.UnaryOp(ast.Not(), node.test) if not node.body.value and node.orelse.value else None


def _truth_of_truth(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`bool(a is b)`: `a is b`."""
    match node:
        case ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]) if names.is_builtin("bool"):
            return value if _is_truth(value, names) else None
    return None


def _default_encoding(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`x.encode("utf-8")`: `x.encode()`, not for a function of a module, nor for a column of texts (`x.str`)."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=value, attr="encode" | "decode") as func,
            args=[ast.Constant(value=str(encoding))], keywords=[],
        ):  # fmt: skip
            is_text = not (isinstance(value, ast.Attribute) and value.attr == "str")
            is_value = not (isinstance(value, ast.Name) and _is_of_module(value.id, names))
            return ast.Call(func, [], []) if is_text and is_value and encoding.lower() in _UTF8 else None
    return None


def _empty_collection(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`list()`: `[]`."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in _EMPTY and names.is_builtin(name):
            return _EMPTY[name]()
    return None


def _named_items(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`dict(a=1)`: `{"a": 1}`. Names with two underscores may be changed by their class."""
    if not (isinstance(node, ast.Call) and _calls(node, "dict", names) and not node.args and node.keywords):
        return None
    keys = [each.arg for each in node.keywords if each.arg and not each.arg.startswith("__")]
    if len(keys) < len(node.keywords):
        return None
    return ast.Dict([ast.Constant(each) for each in keys], [each.value for each in node.keywords])


def _set_of_list(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`set([a, b])`: `{a, b}`; with `*a`, elements are added before others are evaluated."""
    match node:
        case ast.Call(func=ast.Name(id="set"), args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]):
            if not names.is_builtin("set") or any(isinstance(each, ast.Starred) for each in items):
                return None
            return ast.Set(items) if items else ast.Call(ast.Name("set", ast.Load()), [], [])
    return None


def _comprehension(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`dict((k, v) for ...)`: `{k: v for ...}`, and the same for `set` and `list`.

    In a generator a StopIteration becomes another error, hence none that calls `next`; nor has it its class (`super`).
    """
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as made], keywords=[]):
            if not names.is_builtin(name) or names.is_reflective or _may_stop(made):
                return None
            pair = made.elt.elts if isinstance(made.elt, ast.Tuple) else ()
            if name == "dict" and len(pair) == 2 and not any(isinstance(each, ast.Starred) for each in pair):
                return ast.DictComp(pair[0], pair[1], made.generators)
            if name in ("list", "set"):
                kind = ast.ListComp if name == "list" else ast.SetComp
                return kind(made.elt, made.generators)
    return None


def _format_fields(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`"{}{}".format(a, b)`: `"{0}{1}".format(a, b)`."""
    del names
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            numbered = numbered_fields(text)
            if numbered is None or numbered == text:
                return None
            return ast.Call(ast.Attribute(ast.Constant(numbered), "format", ast.Load()), node.args, node.keywords)
    return None


RULES: Sequence[Rule] = (
    _version_test, _fixed_condition, _fixed_operand, _fixed_negation, _nested_operands, _several_kinds, _chained,
    _constant_left, _negated, _truth, _truth_of_truth, _default_encoding, _empty_collection, _named_items,
    _set_of_list, _comprehension, _format_fields, with_pattern,
)  # fmt: skip
"""All rules for expressions."""


def _is_fixed(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_removable(nodes: Sequence[ast.expr]) -> bool:
    """Whether expressions that are never evaluated say nothing about their function: what it binds, what it is."""
    return not any(isinstance(each, _BINDING) for node in nodes for each in ast.walk(node))


def _joined(op: ast.boolop, values: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(op, values) if len(values) > 1 else values[0]


def _is_same_operation(node: ast.expr, op: ast.boolop) -> TypeGuard[ast.BoolOp]:
    return isinstance(node, ast.BoolOp) and type(node.op) is type(op)


def _calls(node: ast.Call, name: str, names: UnitNames) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name and names.is_builtin(name)


def _asks_kind(node: ast.Call, names: UnitNames) -> bool:
    """Whether it is `isinstance(x, KINDS)` of a plain name, with kinds that are there."""
    if not _calls(node, "isinstance", names) or len(node.args) != 2 or node.keywords:
        return False
    are_there = all(isinstance(each, ast.Name) and names.is_there(each.id) for each in _kinds(node))
    return isinstance(node.args[0], ast.Name) and are_there


def _kinds(node: ast.Call) -> list[ast.expr]:
    return node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]


def _is_repeatable(node: ast.expr, names: UnitNames) -> bool:
    """Whether evaluating it twice in a row gives the same object and does nothing else."""
    return _is_plain_constant(node) or (isinstance(node, ast.Name) and names.is_local(node.id))


def _is_plain_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bytes)


def _is_truth(node: ast.expr, names: UnitNames) -> bool:
    """Whether a value is always True or False."""
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]) | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_truth(each, names) for each in values)
        case ast.Call(func=ast.Name(id=name)):
            return name in _ASKING and names.is_builtin(name)
    return _is_fixed(node)


def _is_of_module(name: str, names: UnitNames) -> bool:
    return name not in names.inner and name in names.module.counts


def _may_stop(node: ast.GeneratorExp) -> bool:
    """Whether a generator may end by an error that says so, or waits for something."""
    if any(each.is_async for each in node.generators):
        return True
    inner = list(ast.walk(node))
    called = {each.id if isinstance(each, ast.Name) else each.attr for each in inner
              if isinstance(each, ast.Name | ast.Attribute)}  # fmt: skip
    return not called.isdisjoint({"next", "__next__", "send", "throw", "StopIteration", "super"}) or any(
        isinstance(each, ast.Await) for each in inner
    )
