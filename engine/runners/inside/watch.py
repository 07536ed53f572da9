"""Detects code under test that tampers with its tests: frames, the reporter, test files, patched modules.

Audit events (PEP 578) precede the action they report, cannot be undone, and do not depend on how a name is written.
Only actions of the project's files that are not tests count.
"""

from __future__ import annotations

import ast
import builtins
import operator
import os
import sys
import threading
import types
from typing import Any, Callable, Iterable, Iterator, List, Set, Tuple  # noqa: UP035 - for Python 3.8

from .channel import Channel

_HERE = os.path.dirname(os.path.abspath(__file__))
_CALLS = frozenset(
    {
        "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._getframe", "sys._current_frames",
        "sys._current_exceptions", "sys.settrace", "sys.setprofile", "sys.addaudithook", "code.__new__",
        "function.__new__", "sys.monitoring.register_callback",
    }
)  # fmt: skip
"""Audit events that are raised only by access to the interpreter's internals."""
_LOOKS = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_code"})
_SWAPS = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_HELPERS = frozenset({"inspect.py", "traceback.py"})
"""Files of the standard library through which a frame is requested on behalf of their caller."""
_CORE = ("_pytest", "pytest", "pluggy", "unittest", "builtins", "stet_inside", "operator", "math")
_CALLABLE = (
    types.FunctionType, types.BuiltinFunctionType, type, property, classmethod, staticmethod,
    type(str.join), type(int.__add__), type(dict.__dict__["fromkeys"]),
)  # fmt: skip
_PLAIN = frozenset(_CALLABLE)
_HOOKS = frozenset({"unraisablehook", "excepthook", "displayhook", "showwarning", "_showwarnmsg_impl"})
"""What pytest itself replaces to show warnings and lost errors: no verdict depends on it."""
_PREFIX = "PYTEST_"
_all, _id, _map, _vars, _is, _get_ident = all, id, map, vars, operator.is_, threading.get_ident
_getframe, _abspath = sys._getframe, os.path.abspath
"""As they are now: code under test may replace what has these names."""


