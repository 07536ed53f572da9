"""Calls of compiled regular expressions that the module binds once, as calls of the functions of `re`."""

from __future__ import annotations

import ast

from stet_ls.engine.execution.python.equal_forms.scopes import UnitNames

_ARGUMENTS = {
    "match": 1, "search": 1, "fullmatch": 1, "findall": 1, "finditer": 1, "split": 1, "sub": 2, "subn": 2,
}  # fmt: skip
"""How many arguments both the function, the pattern aside, and the method take in the same order."""
_LONG = {"I": "IGNORECASE", "M": "MULTILINE", "S": "DOTALL", "X": "VERBOSE", "A": "ASCII", "U": "UNICODE"}
_FLAGS = {*_LONG.values(), "LOCALE"}


def with_pattern(node: ast.expr, names: UnitNames) -> ast.expr | None:
    """`PATTERN.match(s)`: `re.match(r"...", s)`, and the flags in one form."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args, keywords=keywords):
            if method not in _ARGUMENTS or any(isinstance(each, ast.Starred) for each in args):
                return None
            if names.origin(name) == "re":
                return _in_one_form(node, method, names)
            compiled = names.value(name)
            if compiled is None or keywords or len(args) != _ARGUMENTS[method]:
                return None
            return _called(compiled, method, args, names)
    return None


def _in_one_form(node: ast.Call, method: str, names: UnitNames) -> ast.expr | None:
    """`re.match(p, s, re.I)`: `re.match(p, s, flags=re.IGNORECASE)`, for a constant pattern alone."""
    if not node.args or not _is_constant(node.args[0]) or len(node.keywords) > 1:
        return None
    plain = _ARGUMENTS[method] + 1
    by_name = [each.value for each in node.keywords if each.arg == "flags"]
    by_place = node.args[plain:] if _ARGUMENTS[method] == 1 and method != "split" else []
    if len(node.args) - len(by_place) != plain or len(by_name) != len(node.keywords) or len(by_name + by_place) > 1:
        return None
    given = [*by_name, *by_place]
    flags = _flags(given[0], names) if given else ()
    if flags is None:
        return None
    made = _call(method, node.args[:plain], flags)
    return None if ast.dump(made) == ast.dump(node) else made


def _called(compiled: ast.expr, method: str, args: list[ast.expr], names: UnitNames) -> ast.expr | None:
    """The call with the pattern that `re.compile(...)` was given."""
    match compiled:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="compile"), args=[pattern, *more], keywords=rest
        ):
            given = [*more, *(each.value for each in rest if each.arg == "flags")]
            if names.module.imports.get(name) != "re" or not _is_constant(pattern):
                return None
            if len(given) > 1 or len(given) != len(more) + len(rest):
                return None
            flags = _flags(given[0], names) if given else ()
            return None if flags is None else _call(method, [pattern, *args], flags)
    return None


def _call(method: str, args: list[ast.expr], flags: tuple[str, ...]) -> ast.Call:
    """A call of `re`; the name of the module cannot be one of the function's."""
    given = [ast.keyword("flags", ast.Name(f"re#{'|'.join(flags)}", ast.Load()))] if flags else []
    return ast.Call(ast.Attribute(ast.Name("re#", ast.Load()), method, ast.Load()), args, given)


def _flags(node: ast.expr, names: UnitNames) -> tuple[str, ...] | None:
    """The flags of `re` in an expression, sorted; None for any other expression."""
    match node:
        case ast.Constant(value=0):
            return ()
        case ast.Attribute(value=ast.Name(id=name), attr=flag) if names.module.imports.get(name) == "re":
            long = _LONG.get(flag, flag)
            return (long,) if long in _FLAGS and name not in names.inner else None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            one, other = _flags(left, names), _flags(right, names)
            return None if one is None or other is None else tuple(sorted({*one, *other}))
    return None


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
