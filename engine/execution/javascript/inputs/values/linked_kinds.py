"""The kind of a parameter whose fields lead to more of the same kind: trees and linked lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from stet_ls.engine.execution.javascript.inputs.values.value_kinds import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    ValueKind,
    arguments_of,
    descendants,
    part_of,
    text_of,
    union,
)

if TYPE_CHECKING:
    import tree_sitter

_LEVELS, _LEVELS_OF_LISTS = 4, 3
_NO_NODES = ValueKind("literal", text="[]")
_EACH = frozenset({"map", "forEach", "some", "every", "flatMap", "reduce"})


def linked(kind: ValueKind, node: tree_sitter.Node, name: str, by_name: Callable[[str], ValueKind]) -> ValueKind:
    """The kind of the parameter `name` of a function, with objects in its links; as it is if it has none.

    `by_name` says which kind the name of a field suggests, ANY if none.
    """
    names = _aliases(node, name)
    single, lists = _links(node, names)
    if not single and not lists:
        return kind
    read = sorted(_fields_read(node, names | _items(node, names, lists)) - single - lists)
    kinds = [union((NUMBER, BOOLEAN)) if (part := by_name(field)) == ANY else part for field in read]
    plain = tuple((field, part, False) for field, part in zip(read, kinds, strict=True))

    def level(one: ValueKind, several: ValueKind) -> ValueKind:
        links = (*((each, one, False) for each in sorted(single)), *((each, several, False) for each in sorted(lists)))
        return ValueKind("object", fields=(*plain, *links))

    found = level(NULL, _NO_NODES)
    for _ in range((_LEVELS_OF_LISTS if lists else _LEVELS) - 1):
        found = level(union((NULL, found)), ValueKind("array", (found,)))
    is_asked = bool(single) and any(_is_condition(each) for each in descendants(node) if text_of(each) in names)
    return union((found, NULL)) if is_asked else found


def _aliases(node: tree_sitter.Node, name: str) -> set[str]:
    """The names that stand for a parameter: `let node = head`."""
    names = {name}
    for each in descendants(node):
        if each.type == "variable_declarator" and text_of(part_of(each, "value")) in names:
            names.add(text_of(part_of(each, "name")))
    return names


def _links(node: tree_sitter.Node, names: set[str]) -> tuple[set[str], set[str]]:
    """The fields that hold another object of the kind, and those that hold a list of them."""
    holder = node if node.child_by_field_name("name") is not None else node.parent
    function = text_of(part_of(holder, "name"))
    single: set[str] = set()
    lists: set[str] = set()
    for each in descendants(node):
        if each.type == "call_expression":
            called, arguments = part_of(each, "function"), arguments_of(each)
            if called is None or not arguments:
                continue
            if function and text_of(called) == function:
                single |= {_field(argument, names) for argument in arguments}
            elif text_of(part_of(called, "property")) in _EACH and _calls(arguments[0], function):
                lists.add(_field(part_of(called, "object"), names))
        elif each.type == "for_in_statement" and function and _calls(each, function):
            lists.add(_field(part_of(each, "right"), names))
        elif each.type == "assignment_expression" and text_of(part_of(each, "left")) in names:
            right = part_of(each, "right")
            single |= _fields_read(right, names) if right is not None else set()
    return single - lists - {""}, lists - {""}


def _calls(node: tree_sitter.Node, function: str) -> bool:
    """Whether a node is a function's name, or calls it."""
    if not function:
        return False
    if node.type == "identifier":
        return text_of(node) == function
    calls = (each for each in descendants(node) if each.type == "call_expression")
    return any(text_of(part_of(each, "function")) == function for each in calls)


def _field(node: tree_sitter.Node | None, names: set[str]) -> str:
    """The field of one of the names that an expression is; "" for another one."""
    if node is None or node.type != "member_expression":
        return ""
    return text_of(part_of(node, "property")) if text_of(part_of(node, "object")) in names else ""


def _items(node: tree_sitter.Node, names: set[str], lists: set[str]) -> set[str]:
    """The names of the items of the lists: `for (const child of node.children)`, `node.children.map((child) => …)`."""
    found: set[str] = set()
    for each in descendants(node):
        if each.type == "for_in_statement" and _field(part_of(each, "right"), names) in lists:
            found.add(text_of(part_of(each, "left")))
        elif each.type == "arrow_function":
            called = part_of(each.parent.parent if each.parent is not None else None, "function")
            if called is not None and _fields_read(called, names) & lists:
                found |= set(re.findall(r"[\w$]+", text_of(part_of(each, "parameter", "parameters")))[:1])
    return found


def _fields_read(node: tree_sitter.Node, names: set[str]) -> set[str]:
    return {field for each in descendants(node) if (field := _field(each, names))}


def _is_condition(node: tree_sitter.Node) -> bool:
    """Whether a name is asked if it is there: `if (!node)`, `node === null`, `while (node)`."""
    around = node.parent
    if node.type != "identifier" or around is None:
        return False
    if text_of(part_of(around, "operator")) in ("!", "===", "!==", "==", "!=", "&&", "||"):
        return True
    return around.type in ("parenthesized_expression", "for_statement", "ternary_expression")
