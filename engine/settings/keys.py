"""The settings as a flat table: one row per key, derived from the model, so that no list can disagree with it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ActionRow, CheckerRow, ModelRow, ProgramRow, Provider, Section

JsonSchema = Mapping[str, Any]


class SettableBy(StrEnum):
    """The sources other than the user that may set a key."""

    ANYONE = "anyone"
    TIGHTEN = "tighten"
    """Any source, to a value that is stricter than the user's."""
    TRUST = "trust"
    """Any source, once the user trusts it."""
    USER = "user"
    """The user only."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `name` is dotted ("model.temperature"); `expected` describes its values."""

    name: str
    description: str
    default: object
    expected: str
    set_by: SettableBy
    schema: JsonSchema

    @property
    def user_only(self) -> bool:
        """True if only the user may set it."""
        return self.set_by is SettableBy.USER

    def loosens(self, value: object, held: object) -> bool:
        """True if a value of a key that others may tighten is looser than the one in force, `held`."""
        match self.schema["stricter"]:
            case "lower":
                return _number(value, math.inf) > _number(held, self.schema.get("unset", math.inf))
            case "higher":
                return _number(value, -math.inf) < _number(held, self.schema.get("unset", -math.inf))
            case order:
                return bool(order.index(value) < order.index(held))

    @property
    def variable(self) -> str:
        """The environment variable that sets it: STET_ and the name in capitals."""
        return "STET_" + self.name.upper().replace(".", "_")


def _number(value: object, unset: float) -> float:
    return float(value) if isinstance(value, int | float) else unset


def suggestion(name: str, known: Iterable[str]) -> str:
    """A "did you mean" for a misspelt name, or "" if no name is similar."""
    near = difflib.get_close_matches(name, tuple(known), n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else ""


def unknown_key(dotted: str, key: str, known: Iterable[str], place: str, *, otherwise: str = "") -> str:
    """The problem with a key that is not among the known ones; `otherwise` ends it if none is similar."""
    near = suggestion(key, known)
    return f'unknown key "{dotted}" in {place}' + (f": {near}" if near else otherwise)


def expected(schema: JsonSchema) -> str:
    """The values that a JSON schema allows, as text."""
    if "anyOf" in schema:
        return " or ".join(expected(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return "one of " + ", ".join(f'"{value}"' for value in schema["enum"])
    if schema.get("type") == "array":
        return f"a list of {_PLURALS.get(schema['items'].get('type', ''), 'tables')}"
    return _NAMES.get(schema.get("type", ""), "a table") + _limits(schema)


_NAMES = {"boolean": "true or false", "integer": "a whole number", "number": "a number", "string": "a text"}
_PLURALS = {"string": "texts", "integer": "whole numbers", "number": "numbers"}


def _limits(schema: JsonSchema) -> str:
    low, high, above = schema.get("minimum"), schema.get("maximum"), schema.get("exclusiveMinimum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    return "" if above is None else f" greater than {above:g}"


def _walk(
    schema: JsonSchema, definitions: Mapping[str, JsonSchema], prefix: str = "", of_table: SettableBy | None = None
) -> Iterator[Key]:
    """The keys of a schema, a table's with its permissions. An unmarked key, which fails a test, is the user's."""
    for name, field in schema["properties"].items():
        if "$ref" in field:
            section = definitions[field["$ref"].rpartition("/")[2]]
            yield from _walk(section, definitions, f"{prefix}{name}.", of_table)
        else:
            set_by = of_table or SettableBy(field.get("set_by", SettableBy.USER))
            yield Key(prefix + name, field.get("description", ""), field.get("default"), expected(field), set_by, field)


_SCHEMA = Settings.model_json_schema()

KEYS: Mapping[str, Key] = {key.name: key for key in _walk(_SCHEMA, _SCHEMA["$defs"])}
"""Every setting by its dotted name. The TABLES are among them."""

PROVIDER_KEYS: Mapping[str, Key] = {
    key.name: key
    for key in _walk(Provider.model_json_schema(), {}, of_table=SettableBy.USER)
    if key.name != "api_key"  # filled from the environment variable that `api_key_env` names
}
"""The keys of one `[[providers]]` table."""

ROWS: Mapping[str, type[Section]] = {
    "models": ModelRow,
    "checkers": CheckerRow,
    "programs": ProgramRow,
    "actions": ActionRow,
}
"""The lists of tables that need only their model; endpoints, which carry keys, have a module of their own."""

TABLES: Mapping[str, Mapping[str, Key]] = {
    "providers": PROVIDER_KEYS,
    **{
        name: {key.name: key for key in _walk(row.model_json_schema(), {}, of_table=KEYS[name].set_by)}
        for name, row in ROWS.items()
    },
}
"""The settings that are lists of tables, with the keys of one table each. Only files can set them."""

SECTIONS = frozenset(name.rpartition(".")[0] for name in KEYS) - {""}
"""The tables that hold keys."""

VARIABLES: Mapping[str, Key] = {key.variable: key for key in KEYS.values() if key.name not in TABLES}
"""The keys that an environment variable can set."""
