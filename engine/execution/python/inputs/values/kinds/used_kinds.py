"""The kinds that the uses of a parameter imply: methods, operands, loops, subscripts."""

from __future__ import annotations

import ast
from collections.abc import Collection

from stet_ls.engine.execution.python.inputs.values.kinds.dates import by_compared, by_difference, is_name, replaced
from stet_ls.engine.execution.python.inputs.values.kinds.described_items import is_plural
from stet_ls.engine.execution.python.inputs.values.kinds.item_kinds import (
    is_row,
    items_of,
    kinds_of_items,
    kinds_of_unpacked,
)
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import METHODS, named_kind
from stet_ls.engine.execution.python.inputs.values.texts.regex_texts import SEARCHES

_BUILT_IN = {
    "dict": "dict[str, int]",
    "sorted": "list[int]",
    "sum": "list[int]",
    "range": "int",
    "ord": "str",
    "chr": "int",
    "abs": "int",
}

_TABLE = "dict[str, int]"
_SEVERAL = ["list[int]", "str", "list[str]"]


def kinds_by_use(name: str, node: ast.AST, within: frozenset[str] = frozenset()) -> tuple[list[str], list[str]]:
    """The kinds that a name's uses imply, and those that they leave open; `within` are names that hold it."""
    found: list[str] = []
    weak: list[str] = []
    moments: list[str] = []
    # `day = start` makes what is done with `day` a use of `start`.
    names = {name, *(each.targets[0].id for each in ast.walk(node) if isinstance(each, ast.Assign)
                     and isinstance(each.targets[0], ast.Name) and is_name(each.value, name))}  # fmt: skip
    # Calls whose results no one uses: they are made for their effects.
    dropped = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Expr)}
    awaits = [each for each in ast.walk(node) if isinstance(each, ast.Await)]
    awaited = {id(each.value) for each in awaits}
    is_joined = bool(awaits) and any(_name_of(each) in _JOINS for each in ast.walk(node))
    counted = {each.target.id for each in ast.walk(node) if isinstance(each, ast.AugAssign)
               and isinstance(each.target, ast.Name) and _is_whole(each.value)}  # fmt: skip
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and (moment := replaced(each, names)):
            moments.append(moment)
        if isinstance(each, ast.Attribute):
            found += _by_method(each, name, names)
        elif isinstance(each, ast.Call):
            is_awaited = is_joined or id(each) in awaited
            strong, open_ones = _by_call(each, name, is_dropped=id(each) in dropped, is_awaited=is_awaited)
            found += strong
            weak += open_ones
        elif isinstance(each, ast.For | ast.comprehension) and (item := items_of(each, name)) is not None:
            items = _by_items(item, name, node)
            found += items
            weak += [] if items else _SEVERAL
        elif isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.In | ast.NotIn):
            weak += ["str", "list[int]"] if is_name(each.comparators[0], name) else []
        elif isinstance(each, ast.BinOp | ast.Compare | ast.AugAssign):
            found += _by_operands(each, name, counted)
        elif isinstance(each, ast.Subscript) and is_name(each.value, name):
            weak += _subscripted(each.slice)
            found += ["dict[str, int]"] * _is_key(each.slice, name, node)
    found = _surest(found, moments, name, node, within)
    found += [] if found else by_compared(names, node)
    if _is_called_later(name, node):
        found.append("Clock" if _is_clock(name, node) else "Callable")
    return list(dict.fromkeys(found))[:2], list(dict.fromkeys(weak))[:4]


def _surest(found: list[str], moments: list[str], name: str, node: ast.AST, within: frozenset[str]) -> list[str]:
    """The kinds without those that only seemed to be: texts that `replace` is called on, numbers of a difference."""
    if moments:
        found = [*moments, *(each for each in found if each != "str")]
    if _TABLE in found:
        table = _table(name, node, within)
        found = [table if each == _TABLE else each for each in found if each != "list[int]"]
    if dated := by_difference(name, node):
        found = [*dated, *(each for each in found if each != "int")]
    return found


_OF_BYTES = frozenset({"hashlib", "zlib", "base64", "binascii"})
"""Modules whose functions take bytes."""


def _table(name: str, node: ast.AST, within: frozenset[str]) -> str:
    """The kind of a table, with that of its values as the code uses them."""
    values: list[str] = []
    for each in ast.walk(node):
        if isinstance(each, ast.For | ast.comprehension):
            values += _value_names(each.target, _iterated(each.iter), name)
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Subscript):
            target = each.targets[0]
            if isinstance(target, ast.Name) and is_name(each.value.value, name):
                values.append(target.id)
        elif _gives_text(each, name):
            return "dict[str, str]"
        if isinstance(each, ast.For | ast.comprehension) and _is_value(each.iter, name):
            return "Links" if _is_followed(each.target, node) else "dict[str, list[int]]"
    inner = frozenset({*within, name})
    kinds = (kind for value in dict.fromkeys(values) if value not in inner and len(inner) < _DEEPEST
             for kind in kinds_by_use(value, node, inner)[0] if "Call" not in kind)  # fmt: skip
    return f"dict[str, {next(kinds, 'int')}]"


