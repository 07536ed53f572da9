"""Whether a value is one of a declared kind: what TypeScript's compiler refuses is no input of the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import ValueKind

_PLAIN: Mapping[str, tuple[type, ...]] = {
    "number": (int, float), "int": (int, float), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "undefined": (type(None),),
}  # fmt: skip


def is_of(value: Any, kind: ValueKind) -> bool:
    """Whether a value, as Python has it, is of a kind; True for kinds of which that cannot be said."""
    if kind.name in _PLAIN:
        return isinstance(value, _PLAIN[kind.name]) and (kind.name == "boolean" or not isinstance(value, bool))
    match kind.name:
        case "array":
            return isinstance(value, list) and all(is_of(each, kind.items[0]) for each in value if kind.items)
        case "tuple":
            return isinstance(value, list) and len(value) == len(kind.items) and all(map(is_of, value, kind.items))
        case "object":
            return isinstance(value, dict) and all(
                is_of(value[name], field) if name in value else may_lack for name, field, may_lack in kind.fields
            )
        case "record":
            return isinstance(value, dict)
        case "union":
            return not kind.items or any(is_of(value, each) for each in kind.items)
        case "literal":
            wanted = literal(kind.text.replace("true", "True").replace("false", "False"))
            return wanted is None or (type(value) is type(wanted) and value == wanted)
    return True
