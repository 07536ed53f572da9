"""What code takes for granted: keys of records, without which an input is none, and how many items a value has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from stet_ls.validators.ast_text import try_parse

_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@lru_cache(maxsize=64)
def takes_for_granted(text: str, unit: str, key: str) -> bool:
    """Whether a unit reads a key, given as Python writes it, of all that it comes by: outside of any branch, before it
    may leave a function or a loop early, and without ever asking for it.
    """
    node = _node_of(text, unit)
    if node is None or re.search(r"\bKeyError\b|\bLookupError\b", text):
        return False
    keys = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and repr(each.value) == key]
    read = {id(each.slice) for each in ast.walk(node) if isinstance(each, ast.Subscript)}
    if not keys or not all(id(each) in read for each in keys):
        return False
    ways = (part for each in ast.walk(node) if isinstance(each, ast.If | ast.Try) for part in ast.walk(each))
    first_exit = min((each.lineno for each in ways if isinstance(each, _EXITS)), default=float("inf"))
    sure = {id(each) for each in _always(node)}
    return any(id(each) in sure and each.lineno < first_exit for each in keys)


@lru_cache(maxsize=64)
def unpacks_values(text: str, unit: str) -> bool:
    """Whether a unit unpacks a value that it did not make: then it fails itself on another number of items."""
    node = _node_of(text, unit)
    return node is not None and any(_unpacks(each) for each in ast.walk(node))


def _node_of(text: str, unit: str) -> ast.AST | None:
    tree, name = try_parse(text), unit.rpartition(".")[2]
    return next((each for each in ast.walk(tree) if getattr(each, "name", "") == name), None) if tree else None


def _unpacks(node: ast.AST) -> bool:
    given = ast.Name | ast.Attribute | ast.Subscript
    if isinstance(node, ast.Assign):
        targets, is_given = node.targets, isinstance(node.value, given)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        targets, is_given = [node.target], isinstance(node.iter, given)
    else:
        return False
    return is_given and any(isinstance(each, ast.Tuple | ast.List) for each in targets)


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of code that no condition guards. A loop's body counts: its items are what the code comes by."""
    yield node
    guarded: tuple[ast.AST, ...] = ()
    if isinstance(node, ast.If | ast.IfExp):
        guarded = tuple(each for each in ast.iter_child_nodes(node) if each is not node.test)
    elif isinstance(node, ast.BoolOp):
        guarded = tuple(node.values[1:])
    elif isinstance(node, ast.Try):
        guarded = (*node.handlers, *node.orelse)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and any(each.ifs for each in node.generators):
        guarded = (node.elt,)
    elif isinstance(node, ast.DictComp) and any(each.ifs for each in node.generators):
        guarded = (node.key, node.value)
    elif isinstance(node, ast.Match):
        guarded = tuple(node.cases)
    for each in ast.iter_child_nodes(node):
        if each not in guarded:
            yield from _always(each)
