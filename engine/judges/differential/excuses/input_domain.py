"""The assumed domain of the code: an input whose kinds the new code accepts in another call.

`indent('a', '')` is in the domain if `indent('a', '', str.strip)` succeeds: the omitted argument has its default, and
the rest has the same kinds. A new TypeError is then not explained by wrongly guessed kinds.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.validators.ast_text import try_parse, try_parse_expression, unparse

ArgumentKind = str | tuple[str, *tuple[frozenset[Any], ...]]
"""A name, with its contents if it is a container: `("Dict", kinds of keys, kinds of values, fields)`."""
_MADE_BY_LIBRARY = tuple(f"__import__('{name}')." for name in ("datetime", "decimal", "fractions", "pathlib"))
_BINDING = re.compile(r"^(?:const|let|var) (\w+) = (.+?);?$", re.MULTILINE)


def in_input_domain(call: Call, taken: Iterable[Mapping[str, ArgumentKind]], quoted: Collection[str] = ()) -> bool:
    """Whether one of the calls whose arguments' kinds are `taken` covers all of this call's.

    A key that the code names, one of the `quoted`, has to have the same kind of value.
    """
    own = argument_kinds(call)
    return bool(own) and any(all(_covers(each.get(name), kind, quoted) for name, kind in own.items()) for each in taken)


@lru_cache(maxsize=4096)
def argument_kinds(call: Call) -> dict[str, ArgumentKind]:
    """The kinds of a call's arguments by name; {} if it is not a single call of bound arguments."""
    if not call.setup:
        return {}
    if call.printer != "print":
        return {name: _kind_of_script(text) for name, text in _BINDING.findall(call.setup)}
    tree, lines = try_parse(call.setup), call.setup.encode().split(b"\n")
    return {
        each.targets[0].id: _kind(each.value, lines)
        for each in (tree.body if tree else ())
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }


def kind_before_growth(kind: ArgumentKind) -> ArgumentKind:
    """The kind of a list that was made longer by repeating it, as in `([1] * 700)[:2000]`; any other as it is."""
    if not isinstance(kind, str) or not kind.startswith("(["):
        return kind
    match try_parse_expression(kind):
        case ast.Subscript(value=ast.BinOp(left=ast.List() as items)):
            return _kind(items, [kind.encode()])
    return kind


def _kind(node: ast.expr, lines: Sequence[bytes]) -> ArgumentKind:
    """The kind of an expression; anything but a literal matches only the same text."""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return _kind(node.operand, lines)
    if isinstance(node, ast.List | ast.Set):
        return type(node).__name__, frozenset(_kind(each, lines) for each in node.elts)
    if isinstance(node, ast.Tuple):
        return f"Tuple of {len(node.elts)}", *(frozenset({_kind(each, lines)}) for each in node.elts)
    if isinstance(node, ast.Dict) and all(node.keys):
        keys = (_kind(each, lines) for each in node.keys if each is not None)
        values = [_kind(each, lines) for each in node.values]
        fields = {(each.value, value) for each, value in zip(node.keys, values, strict=True)
                  if isinstance(each, ast.Constant)}  # fmt: skip
        return "Dict", frozenset(keys), frozenset(values), frozenset(fields)
    text = _written(node, lines)
    return (
        text.partition("(")[0] + text.partition(")")[2].partition("(")[0] if text.startswith(_MADE_BY_LIBRARY) else text
    )


def _written(node: ast.expr, lines: Sequence[bytes]) -> str:
    """The text of an expression, as it stands: to write it again takes long."""
    if node.lineno != node.end_lineno:
        return unparse(node)
    return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()


def _kind_of_script(text: str) -> ArgumentKind:
    try:
        return _kind_of_value(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _kind_of_value(value: Any) -> ArgumentKind:
    if isinstance(value, list):
        return "Array", frozenset(map(_kind_of_value, value))
    if isinstance(value, dict):
        return f"Object of {', '.join(value)}", *(frozenset({_kind_of_value(each)}) for each in value.values())
    return "number" if type(value) in (int, float) else type(value).__name__


def _covers(known: ArgumentKind | None, kind: ArgumentKind, quoted: Collection[str]) -> bool:
    if isinstance(known, str) or isinstance(kind, str) or known is None:
        return known == kind
    (name, *held), (other, *wanted) = known, kind
    if name == other == "Dict":
        fields = dict(held.pop())
        named = {key: value for key, value in wanted.pop() if key in quoted}
        if not all(key in fields and _covers(fields[key], value, quoted) for key, value in named.items()):
            return False
    return name == other and all(
        all(any(_covers(each, one, quoted) for each in have) for one in want)
        for have, want in zip(held, wanted, strict=True)
    )
