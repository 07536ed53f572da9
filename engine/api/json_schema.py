"""The subset of JSON Schema for the parts of an answer; each schema is next to its `to_json`."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}


def nullable(kind: str) -> Schema:
    """A value of a JSON type, or null."""
    return {"type": [kind, "null"]}


def array(items: Schema) -> Schema:
    """A list of such values."""
    return {"type": "array", "items": items}


def table(**fields: Schema) -> Schema:
    """An object with all of these fields."""
    return {"type": "object", "properties": fields, "required": list(fields)}
