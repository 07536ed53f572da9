"""Captures the arguments with which tests call the functions of some files, copied at the moment of each call.

Plain data is captured as source text. Anything else is pickled, for another run in the sandbox to load; nothing outside
of one may. Tests are not affected: no function is replaced.
"""

from __future__ import annotations

import ast
import base64
import io
import marshal
import math
import os
import pickle
import re
import sys
import threading
import time
import types
import warnings
from collections import Counter
from types import CodeType, FrameType
from typing import Any, Iterable, Iterator, Tuple  # noqa: UP035 - for Python 3.8

from .channel import Channel
from .own_files import OwnFiles

_MOST_CALLS, _MOST_PER_TEST, _MOST_TRIES = 50, 10, 200
"""Distinct calls of a function that are kept in all and of one test, and those of one test that are looked at."""
_MOST_BYTES, _MOST_TOTAL = 64 * 1024, 1024 * 1024
"""Of one call, and of all."""
_SECONDS = 1.0
"""The time for all copies; later calls are not captured."""
_DEPTH = 20
_TOOL = 4
"""A tool number of `sys.monitoring` that is not reserved for a kind of tool, nor used by `traced.py`."""
_STARRED = ((0x4, "*"), (0x8, "**"))
"""CO_VARARGS and CO_VARKEYWORDS (Python's `inspect` module)."""
_PLAIN = (bool, int, str, bytes, type(None), type(Ellipsis))
_KINDS = {
    "_io.TextIOWrapper": "open file", "TextIOWrapper": "open file", "_io.BufferedReader": "open file",
    "BufferedReader": "open file", "_io.BufferedWriter": "open file", "BufferedWriter": "open file",
    "_io.FileIO": "open file", "_thread.lock": "lock", "_thread.RLock": "lock", "async_generator": "generator",
    "sqlite3.Connection": "database", "sqlite3.Cursor": "database",
}  # fmt: skip
"""What a person calls a type that cannot be pickled."""


_Unit = Tuple[str, str]  # noqa: UP006 - for Python 3.8
"""A file, and the qualified name of a function in it."""


class _TooLarge(Exception):
    """The arguments of a call are larger than what is kept of one."""


