"""Pins what differs from one run to the next, and detects access to the outside of the process."""

from __future__ import annotations

import hashlib
import operator
import os
import random
import sys
import threading
import time
import types
from typing import Any

from stet_ls.engine.execution.python.inside.scratch import Scratch


class NotComparable(BaseException):
    """A call was about to do something that cannot be compared."""


class Pins:
    """The clock advances only by sleeps; system randomness is a counter; access to the outside is recorded."""

    def __init__(self, reads: bool, folder: str) -> None:
        self.scratch = Scratch(folder)
        self.now, self.drawn, self.reads, self.slept = 1_700_000_000.0, 0, reads, 0.0
        self.reached, self.inside = "", False
        self.side_effects: dict[str, None] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.main = threading.get_ident()
        roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr/lib", "/usr/share", "/dev", "/proc"}
        self.own = tuple(root.rstrip("/") + "/" for root in roots if root not in ("/", ""))

    def install(self, texts: list[str]) -> None:
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, lambda: self.now)
            setattr(time, name + "_ns", lambda: int(self.now * 1e9))
        setattr(time, "sleep", self.sleep)  # noqa: B010 - correct, but the type checker rejects it
        os.urandom = self.urandom
        setattr(random, "_urandom", self.urandom)  # noqa: B010 - the source of uuid and secrets has no public name
        if any("date" in text for text in texts):
            self.dates()
        own = getattr(sys, "stdlib_module_names", ())
        self.known = {name: dict(vars(each)) for name, each in sys.modules.items() if name.partition(".")[0] in own}
        sys.addaudithook(self.hook)

    def compare_all(self) -> None:
        """Records changes of modules that were loaded before the text."""
        for name in self.known:
            self.compare(name)

    def compare(self, name: str) -> None:
        now, known = vars(sys.modules.get(name, types)), self.known[name]
        if len(now) == len(known) and alike(now, known) and alike(now.values(), known.values()):
            return  # the same names with the same values in the same order
        for each, value in known.items() if name in sys.modules else ():
            if now.get(each) is not value and callable(value) and not each.startswith("_"):
                self.side_effects[f"it changes `{name}.{each}`"] = None

    def start(self) -> None:
        self.now, self.drawn, self.reached = 1_700_000_000.0, 0, ""
        self.slept = 0.0
        random.seed(0)
        numpy = sys.modules.get("numpy")
        if hasattr(numpy, "random"):
            numpy.random.seed(0)  # type: ignore[union-attr]

    def sleep(self, seconds: float) -> None:
        self.slept += max(0.0, seconds)
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Advances the clock, as an event loop does until its next timer: tasks may wait at the same time."""
        self.now += max(0.0, seconds)

    def urandom(self, size: int) -> bytes:
        self.drawn += 1
        return hashlib.shake_128(b"%d" % self.drawn).digest(size)

    def dates(self) -> None:
        import datetime

        pins = self

        class Same(type):
            def __instancecheck__(cls, value: object) -> bool:
                return isinstance(value, cls.__mro__[1])

        class Moment(datetime.datetime, metaclass=Same):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return cls.fromtimestamp(pins.now, tz)

            @classmethod
            def utcnow(cls) -> Any:
                return cls.fromtimestamp(pins.now, datetime.UTC).replace(tzinfo=None)

            today = now

            def __repr__(self) -> str:
                return named(self, Moment, super().__repr__())

        class Day(datetime.date, metaclass=Same):
            @classmethod
            def today(cls) -> Any:
                return cls.fromtimestamp(pins.now)

            def __repr__(self) -> str:
                return named(self, Day, super().__repr__())

        def named(value: object, frozen: type, written: str) -> str:
            """As the original's repr: with its module, which it omits for subclasses."""
            return f"datetime.{written}" if type(value) is frozen else written

        for frozen, old in ((Moment, datetime.datetime), (Day, datetime.date)):
            frozen.__name__ = frozen.__qualname__ = old.__name__
            frozen.__module__ = "datetime"
            setattr(datetime, old.__name__, frozen)

    def hook(self, event: str, details: tuple[Any, ...]) -> None:
        what = self.reach(event, details)
        if what and self.inside:
            self.reached = self.reached or what
            raise NotComparable(what)
        if what and not what.startswith("it reads"):
            # During loading, or later by a thread or a finalizer: no call would show it.
            self.side_effects[what] = None

    def reach(self, event: str, details: tuple[Any, ...]) -> str:
        if self.scratch.is_used and event in OF_FILES and self.scratch.holds(*details[: OF_FILES[event]]):
            return ""
        if event == "open":
            return self.opens(*details)
        if event in ("os.listdir", "os.scandir"):
            return "" if self.reads or self.of_python(details[0]) else "it reads folders"
        if event == "sqlite3.connect":
            return "" if details[0] == ":memory:" else "it opens a database"
        return REACHES.get(event, "")

    def opens(self, path: Any, mode: str | None, flags: int) -> str:
        if isinstance(path, int):
            return ""
        if any(sign in mode for sign in "wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return "" if str(path) == os.devnull else "it writes files"
        return "" if self.reads or self.of_python(path) else "it reads files"

    def of_python(self, path: Any) -> bool:
        return os.path.abspath(os.fsdecode(path or ".")).startswith(self.own)


def alike(some: Any, others: Any) -> bool:
    """Whether two iterables of one length yield the same objects. Calls no method of the objects, and needs no loop."""
    return all(map(operator.is_, some, others))


OF_FILES = {
    **dict.fromkeys(("open", "os.listdir", "os.scandir", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod",
                     "os.utime", "shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp"), 1),
    **dict.fromkeys(("os.rename", "shutil.move"), 2),
}  # fmt: skip
"""Events of files, and how many paths they name."""
REACHES: dict[str, str] = {"builtins.input": "it asks at the terminal", "webbrowser.open": "it opens a browser"}
REACHES.update(dict.fromkeys(
    ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
    "it starts processes",
))  # fmt: skip
REACHES.update(dict.fromkeys(
    ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
     "os.utime", "shutil.rmtree", "shutil.move", "tempfile.mkstemp", "tempfile.mkdtemp"),
    "it changes files",
))  # fmt: skip
REACHES.update(dict.fromkeys(
    ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"),
    "it talks to the network",
))  # fmt: skip
REACHES.update(dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "it sends signals"))
