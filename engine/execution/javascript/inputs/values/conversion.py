"""JavaScript values as Python texts and back, so that Python's mutations apply to them."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    STRING,
    ValueKind,
    union,
)
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import text_of as source_of
from stet_ls.validators.ast_text import literal_eval

if TYPE_CHECKING:
    import tree_sitter

_KEPT = "js:"
"""Prefix of source without a JSON value: it is passed on unchanged."""
_SAFE_NAMES = frozenset({"Map", "Set", "Date", "RegExp", "Symbol", "BigInt", "Number", "String", "Array", "Object",
                         "undefined", "Math", "Uint8Array", "Float64Array"})  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_NAMED = {"NaN": math.nan, "Infinity": math.inf, "True": True, "False": False, "None": None}


class NotAValueError(Exception):
    """The source is not a literal."""


def row_text(node: tree_sitter.Node, classes: frozenset[str] = frozenset()) -> str | None:
    """An expression as a text that a row of inputs can hold; None if it uses names that are undefined here.

    `classes` are those of the module: `new` with one of them stays as written.
    """
    try:
        return text_of(value_of(node))
    except NotAValueError:
        pass
    names = _free(node)
    return _KEPT + source_of(node) if names <= _SAFE_NAMES | classes else None


def unchanged_row_text(source: str) -> str:
    """Source that a row holds unchanged."""
    return _KEPT + source


def source(text: str) -> str:
    """A row's text as JavaScript."""
    if text.startswith(_KEPT):
        return text.removeprefix(_KEPT)
    try:
        return _written(literal_eval(text))
    except ValueError:
        return text.replace("float('", "").replace("')", "").replace("inf", "Infinity").replace("nan", "NaN")


def value_of(node: tree_sitter.Node) -> Any:
    """The value of a literal: numbers, strings, booleans, null, arrays and plain objects of them."""
    text = source_of(node)
    if node.type == "number":
        return _number(text)
    if node.type == "string":
        return _unescaped(text[1:-1])
    if node.type == "template_string" and all(each.type != "template_substitution" for each in node.named_children):
        return _unescaped(text[1:-1])
    if node.type in ("true", "false"):
        return node.type == "true"
    if node.type == "null":
        return None
    if node.type == "identifier" and text in _NAMED:
        return _NAMED[text]
    if node.type == "array" and not _has_holes(node):
        return [value_of(each) for each in node.named_children if each.type != "comment"]
    if node.type == "object":
        return dict(_pair(each) for each in node.named_children if each.type != "comment")
    if node.type in ("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"):
        return value_of(node.named_children[0])
    if node.type == "unary_expression" and text[0] in "-+":
        value = value_of(node.named_children[0])
        if isinstance(value, int | float):
            return -value if text[0] == "-" else value
    raise NotAValueError(text)


def _has_holes(array: tree_sitter.Node) -> bool:
    """Whether an array has holes: `[1, , 3]`, and also `[, 3]`."""
    marks = [each.type for each in array.children if each.type != "comment"]
    return any(each == "," and before in (",", "[") for before, each in itertools.pairwise(marks))


def kind_of(values: list[str]) -> ValueKind:
    """The kind of a parameter's values in the rows; ANY if some are not literals."""
    found = []
    for text in values:
        value = literal(text)
        if value is None and text != "None":
            return ANY
        found.append(_kind(value))
    return union(tuple(found)) if found else ANY


def _kind(value: Any) -> ValueKind:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return ValueKind("int")
    if isinstance(value, float):
        return NUMBER
    if isinstance(value, str):
        return STRING
    if isinstance(value, dict):
        return ValueKind("object", fields=tuple((str(key), _kind(item), False) for key, item in value.items()))
    return ValueKind("array", (union(tuple(map(_kind, value))) if value else NUMBER,))


def _pair(node: tree_sitter.Node) -> tuple[str, Any]:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if node.type != "pair" or key is None or value is None or key.type == "computed_property_name":
        raise NotAValueError(source_of(node))
    return (str(value_of(key)) if key.type in ("string", "number") else source_of(key)), value_of(value)


def _number(text: str) -> int | float:
    text = text.replace("_", "")
    try:
        number = int(text, 0) if not re.search(r"[.eE]", text) or text[:2].lower() == "0x" else float(text)
        str(number)  # a number of thousands of digits has no text in Python
        return number
    except ValueError:
        raise NotAValueError(text) from None  # 017, 1n


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "xu" and len(code) > 1:
            number = int(code[1:].strip("{}"), 16)
            return chr(number) if number < 0x110000 else ""
        return _ESCAPES.get(code, code)

    return re.sub(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,8}\}|.|\n)", one, text)


def _free(node: tree_sitter.Node) -> set[str]:
    """Names that an expression does not bind itself; calls of anything but a constructor count as a name."""
    pending, found, bound = [node], set[str](), set[str]()
    while pending:
        each = pending.pop()
        if each.type in ("identifier", "shorthand_property_identifier"):
            (bound if (each.parent and each.parent.type in _BINDING) else found).add(source_of(each))
        elif each.type in ("await_expression", "import", "this", "yield_expression", "assignment_expression"):
            found.add("?")
        pending += each.named_children
    return found - bound


_BINDING = frozenset({"required_parameter", "optional_parameter", "formal_parameters", "variable_declarator"})


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e21:
        return f"{int(value)}" if value or math.copysign(1, value) > 0 else "-0"
    return json.dumps(value)


def _key(key: Any) -> str:
    return key if re.fullmatch(r"[A-Za-z_$][\w$]*", str(key)) and key != "__proto__" else f"[{json.dumps(str(key))}]"