def _is_value(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Subscript) and is_name(node.value, name) and isinstance(node.slice, ast.Name)


def _is_followed(target: ast.expr, node: ast.AST) -> bool:
    """Whether the items of a table's values are given to the function in which they are met: they are keys."""
    inner = {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and getattr(each.func, "id", "") in inner)
    return isinstance(target, ast.Name) and any(is_name(given, target.id) for each in calls for given in each.args)


def _gives_text(node: ast.AST, name: str) -> bool:
    """Whether it takes a value out of a table for a text: `env.get(key, "")`, `env[key].strip()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=held, attr="get"), args=[_, ast.Constant(value=str())]):
            return is_name(held, name)
        case ast.Attribute(value=ast.Call(func=ast.Attribute(value=held, attr="get")), attr=method):
            return is_name(held, name) and METHODS.get(method) == "str"
        case ast.Attribute(value=ast.Subscript(value=held), attr=method):
            return is_name(held, name) and METHODS.get(method) == "str"
    return False


_DEEPEST = 4
"""Tables within tables, and one more."""


def _value_names(target: ast.expr, iterated: ast.expr, name: str) -> list[str]:
    """The name of the values in a loop over a table's items or values."""
    held = iterated.func if isinstance(iterated, ast.Call) else None
    if not isinstance(held, ast.Attribute) or not is_name(held.value, name):
        return []
    if held.attr == "items" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    elif held.attr != "values":
        return []
    return [target.id] if isinstance(target, ast.Name) else []


def _iterated(node: ast.expr) -> ast.expr:
    """What a loop goes through, be it sorted or copied before."""
    if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") in _ORDERS:
        return node.args[0]
    return node


_ORDERS = frozenset({"sorted", "list", "tuple", "reversed", "set"})


def _is_called_later(name: str, node: ast.AST) -> bool:
    """Whether a class keeps what it is given and calls it: `self.key = key or str`, `self.key(item)`."""
    kept = {target.attr for each in ast.walk(node) if isinstance(each, ast.Assign) for target in each.targets
            if isinstance(target, ast.Attribute) and is_name(_first(each.value), name)}  # fmt: skip
    called = (each.func for each in ast.walk(node) if kept and isinstance(each, ast.Call))
    return any(isinstance(each, ast.Attribute) and each.attr in kept and getattr(each.value, "id", "") == "self"
               for each in called)  # fmt: skip


def _is_clock(name: str, node: ast.AST) -> bool:
    """Whether what a kept function gives is subtracted from: `self.clock() - self.started`."""
    return any(
        isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) and isinstance(each.left, ast.Call)
        and not each.left.args and getattr(each.left.func, "attr", "").strip("_") == name.strip("_")
        for each in ast.walk(node)
    )  # fmt: skip


def _by_method(used: ast.Attribute, name: str, names: set[str]) -> list[str]:
    """The kind whose method an attribute is, or that of a list of texts: `lines[number].strip()`."""
    kind = METHODS.get(used.attr, "")
    if kind and any(is_name(used.value, each) for each in names):
        return [kind]
    match used.value:
        case ast.Subscript(value=held, slice=place) if kind == "str" and is_name(held, name):
            return [] if isinstance(place, ast.Constant | ast.Slice) else ["list[str]"]
    return []


def _first(value: ast.expr) -> ast.expr:
    """`key` of `key or str` and of `key if key else str`."""
    if isinstance(value, ast.IfExp):
        return value.body
    return value.values[0] if isinstance(value, ast.BoolOp) else value


_JOINS = {"gather", "create_task", "ensure_future", "as_completed", "wait", "wait_for", "shield", "TaskGroup"}
"""What takes coroutines, to run them side by side."""


