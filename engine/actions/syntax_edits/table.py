"""What may stand in place of what: the one table behind mutants and repairs.

The first alternative of an operator makes its mutant; a search for repairs tries all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

SYMBOLS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.And: "and", ast.Or: "or",
}  # fmt: skip
"""How an operator is written."""

OPERATORS: Mapping[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod),
    ast.Sub: (ast.Add, ast.Mult, ast.FloorDiv, ast.Mod),
    ast.Mult: (ast.Add, ast.Div, ast.FloorDiv, ast.Pow, ast.Sub),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Mod),
    ast.FloorDiv: (ast.Mult, ast.Mod, ast.Div, ast.Sub),
    ast.Mod: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitOr, ast.BitAnd, ast.Pow),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt, ast.Eq, ast.NotEq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt, ast.Eq, ast.NotEq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE, ast.Lt, ast.Gt, ast.In, ast.Is),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.NotIn),
    ast.In: (ast.NotIn, ast.Eq),
    ast.NotIn: (ast.In, ast.NotEq),
    ast.Is: (ast.IsNot, ast.Eq),
    ast.IsNot: (ast.Is, ast.NotEq),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
"""The operators that take the place of one."""

_FAMILIES = (
    ("lower", "upper", "swapcase", "capitalize", "title", "casefold"),
    ("islower", "isupper", "isalpha", "isdigit", "isalnum", "isnumeric", "isspace", "istitle"),
    ("startswith", "endswith"),
    ("strip", "lstrip", "rstrip"),
    ("removeprefix", "removesuffix"),
    ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"),
    ("find", "rfind", "index", "rindex", "count"),
    ("ljust", "rjust", "center", "zfill"),
    ("append", "extend", "add", "insert"),
    ("pop", "popleft"),
    ("appendleft", "append"),
    ("remove", "discard"),
    ("add", "update"),
    ("keys", "values", "items"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("issubset", "issuperset"),
    ("floor", "ceil", "trunc"),
    ("sin", "cos", "tan"),
    ("log", "log2", "log10", "exp"),
    ("match", "search", "fullmatch"),
    ("total_seconds", "seconds"),
)
METHODS: Mapping[str, tuple[str, ...]] = {
    name: tuple(dict.fromkeys(other for each in _FAMILIES if name in each for other in each if other != name))
    for family in _FAMILIES
    for name in family
}
"""Attributes that are mistaken for one another."""

_FUNCTIONS = (
    ("min", "max", "sum", "len"),
    ("any", "all"),
    ("sorted", "reversed", "list"),
    ("int", "float", "round", "str"),
    ("list", "tuple", "set"),
    ("ord", "chr"),
    ("bin", "oct", "hex"),
    ("zip", "enumerate"),
    ("filter", "map"),
)
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    name: tuple(dict.fromkeys(other for each in _FUNCTIONS if name in each for other in each if other != name))
    for family in _FUNCTIONS
    for name in family
}
"""Built-in functions that are mistaken for one another."""

WRAPS = ("abs({})", "sorted({})", "set({})", "list({})", "len({})", "int({})", "str({})", "sorted(set({}))")
"""Calls that may be missing around a value."""

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
