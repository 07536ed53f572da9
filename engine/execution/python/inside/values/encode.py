"""Writes a value as text: equal texts mean equal values. Identity does not count, nor the order of sets and dicts.

Methods of a value's own class are not trusted: a class may describe itself wrongly.
"""

from __future__ import annotations

import collections
import enum
import functools
import re
import sys
import types
import zlib
from typing import Any, Callable  # noqa: UP035 - as Python 3.8 has them

from stet_ls.engine.execution.python.inside.values.database import content_of
from stet_ls.engine.execution.python.inside.values.doubles import Double

NODES, DEPTH = 40_000, 60
ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), complex, range)
PLAIN = frozenset(map(id, (*ATOMS, float)))
"""Kinds that hold no other value, by identity: the metaclass of a judged class may call it equal to any of them."""
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()), types.MappingProxyType)
"""Views of a dictionary; changes of the dictionary show in them."""
SAME_CLASSES = {"builtins", "datetime", "decimal", "fractions", "collections", "pathlib", "uuid"}
"""Modules whose classes are the same for all texts that are compared, whatever these define."""
HEAP = 1 << 9
"""The flag of a class that Python code or an extension made at run time."""
OPAQUE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)
BY_PYTHON = re.compile(
    r"operand|not supported between|object (?:is not|has no|does not|cannot)|^object of type|can only concatenate"
    r"|must be|missing \d+ required|takes \d+ positional|unexpected keyword|cannot unpack"
)
"""What Python says of a wrong kind quotes the operation: it differs between two ways to write the same."""
OF_TUPLES = {"__iter__", "__len__", "__getitem__", "__eq__", "__ne__", "__lt__", "__hash__", "__contains__", "__add__",
             "__bool__", "index", "count"}  # fmt: skip
"""What a tuple does with its items."""
NAMED = re.compile(r"[\w.<>]+")


def named(kind: type) -> str:
    """A class' name, unambiguously marked."""
    name = type.__dict__["__qualname__"].__get__(kind)
    return name if NAMED.fullmatch(name) else "class " + repr(name)


def attributes(value: Any) -> Any:
    """The attributes of an object by name; None if its class hides them."""
    for base in type(value).__mro__:
        held = vars(base).get("__dict__")
        if held is not None:
            is_plain = base is types.SimpleNamespace or type(held) is types.GetSetDescriptorType
            return held.__get__(value) if is_plain else None
    return {}


def slots(value: Any) -> dict[str, Any]:
    """The values in an object's slots."""
    found: dict[str, Any] = {}
    for base in type(value).__mro__[:-1]:
        for name, slot in vars(base).items() if "__slots__" in vars(base) else ():
            if type(slot) is types.MemberDescriptorType:
                try:
                    found.setdefault(name, slot.__get__(value))
                except AttributeError:
                    continue
    return found


def atom(value: Any) -> str:
    """A value that holds no other; Python refuses to write whole numbers of thousands of digits in decimal."""
    try:
        return repr(value)
    except ValueError:
        return hex(value) if type(value) is int else str(list(map(hex, (value.start, value.stop, value.step))))


def is_named_tuple(kind: type) -> bool:
    """Whether a class only names the parts of a tuple."""
    return kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and not vars(kind).keys() & OF_TUPLES


def is_shared_class(kind: Any) -> bool:
    """Whether a class is one of Python's own that are the same for all texts, and no other by its name."""
    found = getattr(sys.modules.get(kind.__module__), kind.__name__, None)
    return kind.__module__ in SAME_CLASSES and (found is kind or not kind.__flags__ & HEAP)


def is_of_datetime(kind: type) -> bool:
    """Whether it is a class of that module itself, or the pinned one in its place."""
    names = ("datetime", "date", "time", "timedelta", "timezone")
    held = [getattr(sys.modules.get("datetime"), name, object) for name in names]
    return any(kind is each for base in held for each in base.__mro__[:-1])


