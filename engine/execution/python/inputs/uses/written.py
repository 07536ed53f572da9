"""How a code uses its parameters by its text: keys that are read, what is iterated over, and the same of all parts.

A run with doubles (`observed.py`) sees only the branches that it takes. The text names the keys in all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from stet_ls.engine.execution.python.inputs.subject import Subject
from stet_ls.engine.execution.python.inputs.uses.observed import (
    EMPTY,
    EQUALS,
    LATER,
    MATCHED,
    NOTHING,
    OF_DICTS,
    OF_LISTS,
    OPTIONAL,
    PARSED,
    TIME,
    ValueUses,
)
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import METHODS, named_kind
from stet_ls.engine.execution.python.inputs.values.texts.time_texts import parsed_times

Path = tuple[str, ...]
_PASSES = 3
"""A name that stands for a part may be bound to another name before."""
_PARSE = {"int", "float", "Decimal"}
_OF_CONTAINERS = {*METHODS, *OF_DICTS, *OF_LISTS}
"""Methods of texts, lists and the like: no attributes of objects."""
_SAME_ITEMS = {"sorted", "list", "tuple", "reversed", "iter", "set", "dict"}


def written_uses(subject: Subject) -> ValueUses:
    """The uses by parameter of those whose keys the text names; no parts if it names none."""
    paths = _bound(subject)
    whole = ValueUses()
    called = {id(each.func) for each in ast.walk(subject.node) if isinstance(each, ast.Call)}
    for each in ast.walk(subject.node):
        _note(each, paths, whole)
        if isinstance(each, ast.Attribute) and id(each) not in called and (path := _path(each, paths)):
            whole.at(path)  # it is read
    for each in ast.walk(subject.node):
        _share_kind(each, paths, whole)
    for held, form in parsed_times(subject.node):
        if path := _path(held, paths):
            whole.at(path).kinds.add(f"{TIME}{form}")
    _grow_trees(list(_recursions(subject, paths)), whole)
    hinted = {each.name for each in subject.parameters if each.annotation is not None}
    # A hint says which attributes there are, but not which keys.
    named = {
        name: part for name, part in whole.parts.items() if _has_keys(part, "['" if name in hinted else ("['", "."))
    }
    return ValueUses(set(), named)


def _grow_trees(recursions: Sequence[Path], whole: ValueUses) -> None:
    """Gives the parts with which the function calls itself the uses of the whole, two levels deep."""
    ends = {path[1]: ValueUses({NOTHING}) if len(path) == 2 else ValueUses({"iter", EMPTY}) for path in recursions}
    for path in recursions:
        plain = {step: part for step, part in whole.parts.get(path[0], ValueUses()).parts.items() if step not in ends}
        leaf = ValueUses(set(), {**plain, **ends})
        inner = {step: ValueUses({NOTHING}, leaf.parts) if NOTHING in end.kinds else ValueUses({"iter"}, {"[]": leaf})
                 for step, end in ends.items()}  # fmt: skip
        part = whole.at(path)
        part.parts = {**plain, **inner}
        if len(path) == 2:
            part.kinds.add(NOTHING)


def _bound(subject: Subject) -> dict[str, Path]:
    """What each variable stands for."""
    paths: dict[str, Path] = {each.name: (each.name,) for each in subject.parameters if each.name[0] != "*"}
    nodes = list(ast.walk(subject.node))
    for _ in range(_PASSES):
        for each in nodes:
            if isinstance(each, ast.For | ast.AsyncFor | ast.comprehension):
                target, held = each.target, each.iter
                if isinstance(held, ast.Call) and getattr(held.func, "id", "") == "enumerate" and held.args:
                    target, held = target.elts[-1] if isinstance(target, ast.Tuple) else target, held.args[0]
                if isinstance(target, ast.Name) and (path := _path(held, paths)):
                    paths.setdefault(target.id, (*path, "[]"))
            elif isinstance(each, ast.Call):
                for name, held in _asked_of_items(each):
                    if path := _path(held, paths):
                        paths.setdefault(name, (*path, "[]"))
            elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and _path(each.value, paths):
                paths.setdefault(each.targets[0].id, _path(each.value, paths))
    return paths


def _asked_of_items(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The argument of a function that is called with each item, and what holds them: `rows.sort(key=lambda row: …)`."""
    key = next((each.value for each in call.keywords if each.arg == "key"), None)
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name in ("map", "filter") and len(call.args) == 2:
        key, holder = call.args
    elif name == "sort" and isinstance(call.func, ast.Attribute):
        holder = call.func.value
    elif name in ("sorted", "min", "max") and call.args:
        holder = call.args[0]
    else:
        return
    if isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        yield key.args.args[0].arg, holder