def _name_of(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _by_call(call: ast.Call, name: str, *, is_dropped: bool, is_awaited: bool) -> tuple[list[str], list[str]]:
    """The kinds that a call of a name, or with it, implies, and those that it leaves open."""
    called = getattr(call.func, "id", "")
    is_given = any(is_name(each, name) for each in call.args)
    if is_given and getattr(getattr(call.func, "value", None), "id", "") in _OF_BYTES:
        return ["bytes"], []
    if called == name:
        if is_awaited:
            return ["AwaitedCallable"], []
        kind = "Callable" if call.args or call.keywords else "Loader"
        return ["Callback" if is_dropped else kind], []
    if _is_passed_on(call, name):
        return ["Callable"], []
    if called in _BUILT_IN and is_given:
        return [_BUILT_IN[called]], []
    if getattr(call.func, "attr", "") in SEARCHES and is_given:
        return ["str"], []
    if called == "isinstance" and len(call.args) == 2 and is_name(call.args[0], name):
        return [kind.id for kind in ast.walk(call.args[1]) if isinstance(kind, ast.Name)], []
    if getattr(call.func, "attr", called) == "islice" and any(is_name(each, name) for each in call.args[1:]):
        return ["int"], []
    return [], _SEVERAL if called in ("len", "enumerate", "set", "list", "tuple") and is_given else []


_TAKE_FUNCTIONS = frozenset({"map", "filter", "reduce", "starmap", "takewhile", "dropwhile", "partial"})


def _is_passed_on(call: ast.Call, name: str) -> bool:
    """Whether a name is given to what calls it: `sorted(rows, key=by)`, `map(change, rows)`."""
    is_key = any(each.arg == "key" and is_name(each.value, name) for each in call.keywords)
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return is_key or (called in _TAKE_FUNCTIONS and bool(call.args) and is_name(call.args[0], name))


def _by_items(target: ast.expr, name: str, node: ast.AST) -> list[str]:
    """The kinds that what a loop does with the items implies."""
    items = [f"list[{kind}]" for kind in kinds_of_items(target, node) or kinds_of_unpacked(target, node)]
    items = items or (["list[list[int]]"] if is_row(target, node) else [])
    if items == ["list[str]"] and not is_plural(name):  # or the letters of a text
        return ["str"] if named_kind(name) == "str" else ["str", *items]
    return items


def is_only_compared(name: str, node: ast.AST) -> bool:
    """Whether a name is used for nothing but `==`, `!=` and `in`: any single value will do."""
    compared = {
        id(side) for each in ast.walk(node) if isinstance(each, ast.Compare)
        and all(isinstance(sign, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for sign in each.ops)
        for side in [each.left, *(each.comparators if isinstance(each.ops[0], ast.Eq | ast.NotEq) else [])]
    }  # fmt: skip
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    return bool(uses) and all(id(each) in compared for each in uses)


def is_only_tested(name: str, node: ast.AST) -> bool:
    """Whether a name is used for nothing but its truth: `if flag`, `not flag`, `while a or flag`."""
    tested: set[int] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.If | ast.While | ast.IfExp | ast.Assert):
            tested |= _tested(each.test)
        elif isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not):
            tested |= _tested(each.operand)
        elif isinstance(each, ast.comprehension):
            tested |= {part for condition in each.ifs for part in _tested(condition)}
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    return bool(uses) and all(id(each) in tested for each in uses)


def _tested(node: ast.expr) -> set[int]:
    """The expressions of which a condition takes the truth."""
    if isinstance(node, ast.BoolOp):
        return {part for value in node.values for part in _tested(value)}
    return {id(node)}


def _subscripted(index: ast.expr) -> list[str]:
    keyed = isinstance(index, ast.Constant) and isinstance(index.value, str)
    return ["dict"] if keyed else ["list[int]", "dict[str, int]"]


def _is_key(index: ast.expr, name: str, node: ast.AST) -> bool:
    """Whether a subscript is what comes from iterating over the same thing: its key."""
    loops = (each for each in ast.walk(node) if isinstance(each, ast.For | ast.comprehension))
    return any(
        isinstance(each.target, ast.Name) and is_name(index, each.target.id) and is_name(_iterated(each.iter), name)
        for each in loops
    )


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _by_operands(node: ast.BinOp | ast.Compare | ast.AugAssign, name: str, counted: Collection[str]) -> list[str]:
    """The kinds that what a name is computed or compared with implies; `counted` are names that count steps."""
    if isinstance(node, ast.AugAssign):
        sides: list[ast.expr] = [node.value]
    else:
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.left, node.right]
    if not any(is_name(side, name) for side in sides):
        return []
    for side in sides:
        if isinstance(side, ast.Constant) and type(side.value) in (int, float, str):
            return [type(side.value).__name__]
    if isinstance(node, ast.Compare) and any(
        (isinstance(side, ast.Name) and side.id in counted)
        or (isinstance(side, ast.Call) and getattr(side.func, "id", "") == "len")
        for side in sides
    ):
        return ["int"]
    if any(isinstance(side, ast.Call) and getattr(side.func, "attr", getattr(side.func, "id", "")) == "timedelta"
           for side in sides):  # fmt: skip
        return ["date"]
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and any(isinstance(side, ast.List) for side in sides)
    ):
        return ["int"]
    arithmetic = isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Mult)
    return ["int"] if arithmetic else []
