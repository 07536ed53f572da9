"""Finds the paths that lead to the same object: what a caller changes by one of them changes by the others too.

Equal values can be one list or two, and no text of them shows which. Only mutable objects are reported: lists and
the like, unhashable values, and objects of classes that do not declare themselves values by `__eq__` and `__hash__` or
a `__setattr__`. Iterators are not searched, since that uses them up.
"""

from __future__ import annotations

import collections
import enum
import gc
import itertools
import operator
from typing import Any

from stet_ls.engine.execution.python.inside.values.doubles import Double
from stet_ls.engine.execution.python.inside.values.encode import NODES, OPAQUE, PLAIN, VIEWS, Encoder, attributes, slots

CHANGED = (list, dict, set, bytearray, collections.deque)
BARE = frozenset(map(id, (*CHANGED, tuple, frozenset)))
"""Kinds without fields, by identity."""
Way = Any
"""A name, or a pair of the path to a container and the step from there."""


def shared(named: dict[str, Any], returned: list[Any], private: bool) -> str:
    """`a[0] is the result.items; b is c is d`, "" if each object found has only one path."""
    if are_unshared([value for value in (*named.values(), *returned) if id(type(value)) not in PLAIN]):
        return ""
    results = {f"result {number}": value for number, value in enumerate(returned, 1)}
    if len(returned) == 1:
        results = {"the result": returned[0]}
    roots = {**named, **results}
    pending: list[tuple[Any, Way]] = [(value, name) for name, value in roots.items() if id(type(value)) not in PLAIN]
    ways: dict[int, list[Way]] = {}
    for _ in range(NODES):
        if not pending:
            break
        value, way = pending.pop()
        if is_changed_in_place(value):
            if id(value) in ways:
                ways[id(value)].append(way)
                continue  # its contents have their path by the first
            ways[id(value)] = [way]
        pending += [(item, (way, step)) for step, item in held(value, private) if id(type(item)) not in PLAIN]
    return "; ".join(sorted(" is ".join(sorted(map(written, each))) for each in ways.values() if len(each) > 1))


def are_unshared(values: list[Any]) -> bool:
    """Whether these are built-in containers without shared items; a fast check for the common case."""
    met: set[int] = set()
    while values:
        count = len(met) + len(values)
        met.update(map(id, values))
        if len(met) < count or not BARE.issuperset(map(id, map(type, values))):
            return False
        items = itertools.chain.from_iterable(each.values() if type(each) is dict else each for each in values)
        values = [item for item in items if id(type(item)) not in PLAIN]
    return True


def is_changed_in_place(value: Any) -> bool:
    kind = type(value)
    if issubclass(kind, (*CHANGED, tuple, frozenset)):
        return issubclass(kind, CHANGED)
    if issubclass(kind, (*OPAQUE, *VIEWS, Double, BaseException, enum.Enum)) or hasattr(kind, "__next__"):
        return False
    named = [vars(base) for base in kind.__mro__[:-1]]
    if any("__setattr__" in names or ("__eq__" in names and names.get("__hash__")) for names in named):
        return False
    return kind.__hash__ is None or any("__dict__" in names or "__slots__" in names for names in named)


def held(value: Any, private: bool) -> list[tuple[str, Any]]:
    """The contents of a value by the step to them, in an order that is the same for equal values."""
    kind = type(value)
    found: list[tuple[str, Any]] = []
    if kind is Double:
        return found
    if issubclass(kind, dict):
        keyed = ((f"[{Encoder(private).text(key)}]", item) for key, item in dict.items(value))
        found = sorted(keyed, key=operator.itemgetter(0))
    elif issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        found = [(f"[{number}]", item) for number, item in enumerate(base.__iter__(value))]
    elif kind is collections.deque:
        found = [(f"[{number}]", item) for number, item in enumerate(value)]
    elif issubclass(kind, (set, frozenset)):
        items = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
        hashed = ((Encoder(private).text(item), item) for item in items if id(type(item)) not in PLAIN)
        found = [(f" has {text}", item) for text, item in sorted(hashed, key=operator.itemgetter(0))]
    elif issubclass(kind, VIEWS):
        found = [(" looks at", item) for item in gc.get_referents(value) if isinstance(item, dict)]
    if id(kind) not in BARE and not issubclass(kind, OPAQUE) and not hasattr(kind, "__next__"):
        fields = {**slots(value), **(attributes(value) or {})}
        shown = [name for name in sorted(map(str, fields)) if private or not name.startswith("_")]
        found += [(f".{name}", fields.get(name)) for name in shown]
    return found


def written(way: Way) -> str:
    steps: list[str] = []
    while type(way) is tuple:
        way, step = way
        steps.append(step)
    return "".join([way, *reversed(steps)])
