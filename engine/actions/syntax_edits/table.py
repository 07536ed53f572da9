"""What may stand in place of what: the one table behind mutants and repairs.

The words of each language: what is done with them is in `kinds.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator: its name in Python's `ast`, or its own, and how each language writes it, "" if not at all.

    `others` are the names of those that take its place, the likeliest first.
    """

    name: str
    python: str
    script: str
    others: str


OPERATOR_ROWS = (
    Operator("Add", "+", "+", "Sub Mult FloorDiv Mod"),
    Operator("Sub", "-", "-", "Add Mult FloorDiv Mod"),
    Operator("Mult", "*", "*", "Add Div FloorDiv Pow Sub"),
    Operator("Div", "/", "/", "Mult FloorDiv Mod"),
    Operator("FloorDiv", "//", "", "Mult Mod Div Sub"),
    Operator("Mod", "%", "%", "Mult FloorDiv Sub ScriptDiv"),
    Operator("ScriptDiv", "", "/", ""),
    Operator("Pow", "**", "**", "Mult"),
    Operator("BitAnd", "&", "&", "BitOr BitXor ScriptAnd"),
    Operator("BitOr", "|", "|", "BitAnd BitXor ScriptOr"),
    Operator("BitXor", "^", "^", "BitOr BitAnd Pow"),
    Operator("LShift", "<<", "<<", "RShift"),
    Operator("RShift", ">>", ">>", "LShift URShift"),
    Operator("URShift", "", ">>>", "RShift"),
    Operator("Lt", "<", "<", "LtE Gt GtE Eq NotEq"),
    Operator("LtE", "<=", "<=", "Lt GtE Gt Eq NotEq"),
    Operator("Gt", ">", ">", "GtE Lt LtE Eq NotEq"),
    Operator("GtE", ">=", ">=", "Gt LtE Lt Eq NotEq"),
    Operator("Eq", "==", "===", "NotEq LtE GtE Lt Gt In Is LooseEq"),
    Operator("NotEq", "!=", "!==", "Eq Lt Gt LtE GtE NotIn LooseNotEq"),
    Operator("LooseEq", "", "==", "LooseNotEq Eq LtE GtE Lt Gt"),
    Operator("LooseNotEq", "", "!=", "LooseEq NotEq Lt Gt LtE GtE"),
    Operator("In", "in", "", "NotIn Eq"),
    Operator("NotIn", "not in", "", "In NotEq"),
    Operator("Is", "is", "", "IsNot Eq"),
    Operator("IsNot", "is not", "", "Is NotEq"),
    Operator("And", "and", "&&", "Or Nullish"),
    Operator("Or", "or", "||", "And Nullish"),
    Operator("Nullish", "", "??", "And Or"),
    Operator("ScriptAnd", "", "&&", ""),
    Operator("ScriptOr", "", "||", ""),
    Operator("Increment", "", "++", "Decrement"),
    Operator("Decrement", "", "--", "Increment"),
)
"""All operators. The first of the others that a language has makes its mutant; a search for repairs tries all."""

_BY_NAME = {row.name: row for row in OPERATOR_ROWS}
SYMBOLS: Mapping[type[ast.AST], str] = {getattr(ast, row.name): row.python for row in OPERATOR_ROWS if row.python}
"""How Python writes an operator."""
OPERATORS: Mapping[type[ast.AST], tuple[type[ast.AST], ...]] = {
    getattr(ast, row.name): tuple(getattr(ast, each) for each in row.others.split() if _BY_NAME[each].python)
    for row in OPERATOR_ROWS
    if row.python
}
"""The operators that take the place of one in Python."""
SCRIPT_OPERATORS: Mapping[str, tuple[str, ...]] = {
    row.script: tuple(_BY_NAME[each].script for each in row.others.split() if _BY_NAME[each].script)
    for row in OPERATOR_ROWS
    if row.script and row.others
}
"""The same for JavaScript and TypeScript, as they are written."""


@dataclass(frozen=True, slots=True)
class Family:
    """Methods, or functions, that are mistaken for one another, by their names in each language."""

    python: tuple[str, ...] = ()
    script: tuple[str, ...] = ()