def _path(node: ast.expr, paths: dict[str, Path]) -> Path:
    """The part of a parameter that an expression stands for; () for none."""
    if isinstance(node, ast.Name):
        return paths.get(node.id, ())
    if isinstance(node, ast.BoolOp):  # `user.get("tags") or []`
        return _path(node.values[0], paths)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _SAME_ITEMS and node.args:
        return _path(node.args[0], paths)
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("copy", "deepcopy"):
        held = node.args[0] if node.args else getattr(node.func, "value", None)
        return _path(held, paths) if isinstance(held, ast.expr) else ()
    if isinstance(node, ast.Attribute) and node.attr not in _OF_CONTAINERS:
        path = _path(node.value, paths)
        return (*path, f".{node.attr}") if path else ()
    holder, key = _keyed(node)
    path = _path(holder, paths) if holder is not None else ()
    return (*path, f"[{key!r}]") if path else ()


def _keyed(node: ast.expr) -> tuple[ast.expr | None, str]:
    """What is subscripted with a text, or asked for one by `get`, and the text."""
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        holder, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        holder, key = node.func.value, node.args[0]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return holder, key.value
    return None, ""


def _note(node: ast.AST, paths: dict[str, Path], whole: ValueUses) -> None:
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and (path := _path(node.iter, paths)):
        is_later = isinstance(node, ast.AsyncFor) or (isinstance(node, ast.comprehension) and node.is_async)
        whole.at(path).kinds.update({"iter", LATER} if is_later else {"iter"})
    elif isinstance(node, ast.Compare | ast.BinOp):
        sides = [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]
        kinds = {kind for each in sides for kind in _kinds(each, is_compared=isinstance(node, ast.Compare))}
        found = [path for each in sides if (path := _path(each, paths))]
        if isinstance(node, ast.Compare) and len(found) > 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            kinds.add(MATCHED)
        for path in found:
            whole.at(path).kinds.update(kinds)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in _PARSE and len(node.args) == 1:
        if path := _path(node.args[0], paths):
            whole.at(path).kinds.add(PARSED)
    elif isinstance(node, ast.Attribute) and METHODS.get(node.attr) == "str" and (path := _path(node.value, paths)):
        whole.at(path).kinds.add("text")
    if isinstance(node, ast.Subscript | ast.Call) and (path := _path(node, paths)):
        whole.at(path).kinds.update({OPTIONAL} if isinstance(node, ast.Call) and _keyed(node)[0] is not None else ())


def _share_kind(node: ast.AST, paths: dict[str, Path], whole: ValueUses) -> None:
    """Makes texts of both parts of arguments that are compared with each other, if one of them is a text."""
    if not isinstance(node, ast.Compare):
        return
    found = [path for each in (node.left, *node.comparators) if (path := _path(each, paths))]
    matched = [path for path in found if MATCHED in whole.at(path).kinds]
    if any("text" in whole.at(path).kinds or named_kind(path[-1].strip("[']")) == "str" for path in matched):
        for path in matched:
            whole.at(path).kinds.add("text")


def _kinds(node: ast.expr, *, is_compared: bool) -> Iterator[str]:
    """What an operand says of the other one: its kind, and the text with which it is compared."""
    for each in node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]:
        if isinstance(each, ast.Constant) and type(each.value) in (int, float):
            yield "number"
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield "text"
            if is_compared:
                yield f"{EQUALS}{each.value!r}"


def _recursions(subject: Subject, paths: dict[str, Path]) -> Iterator[Path]:
    """The parts of a parameter with which a function calls itself in place of that parameter."""
    names = [each.name for each in subject.parameters]
    for each in ast.walk(subject.node):
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == subject.name:
            for name, given in zip(names, each.args, strict=False):
                path = _path(given, paths)
                if len(path) > 1 and path[0] == name:
                    yield path


def _has_keys(uses: ValueUses, signs: str | tuple[str, ...]) -> bool:
    return any(step.startswith(signs) or _has_keys(part, signs) for step, part in uses.parts.items())
