"""Changes JSON with comments as text: whatever is not changed keeps its spelling, its comments and its order.

Agents' settings are their users' files. Writing them back from parsed data would lose comments and reorder keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_TRIVIA = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DEEPEST = 60
_CLOSING = {"{": "}", "[": "]"}


@dataclass(slots=True)
class JsonNode:
    """A value and its place in the text; `start` of an object's member is that of its key."""

    value_start: int
    end: int = 0
    key: str | None = None
    start: int = 0
    scalar: Any = None
    opening: str = ""
    children: list[JsonNode] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """The parsed value."""
        if self.opening == "{":
            return {child.key: child.value for child in self.children}
        return [child.value for child in self.children] if self.opening else self.scalar

    def get(self, key: str) -> JsonNode | None:
        """The member of an object."""
        return next((child for child in self.children if self.opening == "{" and child.key == key), None)


def parse(text: str) -> JsonNode:
    """The tree of a document. Raises ValueError where it is not JSON with comments."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    root = _node(text, start, 0)
    if _skip(text, root.end) != len(text):
        raise ValueError(f"unexpected text at line {_line(text, root.end)}")
    return root


def add(text: str, path: Sequence[str], value: Any, *, to_array: bool) -> str:
    """The text with `value` as a member of that path, or as a new last element of the array of that path.

    Missing objects and arrays on the way are made. Raises ValueError where the path holds something else.
    """
    node, rest = parse(text), list(path)
    if node.opening != "{":
        raise ValueError("the file is not a JSON object")
    while rest and (child := node.get(rest[0])) is not None:
        node = child
        rest.pop(0)
        if node.opening != ("[" if to_array and not rest else "{"):
            raise ValueError(f"`{'.'.join(path[: len(path) - len(rest)])}` has an unexpected type")
    if not rest and not to_array:
        raise ValueError(f"`{'.'.join(path)}` is set already")
    for key in reversed(rest[1:]):
        value, to_array = {key: [value] if to_array else value}, False
    if rest and to_array:
        value = [value]
    return _insert(text, node, rest[0] if rest else None, value)


def remove(text: str, chain: Sequence[JsonNode]) -> str:
    """The text without the last node of a chain from the root, and without containers that this leaves empty."""
    *parents, node = chain
    while len(parents) > 1 and len(parents[-1].children) == 1 and _is_bare(text, parents[-1], node):
        node = parents.pop()
        if parents[-1].opening == "{" and len(parents) > 1 and parents[-2].opening == "[":
            node = parents.pop()  # an element of a list goes with its only list, whatever else it says
    return _cut(text, parents[-1], node)


def chains(node: JsonNode, before: tuple[JsonNode, ...] = ()) -> Iterator[tuple[JsonNode, ...]]:
    """The way from the root to each object and array below it."""
    if node.opening:
        yield (*before, node)
        for child in node.children:
            yield from chains(child, (*before, node))


def _node(text: str, at: int, depth: int) -> JsonNode:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    opening = text[at : at + 1]
    if opening in _CLOSING:
        return _container(text, at, depth)
    match = (_STRING if opening == '"' else _SCALAR).match(text, at)
    if match is None:
        raise ValueError(f"not JSON at line {_line(text, at)}")
    return JsonNode(at, match.end(), start=at, scalar=json.loads(match.group()))


def _container(text: str, at: int, depth: int) -> JsonNode:
    node = JsonNode(at, start=at, opening=text[at])
    closing, at = _CLOSING[node.opening], _skip(text, at + 1)
    while text[at : at + 1] != closing:
        key, start = None, at
        if node.opening == "{":
            name = _STRING.match(text, at)
            colon = _skip(text, name.end()) if name else at
            if name is None or text[colon : colon + 1] != ":":
                raise ValueError(f"not JSON at line {_line(text, at)}")
            key, at = json.loads(name.group()), _skip(text, colon + 1)
        child = _node(text, at, depth + 1)
        child.key, child.start = key, start
        node.children.append(child)
        at = _skip(text, child.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ValueError(f"not JSON at line {_line(text, at)}")
    node.end = at + 1
    return node


def _skip(text: str, at: int) -> int:
    match = _TRIVIA.match(text, at)
    return match.end() if match else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _insert(text: str, node: JsonNode, key: str | None, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    outer, inner, unit = _indents(text, node)
    is_one_line = bool(node.children) and "\n" not in text[node.value_start : node.end]
    written = json.dumps(value, indent=None if is_one_line else unit, ensure_ascii=False)
    member = ("" if key is None else f"{json.dumps(key)}: ") + written.replace("\n", newline + inner)
    space = " " if is_one_line else newline + inner
    close = node.end - 1
    at = len(text[:close].rstrip())
    if not node.children:
        tail = "" if "\n" in text[at:close] else newline + outer
        return f"{text[:at]}{space}{member}{tail}{text[at:]}"
    last = node.children[-1].end
    if text[_skip(text, last)] == ",":  # a trailing comma stays the user's style
        return f"{text[:at]}{space}{member},{text[at:]}"
    return f"{text[:last]},{text[last:at]}{space}{member}{text[at:]}"


def _indents(text: str, node: JsonNode) -> tuple[str, str, str]:
    """The indentation of a container's line and of its members, and one level of it."""
    outer = _indent_at(text, node.start)
    root = parse(text)
    first = _indent_at(text, root.children[0].start) if root.children else ""
    unit = first or "  "
    inner = _indent_at(text, node.children[0].start) if node.children else ""
    return outer, inner if len(inner) > len(outer) else outer + unit, unit


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _is_bare(text: str, parent: JsonNode, child: JsonNode) -> bool:
    """Whether a container holds the child alone: no comment of the user's."""
    return not f"{text[parent.value_start + 1 : child.start]}{text[child.end : parent.end - 1]}".strip(" \t\r\n,")


def _cut(text: str, parent: JsonNode, node: JsonNode) -> str:
    index = next(place for place, child in enumerate(parent.children) if child is node)
    start = len(text[: node.start].rstrip())
    after = _skip(text, node.end)
    if text[after : after + 1] == ",":
        return _joined(text[:start], text[start : node.start], text[node.end : after] + text[after + 1 :])
    if index == 0:
        inside = text[parent.value_start + 1 : start] + text[node.end : parent.end - 1]
        return text[: parent.value_start + 1] + (inside if inside.strip() else "") + text[parent.end - 1 :]
    comma = _skip(text, parent.children[index - 1].end)
    return _joined(text[:comma] + text[comma + 1 : start], text[start : node.start], text[node.end :])


def _joined(before: str, space: str, after: str) -> str:
    """What stays around a removed value; a line comment before it must not swallow what follows."""
    follows = after.lstrip(" \t")
    return before + (space if "\n" in space and not follows.startswith(("\n", "\r\n")) else "") + after