class CallCapture:
    """Reports distinct calls of the functions of the files `paths` by the event `called`; without any, nothing.

    Calls whose arguments cannot be copied are counted by `uncaptured`, with the reason.
    """

    def __init__(self, channel: Channel, paths: Iterable[str]) -> None:
        self._say = channel.say
        self._ours = OwnFiles(paths)
        self._units: dict[tuple[str, str, int], _Unit] = {}
        self._of_classes: set[_Unit] = set()
        for real, path in self._ours.paths.items():
            for (name, line), unit, is_of_class in _units(real):
                self._units[path, name, line] = path, unit
                self._of_classes.update([(path, unit)] if is_of_class else [])
        self._main = threading.get_ident()
        self._busy = False
        self._known: dict[_Unit, set[str]] = {}
        self._tried: Counter[_Unit] = Counter()
        self._kept: Counter[_Unit] = Counter()
        self._seconds = self._bytes = 0.0

    def start(self) -> None:
        """Begins to capture."""
        if self._units and sys.version_info >= (3, 12):
            self._monitor()
        elif self._units:
            sys.settrace(self._trace)

    def begin(self) -> None:
        """Begins a test: each has its own share of the calls."""
        self._tried.clear()
        self._kept.clear()

    def end(self) -> None:
        """Stops capturing."""
        if self._units and sys.version_info < (3, 12) and sys.gettrace() == self._trace:
            sys.settrace(None)
        self._units = {}

    def _monitor(self) -> None:
        tool: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]

        def started(code: CodeType, offset: int) -> object:
            if not self._ours.named(code.co_filename):
                return tool.DISABLE
            self._called(sys._getframe(1))
            return None

        tool.use_tool_id(_TOOL, "calls")
        tool.register_callback(_TOOL, tool.events.PY_START, started)
        tool.set_events(_TOOL, tool.events.PY_START)

    def _trace(self, frame: FrameType, event: str, argument: object) -> None:
        # This is enough for most frames; accessing a frame's code raises an audit event, which takes time.
        if not self._ours.named(frame.f_globals.get("__file__")) or not self._ours.named(frame.f_code.co_filename):
            return
        if frame.f_lineno == frame.f_code.co_firstlineno:  # otherwise a generator continues
            self._called(frame)

    def _called(self, frame: FrameType) -> None:
        code = frame.f_code
        unit = self._units.get((self._ours.named(code.co_filename), code.co_name, code.co_firstlineno))
        if unit is None or self._busy or self._seconds > _SECONDS or threading.get_ident() != self._main:
            return
        self._tried[unit] += 1
        known = self._known.setdefault(unit, set())
        is_full = len(known) >= _MOST_CALLS or self._kept[unit] >= _MOST_PER_TEST
        if is_full or self._tried[unit] > _MOST_TRIES or self._bytes > _MOST_TOTAL:
            return
        self._busy = True  # copying may call the project's code
        begun = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._keep(unit, frame, known)
        finally:
            self._busy = False
            self._seconds += time.perf_counter() - begun

    def _keep(self, unit: _Unit, frame: FrameType, known: set[str]) -> None:
        given = dict(_given(frame))
        if unit in self._of_classes:
            del given[next(iter(given))]  # the class, which has a name
        try:
            copied = _Copy(given, str(frame.f_globals.get("__name__")))
        except Exception as error:  # noqa: BLE001 - an object may raise anything when it is copied
            self._say("uncaptured", path=unit[0], unit=unit[1], why=_why(error, given))
            return
        if copied.key in known:
            return
        known.add(copied.key)
        self._kept[unit] += 1
        self._bytes += len(copied.key)
        self._say("called", path=unit[0], unit=unit[1], **copied.fields)


