"""The values that a piece of code compares with: its literals, its module's constants, and results computed from them.

`const m = s * 60` is a bound just like `60000`; if letters are identified by their codes, a code means the letter.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from stet_ls.engine.execution.inputs.mutations import text_of as written
from stet_ls.engine.execution.javascript.inputs.subject import Module
from stet_ls.engine.execution.javascript.inputs.values.conversion import NotAValueError, row_text, value_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import descendants, text_of

if TYPE_CHECKING:
    import tree_sitter

_MOST, _LARGEST, _DEEPEST = 40, 10**15, 20
_CODES = re.compile(r"\b(?:charCodeAt|codePointAt|fromCharCode|fromCodePoint)\b")
_OPERATORS: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
    "**": operator.pow, "<<": lambda one, other: int(one) << int(other),
}  # fmt: skip

_Values = Mapping[str, "tree_sitter.Node"]
_COUNTING = re.compile(
    r"[|^&]\s*0\b|~~|>>>?|\bBigInt\b|\bMath\.(?:trunc|floor|round|ceil|fround|imul)\b|\bparse(?:Int|Float)\b|\bNumber\b|\d+n\b|%"
)
"""Ways of counting that differ for large numbers."""
_LARGE = ("2147483648", "4294967297", "9007199254740993", "0.1", "-1.5")
"""Beyond what 32 bits hold, beyond what a number holds exactly, and not whole."""
"""The nodes that names refer to."""


def constants(module: Module, node: tree_sitter.Node) -> list[str]:
    """The constants that a piece of a module's code uses, as rows hold them, and the neighbors of whole numbers."""
    values = {**_declared(module.parsed.root, 2), **_declared(node, _DEEPEST)}
    nodes = (node, *_meant(node, values))
    found = [text for each in nodes for text in _literals(each)]
    made = dict.fromkeys(number for each in nodes for number in _made(each, values))
    found += [written(each) for number in list(made)[:_MOST] for each in _around(number)]
    if _CODES.search(text_of(node)):
        codes = [int(text) for text in found if text.isdigit() and 32 < int(text) < 0xD800]
        found += [written(chr(code)) for code in codes[:_MOST]]
    return list(dict.fromkeys(found))


def _literals(node: tree_sitter.Node) -> list[str]:
    found: list[str] = []
    for each in descendants(node):
        if each.type in ("number", "string") and len(text_of(each)) < 100 and (text := row_text(each)) is not None:
            found += [written(near) for near in _around(int(text))] if text.isdigit() else [text]
        elif each.type == "property_identifier" and each.parent and each.parent.type == "pair":
            found.append(written(text_of(each)))
    return list(dict.fromkeys(found))[:_MOST]


def _around(number: float) -> Iterator[float]:
    """A number and its neighbors: where branches part."""
    yield number
    if isinstance(number, int) and abs(number) < _LARGEST:
        yield from (number + 1, number - 1)


def _made(node: tree_sitter.Node, values: _Values) -> Iterator[float]:
    """The results of the largest expressions that consist only of constants."""
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type in ("binary_expression", "unary_expression"):
            try:
                number = _worth(each, values, _DEEPEST)
            except (NotAValueError, ArithmeticError, ValueError, TypeError):
                number = None
            if number is not None and abs(number) < _LARGEST:
                yield int(number) if number == int(number) else number
                continue
        pending += each.named_children


def _worth(node: tree_sitter.Node, values: _Values, depth: int) -> float:
    """The number that an expression evaluates to. Raises NotAValueError."""
    if not depth:
        raise NotAValueError(node.type)
    if node.type == "parenthesized_expression":
        return _worth(node.named_children[0], values, depth - 1)
    if node.type == "unary_expression" and node.children[0].type == "-":
        return -_worth(node.named_children[0], values, depth - 1)
    if node.type == "identifier" and text_of(node) in values:
        return _worth(values[text_of(node)], values, depth - 1)
    if node.type == "binary_expression":
        left, sign, right = (node.child_by_field_name(each) for each in ("left", "operator", "right"))
        work = _OPERATORS.get(sign.type) if sign is not None else None
        if work is not None and left is not None and right is not None:
            one, other = (_worth(side, values, depth - 1) for side in (left, right))
            if work in (_OPERATORS["**"], _OPERATORS["<<"]) and (one < 0 or not 0 <= other <= 64):
                raise NotAValueError(node.type)
            return _bounded(work(_bounded(one), _bounded(other)))
    if node.type != "number":
        raise NotAValueError(node.type)
    return float(value_of(node)) if "." in text_of(node) else int(value_of(node))


def _bounded(number: float) -> float:
    """The number. Raises NotAValueError if it is too large: a power of powers takes hours, and is rounded anyway."""
    if abs(number) > _LARGEST:
        raise NotAValueError("too large")
    return number


def _declared(node: tree_sitter.Node, deepest: int) -> dict[str, tree_sitter.Node]:
    """The declarations with a value within some levels of a node, by plain names."""
    found: dict[str, tree_sitter.Node] = {}
    level = [node]
    for _ in range(deepest):
        level = [inner for each in level for inner in each.named_children]
        for each in level:
            name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
            if each.type == "variable_declarator" and name is not None and value is not None and _is_plain(value):
                found.setdefault(text_of(name), value)
    return found


def _is_plain(value: tree_sitter.Node) -> bool:
    """False for values that contain code of their own."""
    return not any("function" in each.type or "class" in each.type for each in descendants(value))


def _meant(node: tree_sitter.Node, values: _Values) -> list[tree_sitter.Node]:
    """The values of the names that a piece of code uses, directly or through others."""
    found: dict[str, tree_sitter.Node] = {}
    pending = [node]
    while pending:
        for each in descendants(pending.pop()):
            name = text_of(each) if each.type == "identifier" else ""
            if name in values and name not in found:
                found[name] = values[name]
                pending.append(values[name])
    return list(found.values())


def large_numbers(before: str, after: str) -> tuple[str, ...]:
    """Numbers that distinguish ways of counting, if old and new code use different ones."""
    old, new = (set(_COUNTING.findall(text)) for text in (before, after))
    return _LARGE if old != new else ()