class TamperWatch:
    """Reports each kind of tampering once, by the event `reached`, at the moment it happens."""

    def __init__(self, channel: Channel, tests: list[str]) -> None:
        self._say = channel.say
        self._tests = {_abspath(path.partition("::")[0]) for path in tests}
        self._reported: set[str] = set()
        self._busy: Set[int] = set()  # noqa: UP006
        self._root = os.getcwd() + os.sep
        self._opened: dict[str, set[bool]] = {}
        self._decimals: Any = None
        self._core: List[_Pins] = []  # noqa: UP006
        self._all: List[_Pins] = []  # noqa: UP006
        self._functions: Set[int] = set()  # noqa: UP006 - the identities of all functions

    def begin(self) -> None:
        """Starts the watch and records the current state. Called before any file of the project is loaded."""
        for name, module in list(sys.modules.items()):
            if module is None or name == "__main__" or self._is_project(getattr(module, "__file__", None) or ""):
                continue
            pins = list(_pinned(module))
            self._all += pins
            if name.partition(".")[0] in _CORE:
                self._core += pins
        self._functions = {id(each) for pins in self._all for each in pins.functions}
        for name in [name for name in sys.modules if name.partition(".")[0] == "stet_inside"]:
            del sys.modules[name]  # the reporter cannot be found by its name
        self._decimals = _decimals()
        os.environ._data = _Variables(os.environ._data, self._variable)  # type: ignore[attr-defined]
        sys.addaudithook(self._hook)

    def look(self) -> None:
        """Checks that the code which runs and reports tests is unchanged."""
        self._compare(self._core)
        if _decimals() != self._decimals:
            self._report("changes how numbers of `decimal` are rounded")

    def end(self) -> None:
        """Checks everything that was loaded before the project's files."""
        self._compare(self._all)
        for module in [module for module in list(sys.modules.values()) if self._is_tests(_file(module))]:
            for name in _shadowed(module):
                self._report(f"gives the tests another `{name}`")
        self._say("watched")

    def _report(self, what: str) -> None:
        if what not in self._reported:
            self._reported.add(what)
            self._say("reached", what=what)

    def _compare(self, pinned: Iterable[_Pins]) -> None:
        for pins in pinned:
            if not pins.hold():
                for name in pins.changed():
                    self._report(f"changes `{pins.where}.{name}`")

    def _variable(self, key: Any) -> None:
        name = os.fsdecode(key)
        if name.startswith(_PREFIX) and self._asks(_getframe(2), frozenset({"os.py", "_collections_abc.py"})):
            self._report(f"reads `{name}`")

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        own = _get_ident()
        if own in self._busy or not (event in _CALLS or event == "open" or event.startswith(("ctypes.", "object.__"))):
            return
        self._busy.add(own)  # the code below raises events, too
        try:
            self._judge(event, given)
        finally:
            self._busy.discard(own)

    def _judge(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            if isinstance(given[0], (str, bytes)):
                self._open(os.fsdecode(given[0]), _getframe(2))
        elif event.startswith("object.__"):
            name = given[1] if len(given) > 1 else ""
            if name in _SWAPS and event == "object.__setattr__" and _id(given[0]) in self._functions:
                # Also if a library does it, and if it is undone.
                self._report(f"changes `{given[0].__module__}.{given[0].__qualname__}`")
            own = name == "__code__" and self._is_test(getattr(given[0], "__module__", None))
            wanted = name in _LOOKS or own if event.startswith("object.__get") else name in _SWAPS
            if wanted and self._asks(_getframe(2), frozenset()):
                self._report(f"uses `{name}`")
        elif self._asks(_getframe(2), _HELPERS if event == "sys._getframe" else frozenset()):
            self._report(f"uses `{event.partition('.')[0] if event.startswith('ctypes') else event}`")

    def _asks(self, frame: Any, through: frozenset[str]) -> bool:
        """Whether the frame is of code under test, of text that it ran, or of a file that asks on its behalf."""
        while frame is not None:
            name = frame.f_code.co_filename
            if not name.startswith("<") and os.path.basename(name) not in through:
                return self._is_project(name) and not self._is_tests(name)
            frame = frame.f_back
        return False

    def _open(self, name: str, frame: Any) -> None:
        """Reports opened test files; a file of the project that a test reads for itself does not count."""
        path = _abspath(name)
        own = self._is_tests(path)
        if not own and (not self._is_project(path) or path.endswith((".py", ".pyc"))):
            return
        by = self._opener(frame)
        if own and by is False:
            self._report("opens files of the tests")
        if own or by is None:
            return
        known = self._opened.setdefault(path, set())
        known.add(by)
        if len(known) > 1:
            self._report(f"opens `{os.path.relpath(path, self._root)}`, which the tests read")

    def _opener(self, frame: Any) -> bool | None:
        """Whether tests or the code under test opened a file; None for the loader."""
        while frame is not None:
            name = frame.f_code.co_filename
            if "importlib" in name or _abspath(name).startswith(_HERE):
                return None
            if self._is_project(name):
                return self._is_tests(name)
            frame = frame.f_back
        return None

    def _is_project(self, name: str) -> bool:
        if not name or "site-packages" in name or "dist-packages" in name:
            return False
        path = _abspath(name)
        return path.startswith(self._root) and not path.startswith(_HERE)

    def _is_tests(self, name: str) -> bool:
        path = _abspath(name)
        base = os.path.basename(path)
        stem = base.partition(".")[0]
        is_named = stem == "conftest" or stem.startswith("test_") or stem.endswith("_test")
        return path in self._tests or (is_named and base.endswith((".py", ".pyc"))) or path.startswith(_HERE)

    def _is_test(self, module: Any) -> bool:
        last = str(module).rpartition(".")[2]
        return last.startswith("test_") or last.endswith("_test") or last == "conftest"


class _Variables(dict):  # type: ignore[type-arg]
    """The environment's table, which reports access to a variable; copying all of them does not count."""

    def __init__(self, known: dict[Any, Any], asked: Callable[[Any], None]) -> None:
        super().__init__(known)
        self._asked, self._copying = asked, 0

    def __iter__(self) -> Iterator[Any]:
        self._copying = len(self)
        return super().__iter__()

    def __getitem__(self, key: Any) -> Any:
        if self._copying:
            self._copying -= 1
        else:
            self._asked(key)
        return super().__getitem__(key)


def _file(module: Any) -> str:
    """The file of a module; "" for one that has none."""
    return str(getattr(module, "__file__", None) or "")


def _decimals() -> Any:
    """The rounding of numbers; None while `decimal` is not loaded."""
    decimal = sys.modules.get("decimal")
    context = decimal.getcontext() if decimal is not None else None
    return (context.prec, context.rounding) if context is not None else (28, "ROUND_HALF_EVEN")


def _shadowed(module: Any) -> Iterator[str]:
    """Built-in names that a star import replaced in a test file."""
    names = [name for name in vars(module) if name in vars(builtins) and not name.startswith("_")]
    try:
        with open(_file(module), encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return
    nodes = list(ast.walk(tree)) if names else []
    given = [alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    if "*" in given:
        bound = {
            alias.asname or alias.name
            for node in nodes
            for alias in getattr(node, "names", ())
            if hasattr(alias, "name")
        }
        bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        bound |= {str(getattr(node, "name", "")) for node in nodes}
        yield from (name for name in names if name not in bound)


class _Pins:
    """Callables of a module or a class, as they were. `hold` runs after each test: it has no loop in Python."""

    def __init__(self, owner: Any, found: List[Tuple[str, Any]]) -> None:  # noqa: UP006
        self._owner = owner
        self._names = [name for name, _ in found]
        self._values = [value for _, value in found]
        self.functions = [value for value in self._values if isinstance(value, types.FunctionType)]

    @property
    def where(self) -> str:
        owner = self._owner
        return f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else str(owner.__name__)

    def hold(self) -> bool:
        """Whether each name still has the same object."""
        return _all(_map(_is, _map(_vars(self._owner).get, self._names), self._values))

    def changed(self) -> Iterator[str]:
        """The names of other objects than before."""
        now = vars(self._owner)
        yield from (name for name, value in zip(self._names, self._values) if now.get(name) is not value)  # noqa: B905


def _pinned(module: Any) -> Iterator[_Pins]:
    """The callables of a module and of each of its classes."""
    owners = [module]
    owners += [
        each for each in list(vars(module).values()) if isinstance(each, type) and each.__module__ == module.__name__
    ]
    for owner in owners:
        found = [
            (name, value)
            for name, value in list(vars(owner).items())
            if (type(value) in _PLAIN or isinstance(value, _CALLABLE)) and name not in _HOOKS
        ]
        if found:
            yield _Pins(owner, found)