def _units(path: str) -> Iterator[tuple[tuple[str, int], str, bool]]:
    """The functions and methods of a file: name and first line, the qualified name, and whether it is a classmethod."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return
    pending: list[tuple[str, Any]] = [("", node) for node in tree.body]
    while pending:
        owner, node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            is_of_class = any(getattr(each, "id", "") == "classmethod" for each in node.decorator_list)
            yield (node.name, first), owner + node.name, is_of_class
        elif isinstance(node, ast.ClassDef):
            pending += [(f"{node.name}.", each) for each in node.body if not owner]
        elif isinstance(node, (ast.If, ast.Try)):
            pending += [(owner, each) for each in (*node.body, *node.orelse)]


def _given(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The arguments of a call that just began, by parameter."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    yield from ((name, values[name]) for name in code.co_varnames[:count])
    for flag, star in _STARRED:
        if code.co_flags & flag:
            yield star + code.co_varnames[count], values[code.co_varnames[count]]
            count += 1


def _why(error: Exception, given: dict[str, Any]) -> str:
    """Why arguments could not be copied, in a few words that hold none of them."""
    if isinstance(error, _TooLarge):
        return "too large"
    kinds = [*re.findall(r"cannot (?:pickle|serialize) '([\w.]+)' object", str(error))]
    kinds += [f"{type(value).__module__}.{type(value).__qualname__}" for value in given.values()]
    known = [_KINDS[kind] for kind in kinds if kind in _KINDS]
    last = kinds[0].rpartition(".")[2] if kinds else ""
    return known[0] if known else last if last.isidentifier() else "unknown kind"


class _Copy:
    """The arguments of a call: `fields` about them in the report, and a key that equal arguments share."""

    def __init__(self, given: dict[str, Any], module: str) -> None:
        texts: dict[str, str] = {}
        writer = _Writer()
        for name, value in given.items():
            try:
                texts[name] = writer.text(value)
            except (TypeError, ValueError):
                continue
        self.fields: dict[str, Any] = {"texts": texts}
        held = [name for name in given if name not in texts]
        if held:
            # What an object holds may also be an argument of its own: they are copied together.
            held = [name for name, value in given.items() if name in held or type(value) in (list, dict, set)]
            for name in held:
                texts.pop(name, None)
            data = _Data(module)
            data.dump({name: given[name] for name in held})
            self.fields["held"] = {name: type(given[name]).__name__ for name in held}
            self.fields["data"] = base64.b64encode(data.file.getvalue()).decode()
            self.fields.update(module=module, classes=sorted(data.classes), files=data.files, words=data.words)
        self.key = repr((sorted(texts.items()), self.fields.get("data")))


class _Writer:
    """Writes plain data as source text. TypeError for other data, and for containers that occur twice."""

    def __init__(self) -> None:
        self._left = _MOST_BYTES
        self._seen: set[int] = set()

    def text(self, value: Any, depth: int = 0) -> str:
        kind = type(value)
        if kind in (str, bytes) and len(value) > self._left:
            raise _TooLarge
        if kind in _PLAIN:
            return self._kept(repr(value))
        if kind is float:
            return self._kept(repr(value) if math.isfinite(value) else f"float('{value}')")
        if kind not in (list, tuple, dict, set, frozenset) or depth > _DEPTH:
            raise TypeError
        if kind is not tuple and kind is not frozenset:
            if id(value) in self._seen:
                raise TypeError
            self._seen.add(id(value))
        if kind is dict:
            pairs = (f"{self.text(key, depth + 1)}: {self.text(item, depth + 1)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        items = ", ".join(self.text(item, depth + 1) for item in value)
        if kind is tuple:
            return f"({items},)" if len(value) == 1 else f"({items})"
        return f"[{items}]" if kind is list else f"{kind.__name__}([{items}])"

    def _kept(self, text: str) -> str:
        self._left -= len(text) + 2
        if self._left < 0:
            raise _TooLarge
        return text


class _Limited(io.BytesIO):
    def write(self, data: Any) -> int:
        if self.tell() + len(data) > _MOST_BYTES:
            raise _TooLarge
        return super().write(data)


class _Data(pickle.Pickler):
    """Pickles objects. Functions that no import finds are pickled with their code and the globals that they use.

    `classes` are those of the module `own` that occur, `files` the project's other modules that loading needs, and
    `words` the texts in the objects, each with the one before it: the name of an attribute or a key, if it has one.
    """

    def __init__(self, own: str) -> None:
        self.file = _Limited()
        super().__init__(self.file, protocol=4)
        self.classes: set[str] = set()
        self.files: dict[str, str] = {}
        self.words: list[str] = []
        self._own, self._depth = own, 0

    def persistent_id(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            self.words.append(value)
        elif isinstance(value, type):
            self._module(value.__module__, value.__qualname__)
        elif kind is types.ModuleType:
            self._module(value.__name__, "")
            return "module", value.__name__
        elif kind is types.FunctionType:
            if _is_importable(value):
                self._module(value.__module__, "")
                return None
            self._depth += 1
            if self._depth > _DEPTH:
                raise TypeError("a function that uses itself")
            cells = [each.cell_contents for each in value.__closure__ or ()]
            names = {name: value.__globals__[name] for name in _names(value.__code__) if name in value.__globals__}
            return ("function", marshal.dumps(value.__code__), value.__name__, names, value.__defaults__,
                    value.__kwdefaults__, cells)  # fmt: skip
        return None

    def _module(self, name: str, inside: str) -> None:
        if name == self._own:
            self.classes.add(inside.partition(".")[0])
            return
        path = getattr(sys.modules.get(name), "__file__", None) or ""
        here = os.getcwd() + os.sep
        if path.startswith(here) and "site-packages" not in path:
            self.files[name] = path[len(here) :]


def _is_importable(function: types.FunctionType) -> bool:
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _names(code: CodeType) -> set[str]:
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)
