"""Checks whether a test called a Python unit as requested: the number of arguments, and their types."""

from __future__ import annotations

import ast
import re

from stet_ls.engine.diagnosis.diagnosis import CodeFacts
from stet_ls.engine.runners.report import CaseFailure, Frame
from stet_ls.validators.ast_text import literal_eval, parse_expression, unparse

_OF_TYPES = frozenset({"TypeError", "AttributeError"})
_ARITY = re.compile(
    r"takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given|missing \d+ required"
    r"|unexpected keyword argument|takes no arguments"
)
_PLAIN = {
    "int": (int,), "float": (float, int), "complex": (complex, float, int), "str": (str,), "bytes": (bytes,),
    "bool": (bool,), "list": (list,), "dict": (dict,), "tuple": (tuple,), "set": (set, frozenset),
    "frozenset": (frozenset, set),
}  # fmt: skip
_OLD = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset"}
"""Names of `typing` for the same types."""


def is_wrong_call(failure: CaseFailure, about: CodeFacts) -> bool:
    """True for a call of the unit that Python refused."""
    name = about.unit.rpartition(".")[2]
    return bool(name) and _ARITY.search(failure.message) is not None and f"{name}()" in failure.message


def is_requested_signature(message: str, about: CodeFacts) -> bool:
    """True if a call that did not fit the code fits the requested signature."""
    given = re.search(r"but (\d+) (?:was|were) given", message)
    if given is None or about.parameters is None:
        return False
    least, most = about.parameters
    return least <= int(given[1]) and (most is None or int(given[1]) <= most)


def argument_of_wrong_type(failure: CaseFailure, frame: Frame, about: CodeFacts) -> str | None:
    """An argument outside of the types that the unit's parameters declare, as text; None if all of them fit."""
    if failure.type not in _OF_TYPES or frame.function != about.unit.rpartition(".")[2]:
        return None
    for name, text in frame.locals:
        if (stated := about.types.get(name)) is None:
            continue
        try:
            value, annotation = literal_eval(text), parse_expression(stated).body
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if not fits(value, annotation):
            return f"{name}={text}, which is no {stated}"
    return None


def fits(value: object, annotation: ast.expr) -> bool:
    """Whether a literal is of a type. Complex types, and reprs with omissions ("..."), fit anything."""
    match annotation:
        case ast.Constant(value=None):
            return value is None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return fits(value, left) or fits(value, right)
        case ast.Subscript(value=outer, slice=inner):
            return _fits_inside(value, _name(outer), inner.elts if isinstance(inner, ast.Tuple) else [inner])
        case _:
            return _is(value, _name(annotation))


def _fits_inside(value: object, outer: str, inner: list[ast.expr]) -> bool:
    if outer in ("Optional", "Union"):
        return (outer == "Optional" and value is None) or any(fits(value, each) for each in inner)
    if not _is(value, outer):
        return False
    if isinstance(value, dict) and len(inner) == 2:
        return all(fits(key, inner[0]) and fits(each, inner[1]) for key, each in value.items())
    if isinstance(value, tuple) and not (len(inner) == 2 and isinstance(inner[1], ast.Constant)):
        return Ellipsis in value or (len(value) == len(inner) and all(map(fits, value, inner)))
    if isinstance(value, list | set | frozenset | tuple):
        return all(fits(each, inner[0]) for each in value)
    return True


def _is(value: object, name: str) -> bool:
    kinds = _PLAIN.get(name)
    return kinds is None or value is Ellipsis or isinstance(value, kinds)


def _name(node: ast.expr) -> str:
    text = unparse(node).rpartition(".")[2]
    return _OLD.get(text, text)