METHOD_ROWS = (
    Family(("lower", "upper", "swapcase", "capitalize", "title", "casefold"), ("toLowerCase", "toUpperCase")),
    Family(("islower", "isupper", "isalpha", "isdigit", "isalnum", "isnumeric", "isspace", "istitle")),
    Family(("startswith", "endswith"), ("startsWith", "endsWith", "includes")),
    Family(("strip", "lstrip", "rstrip"), ("trim", "trimStart", "trimEnd")),
    Family(("removeprefix", "removesuffix")),
    Family(("split", "rsplit", "splitlines")),
    Family(("partition", "rpartition")),
    Family(("find", "rfind", "index", "rindex", "count"), ("indexOf", "lastIndexOf", "includes", "search")),
    Family(("ljust", "rjust", "center", "zfill"), ("padStart", "padEnd")),
    Family(("append", "extend", "add", "insert"), ("push", "unshift", "concat")),
    Family(("pop", "popleft"), ("pop", "shift")),
    Family(("appendleft", "append")),
    Family(("remove", "discard")),
    Family(("add", "update"), ("add", "delete", "has")),
    Family(("keys", "values", "items"), ("keys", "values", "entries")),
    Family(("union", "intersection", "difference", "symmetric_difference")),
    Family(("issubset", "issuperset")),
    Family(("floor", "ceil", "trunc"), ("floor", "ceil", "round", "trunc")),
    Family(("sin", "cos", "tan"), ("sin", "cos", "tan")),
    Family(("log", "log2", "log10", "exp"), ("log", "log2", "log10", "exp")),
    Family(("match", "search", "fullmatch"), ("match", "matchAll")),
    Family(("total_seconds", "seconds"), ("getDate", "getDay")),
    Family((), ("min", "max")),
    Family((), ("some", "every")),
    Family((), ("find", "filter", "findLast")),
    Family((), ("findIndex", "findLastIndex")),
    Family((), ("map", "forEach", "flatMap", "filter")),
    Family((), ("slice", "splice", "substring", "substr")),
    Family((), ("replace", "replaceAll")),
    Family((), ("reduce", "reduceRight")),
    Family((), ("get", "has")),
    Family((), ("get", "set")),
    Family((), ("all", "allSettled", "race", "any")),
    Family((), ("getMonth", "getFullYear", "getUTCMonth")),
    Family((), ("charAt", "charCodeAt", "codePointAt")),
    Family((), ("reverse", "sort", "toReversed", "toSorted")),
    Family((), ("isFinite", "isInteger", "isNaN")),
)
FUNCTION_ROWS = (
    Family(("min", "max", "sum", "len")),
    Family(("any", "all")),
    Family(("sorted", "reversed", "list")),
    Family(("int", "float", "round", "str"), ("parseInt", "parseFloat", "Number", "String", "Boolean")),
    Family(("list", "tuple", "set")),
    Family(("ord", "chr")),
    Family(("bin", "oct", "hex")),
    Family(("zip", "enumerate")),
    Family(("filter", "map")),
)


def _others(families: Iterable[tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """By each name of some families the other names of all its families."""
    found: dict[str, dict[str, None]] = {}
    for family in families:
        for name in family:
            found.setdefault(name, {}).update((other, None) for other in family if other != name)
    return {name: tuple(others) for name, others in found.items()}


METHODS = _others(row.python for row in METHOD_ROWS)
"""Attributes of Python that are mistaken for one another."""
SCRIPT_METHODS = _others(row.script for row in METHOD_ROWS)
"""The same of JavaScript and TypeScript."""
FUNCTIONS = _others(row.python for row in FUNCTION_ROWS)
"""Built-in functions of Python that are mistaken for one another."""
SCRIPT_FUNCTIONS = _others(row.script for row in FUNCTION_ROWS)
"""The same of JavaScript and TypeScript."""

WRAPS = ("abs({})", "sorted({})", "set({})", "list({})", "len({})", "int({})", "str({})", "sorted(set({}))")
"""Calls that may be missing around a value in Python."""
SCRIPT_WRAPS = ("Math.abs({})", "Math.floor({})", "Math.round({})", "Number({})", "String({})", "[...{}]")
"""The same in JavaScript and TypeScript."""

KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "sorted": ("reverse=True", "key=len", "key=abs", "key=str"),
    "sort": ("reverse=True", "key=len", "key=abs", "key=str"),
    "min": ("key=len", "key=abs"),
    "max": ("key=len", "key=abs"),
    "enumerate": ("start=1",),
}
"""Keyword arguments that may be missing."""

MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
"""Defaults that all calls share."""