def arrays() -> list[tuple[Any, str]]:
    """The available kinds of arrays, each with the attribute that holds its items' kind."""
    kinds = (("array", "array", "typecode"), ("numpy", "ndarray", "dtype"), ("numpy", "generic", "dtype"))
    found = [(getattr(sys.modules.get(module), name, None), attribute) for module, name, attribute in kinds]
    return [(kind, attribute) for kind, attribute in found if isinstance(kind, type)]


def from_input(value: Any) -> str:
    """A function that the call itself wrote down, or that is built in or pinned: the same for both texts; else ""."""
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, (types.ModuleType, type(None))):
        return f"<{value.__module__}.{value.__qualname__}>"
    code = getattr(value, "__code__", None)
    if code is not None and code.co_filename == from_input.__code__.co_filename:
        return f"<{value.__qualname__}>"
    if code is None or code.co_filename != "<string>":
        return ""
    return f"<given function {code_digest(code)}>"


def code_digest(code: types.CodeType) -> int:
    """Equal for functions of equal text. An inner one would be shown with its address, so it has its own digest."""
    held = [code_digest(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return zlib.crc32(code.co_code + repr((code.co_names, held)).encode("utf-8", "backslashreplace"))


class Encoder:
    """Writes one value. A float is prefixed with \\x01, so that the reader allows for rounding; no repr has that.

    Of an iterator, `items` are taken: none of one that is a key. `broken_by` is the error that ended one.
    """

    def __init__(self, private: bool, items: int = 0) -> None:
        self.private, self.items = private, items
        self.nodes = 0
        self.order: list[str] = []
        self.above: list[int] = []
        self.opaque = self.cut = self.partial = False
        self.broken_by = ""

    def text(self, value: Any) -> str:
        self.nodes += 1
        kind = type(value)
        if kind is float:
            return "\x01" + repr(value + 0.0)
        if id(kind) in PLAIN:
            return atom(value)
        if self.nodes > NODES or len(self.above) > DEPTH:
            self.cut = True
            return "..."
        if id(value) in self.above:
            return "<cycle>"
        self.above.append(id(value))
        try:
            return WRITERS[id(kind)](self, value) if id(kind) in WRITERS else self.whole(value, kind)
        finally:
            self.above.pop()

    def whole(self, value: Any, kind: type) -> str:
        if kind is Double:
            return repr(value)
        if issubclass(kind, OPAQUE):
            return from_input(value) or self.unknown(value, kind)
        for base, write in CONTAINERS:
            if issubclass(kind, base):
                text = write(self, value)
                if base is tuple and not is_named_tuple(kind):
                    text = "of " + text  # it may do other things with its items than a tuple
                return "{}({}{})".format(named(kind), text, self.fields(value, ", "))
        if kind is functools.partial:
            self.opaque = True
            return "<partial>"
        if issubclass(kind, VIEWS):
            if kind is types.MappingProxyType:
                return named(kind) + self.mapping(dict(value))
            texts = [self.text(item) for item in value]
            self.order += texts if len(texts) > 1 else []
            return named(kind) + "{" + ", ".join(sorted(texts)) + "}"
        if issubclass(kind, BaseException):
            shows_arguments = kind not in (TypeError, AttributeError) or not BY_PYTHON.search(str(value))
            return "{}{}".format(named(kind), self.listed(value.args if shows_arguments else (), "()"))
        if hasattr(kind, "__next__"):
            return "iterator" + self.drained(value)
        if issubclass(kind, enum.Enum):
            return f"{named(kind)}.{value.name}"
        return self.object(value, kind)

    def unknown(self, value: Any, kind: type) -> str:
        if kind is type and is_shared_class(value):
            return f"<class {value.__module__}.{named(value)}>"
        self.opaque = True
        return "<{} {}>".format(named(kind), getattr(value, "__qualname__", getattr(value, "__name__", "")))

    def object(self, value: Any, kind: type) -> str:
        if kind is re.Pattern:
            return f"<pattern {value.pattern!r} {value.flags}>"
        if kind.__module__ == "datetime" and is_of_datetime(kind):
            return f"{kind.__name__.lower()}({value})"
        for base, attribute in arrays():
            if issubclass(kind, base):
                items = base.tolist(value)  # a long double is its own item
                text = repr(items) if isinstance(items, base) else self.text(items)
                size = base.shape.__get__(value) if hasattr(base, "shape") else ""
                more = "" if kind is base else self.fields(value, ", ")
                return f"{named(kind)}({getattr(value, attribute)}, {size}, {text}{more})"
        sqlite: Any = sys.modules.get("sqlite3")
        if sqlite and issubclass(kind, sqlite.Connection):
            return content_of(value)
        if hasattr(value, "__dict__") or any("__slots__" in vars(base) for base in kind.__mro__[:-1]):
            return "{}({})".format(named(kind), self.fields(value, ""))
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # a lock, a socket: its contents are unknown
            parts = None
        if not isinstance(parts, tuple):
            self.opaque = True
            return f"<{named(kind)}>"
        return "{}{}".format(named(kind), self.listed([part for part in parts[1:] if part is not None], "()"))

    def fields(self, value: Any, lead: str) -> str:
        held = attributes(value)
        self.opaque = self.opaque or held is None
        found = {**slots(value), **(held or {})}
        shown = [name for name in sorted(map(str, found)) if self.private or not name.startswith("_")]
        text = ", ".join(f"{name}={self.text(found.get(name))}" for name in shown)
        return lead + text if text else ""

    def listed(self, values: Any, ends: str) -> str:
        return ends[0] + ", ".join(self.texts(list(values))) + ends[1]

    def texts(self, values: list[Any]) -> list[str]:
        """The text of each value, all at once where none holds others."""
        kinds = set(map(id, map(type, values)))
        if kinds <= PLAIN and len(values) > 1:
            try:
                texts = list(map(repr, values)) if id(float) not in kinds else [
                    "\x01" + repr(value + 0.0) if type(value) is float else repr(value) for value in values
                ]  # fmt: skip
            except ValueError:  # a whole number of thousands of digits
                return [self.text(value) for value in values]
            self.nodes += len(values)
            return texts
        return [self.text(value) for value in values]

    def drained(self, value: Any) -> str:
        """An iterator's items as they come, and again if one differs after all have come."""
        written: list[str] = []
        items: list[Any] = []
        begun = self.nodes
        try:
            while len(items) < self.items:
                items.append(next(value))
                written.append(self.text(items[-1]))
        except StopIteration as end:  # `yield from` has its value
            written += [] if end.value is None else [f"returns {self.text(end.value)}"]
        except Exception as error:
            self.broken_by = type(error).__qualname__
            written.append(f"raises {self.broken_by}")
        self.partial = self.partial or len(items) == self.items
        nodes, self.nodes = self.nodes, begun
        after = [self.text(item) for item in items] + written[len(items) :]
        self.nodes = nodes
        first, last = ("[" + ", ".join(texts) + "]" for texts in (written, after))
        return first if first == last else f"{first} and then {last}"

    def mapping(self, value: Any) -> str:
        keys = self.texts(list(dict.keys(value)))
        self.order += keys if len(keys) > 1 else []
        pairs = list(map("{}: {}".format, keys, self.texts(list(dict.values(value)))))
        ordered = pairs if isinstance(value, collections.OrderedDict) else sorted(pairs)
        return "{" + ", ".join(ordered) + "}"

    def set(self, value: Any) -> str:
        return "{" + ", ".join(sorted(self.texts(list(value)))) + "}"


CONTAINERS: tuple[tuple[type, Callable[[Encoder, Any], str]], ...] = (
    (list, lambda self, value: self.listed(list.__iter__(value), "[]")),
    (tuple, lambda self, value: self.listed(tuple.__iter__(value), "()")),
    (dict, Encoder.mapping),
    (set, Encoder.set),
    (frozenset, Encoder.set),
    (str, lambda self, value: str.__repr__(value)),
    (bytearray, lambda self, value: repr(bytes(value))),
    (int, lambda self, value: f"{value.name if isinstance(value, enum.Enum) else atom(int.__index__(value))}"),
    (float, lambda self, value: "\x01" + float.__repr__(value)),
)
WRITERS = {id(kind): write for kind, write in CONTAINERS}
"""For values of exactly these kinds."""
