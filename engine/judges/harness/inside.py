"""Goes into the box: runs the same calls against several texts of a module, each in a state as fresh as the others'.

Needs Python 3.8 and its standard library. Reads one job (JSON, the path is its argument, see `trial.py`) and writes
one report to the descriptor BOX_REPORT_FD. Each text is loaded and run in a fork of its own, so that nothing one of
them does to its process reaches the other; chance, clock and system randomness are pinned, and what would reach out of
the process (files written, processes, network) ends a call before it happens.
"""

from __future__ import annotations

import builtins
import enum
import gc
import hashlib
import importlib
import importlib.util
import io
import itertools
import json
import mmap
import operator
import os
import random
import re
import select
import signal
import sys
import threading
import time
import types
from typing import Any, Callable, Iterator, NoReturn  # noqa: UP035 - as Python 3.8 has them

NODES, ITEMS, DEPTH, SHOWN, PRINTED = 40_000, 1_000, 60, 600, 20_000
ATOMS = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented), complex, range)
OPAQUE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)
NAMED = re.compile(r"[\w.<>]+")
real_clock, real_work, real_fork = time.perf_counter, time.process_time, os.fork


try:
    import ctypes
except ImportError:  # a Python that was built without
    ctypes = None  # type: ignore[assignment]


class Late(BaseException):
    """A call took longer than it may."""


class Reached(BaseException):
    """A call was about to do what cannot be compared."""


class Begun(BaseException):
    """A fork begins: raised through all frames of its parent, so that no frame holds what the others came to."""


# What a value is, as text: equal texts mean equal values. Identity does not count, nor the order of sets and dicts.
# No word of a value's own class is taken for what it is: a class may say of itself what it likes.


def named(kind: type) -> str:
    """A class' name, such that it cannot be read as anything else."""
    name = type.__dict__["__qualname__"].__get__(kind)
    return name if NAMED.fullmatch(name) else "class " + repr(name)


def attributes(value: Any) -> Any:
    """What an object holds by name; None if its class hides it."""
    for base in type(value).__mro__:
        held = vars(base).get("__dict__")
        if held is not None:
            return held.__get__(value) if type(held) is types.GetSetDescriptorType else None
    return {}


def slots(value: Any) -> dict[str, Any]:
    """What an object holds in slots."""
    found: dict[str, Any] = {}
    for base in type(value).__mro__[:-1]:
        for name, slot in vars(base).items() if "__slots__" in vars(base) else ():
            if type(slot) is types.MemberDescriptorType:
                try:
                    found.setdefault(name, slot.__get__(value))
                except AttributeError:
                    continue
    return found


class Encoder:
    """Writes one value. A float is led by \\x01, so that the reader can allow for rounding; no repr holds that sign."""

    def __init__(self, private: bool) -> None:
        self.private = private
        self.nodes = 0
        self.above: list[int] = []
        self.opaque = self.cut = False

    def text(self, value: Any) -> str:
        self.nodes += 1
        kind = type(value)
        if kind is float:
            return "\x01" + repr(value + 0.0)
        if kind in ATOMS:
            return repr(value)
        if self.nodes > NODES or len(self.above) > DEPTH:
            self.cut = True
            return "..."
        if id(value) in self.above:
            return "<cycle>"
        self.above.append(id(value))
        try:
            return self.whole(value, kind)
        finally:
            self.above.pop()

    def whole(self, value: Any, kind: type) -> str:
        if issubclass(kind, OPAQUE):
            self.opaque = True
            return "<{} {}>".format(named(kind), getattr(value, "__qualname__", getattr(value, "__name__", "")))
        for base, write in CONTAINERS:
            if issubclass(kind, base):
                text = write(self, value)
                return text if kind is base else "{}({}{})".format(named(kind), text, self.fields(value, ", "))
        if issubclass(kind, BaseException):
            return "{}{}".format(named(kind), self.listed(value.args, "()"))
        if hasattr(kind, "__next__"):
            return "iterator" + self.drained(value)
        if issubclass(kind, enum.Enum):
            return f"{named(kind)}.{value.name}"
        return self.object(value, kind)

    def object(self, value: Any, kind: type) -> str:
        dates: Any = sys.modules.get("datetime") if kind.__module__ == "datetime" else None
        if dates and isinstance(value, (dates.date, dates.time, dates.timedelta, dates.tzinfo)):
            return f"{kind.__name__.lower()}({value})"
        if hasattr(value, "__dict__") or any("__slots__" in vars(base) for base in kind.__mro__[:-1]):
            return "{}({})".format(named(kind), self.fields(value, ""))
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # a lock, a socket: nothing can be said of what it holds
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
        return ends[0] + ", ".join([self.text(value) for value in values]) + ends[1]

    def drained(self, value: Any) -> str:
        try:
            return self.listed(list(itertools.islice(value, ITEMS)), "[]")
        except Exception as error:
            return f"[raises {type(error).__qualname__}]"

    def mapping(self, value: Any) -> str:
        pairs = sorted(f"{self.text(key)}: {self.text(item)}" for key, item in dict.items(value))
        return "{" + ", ".join(pairs) + "}"

    def set(self, value: Any) -> str:
        return "{" + ", ".join(sorted(self.text(item) for item in value)) + "}"


CONTAINERS: tuple[tuple[type, Callable[[Encoder, Any], str]], ...] = (
    (list, lambda self, value: self.listed(list.__iter__(value), "[]")),
    (tuple, lambda self, value: self.listed(tuple.__iter__(value), "()")),
    (dict, Encoder.mapping),
    (set, Encoder.set),
    (frozenset, Encoder.set),
    (str, lambda self, value: str.__repr__(value)),
    (bytearray, lambda self, value: repr(bytes(value))),
    (int, lambda self, value: f"{value.name if isinstance(value, enum.Enum) else int.__repr__(value)}"),
    (float, lambda self, value: "\x01" + float.__repr__(value)),
)


# What differs from one run to the next is made the same.


class Pins:
    """The clock stands still but for sleeps; system randomness counts; a call's attempts to reach out are noted."""

    def __init__(self, reads: bool) -> None:
        self.now, self.drawn, self.reads = 1_700_000_000.0, 0, reads
        self.reached, self.inside = "", False
        self.beside: dict[str, None] = {}
        self.known: dict[str, dict[str, Any]] = {}
        self.main = threading.get_ident()
        roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, "/usr/lib", "/usr/share", "/dev", "/proc"}
        self.own = tuple(root.rstrip("/") + "/" for root in roots if root not in ("/", ""))

    def install(self, texts: list[str]) -> None:
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, lambda: self.now)
            setattr(time, name + "_ns", lambda: int(self.now * 1e9))
        setattr(time, "sleep", self.sleep)  # noqa: B010 - of the right kind for all but the type checker
        os.urandom = self.urandom
        setattr(random, "_urandom", self.urandom)  # noqa: B010 - what uuid and secrets draw from has no public name
        if any("date" in text for text in texts):
            self.dates()
        own = getattr(sys, "stdlib_module_names", ())
        self.known = {name: dict(vars(each)) for name, each in sys.modules.items() if name.partition(".")[0] in own}
        sys.addaudithook(self.hook)

    def compare_all(self) -> None:
        """Notes what was changed of modules that were there before the text."""
        for name in self.known:
            self.compare(name)

    def compare(self, name: str) -> None:
        now, known = vars(sys.modules.get(name, types)), self.known[name]
        if len(now) == len(known) and alike(now, known) and alike(now.values(), known.values()):
            return  # the same names with the same values in the same order
        for each, value in known.items() if name in sys.modules else ():
            if now.get(each) is not value and callable(value) and not each.startswith("_"):
                self.beside[f"it changes `{name}.{each}`"] = None

    def start(self) -> None:
        self.now, self.drawn, self.reached = 1_700_000_000.0, 0, ""
        random.seed(0)
        numpy = sys.modules.get("numpy")
        if hasattr(numpy, "random"):
            numpy.random.seed(0)  # type: ignore[union-attr]

    def sleep(self, seconds: float) -> None:
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

        class Day(datetime.date, metaclass=Same):
            @classmethod
            def today(cls) -> Any:
                return cls.fromtimestamp(pins.now)

        for frozen, old in ((Moment, datetime.datetime), (Day, datetime.date)):
            frozen.__name__ = frozen.__qualname__ = old.__name__
            frozen.__module__ = "datetime"
            setattr(datetime, old.__name__, frozen)

    def hook(self, event: str, details: tuple[Any, ...]) -> None:
        what = self.reach(event, details)
        if what and self.inside:
            self.reached = self.reached or what
            raise Reached(what)
        if what and not what.startswith("it reads"):
            # While it was loaded, or later by a thread or by what was thrown away: nothing that a call would show.
            self.beside[what] = None

    def reach(self, event: str, details: tuple[Any, ...]) -> str:
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
    """Whether two iterables of one length give the same objects. No object is asked, and it takes no loop of ours."""
    return all(map(operator.is_, some, others))


REACHES: dict[str, str] = {
    "builtins.input": "it asks at the terminal",
    "webbrowser.open": "it opens a browser",
}
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


# A text as the module that it would be in its project.


class Served:
    """Gives one text under the module's own name, whoever imports it; its package is imported first, as always.

    A finder and a loader by its methods: the classes of `importlib.abc` cost more to import than all calls to run.
    """

    def __init__(self, name: str, path: str, text: str) -> None:
        self.name, self.path, self.code = name, path, text
        self.compiled: Any = None

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        below = [os.path.dirname(self.path)] if os.path.basename(self.path) == "__init__.py" else None
        loader: Any = self
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader, submodule_search_locations=below
        )

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        self.compiled = self.compiled or compile(self.code, self.path, "exec", dont_inherit=True)
        exec(self.compiled, module.__dict__)


def load(job: dict[str, Any], text: str) -> dict[str, Any]:
    name = job["name"]
    if name in sys.modules:  # the name of a module of the standard library that this file needs itself
        name = "stet_target"
    served: Any = Served(name, job["path"], text)
    sys.meta_path.insert(0, served)
    return vars(importlib.import_module(name))


# One call after the other.


class Patience:
    """How many seconds of processor time a call may take: less once `most` were late. With `most` 1 that is the end."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self.most, self.late = seconds, most, 0

    def lose(self) -> None:
        self.late += 1
        if self.late == self.most:
            self.seconds /= 3

    @property
    def ends(self) -> bool:
        return self.late >= (self.most if self.most < 2 else 60)


class Runner:
    """Runs calls in a loaded module and tells of each what came of it."""

    def __init__(self, job: dict[str, Any], pins: Pins, space: dict[str, Any], patience: Patience) -> None:
        self.job, self.pins, self.space, self.patience = job, pins, space, patience
        self.armed = False
        self.loop: Any = None
        signal.signal(signal.SIGPROF, self.late)

    def late(self, *_: Any) -> None:
        if self.armed:
            raise Late

    def run(self, setup: Any, body: Any, names: list[str]) -> dict[str, Any]:
        """Kind, results, exception, the arguments afterwards, what was printed; a digest of all but the messages."""
        results: list[str] = []
        space = dict(self.space)
        encoder = Encoder(self.job["private"])
        space["__out__"] = lambda value: results.append(encoder.text(self.settled(value)))
        printed, sys.stdout = sys.stdout, io.StringIO()
        kind, error, message, variables = "ok", "", "", ""
        self.pins.start()
        self.armed = True
        signal.setitimer(signal.ITIMER_PROF, self.patience.seconds, 0.05)
        try:
            try:
                exec(setup, space)
                self.pins.inside = True
                exec(body, space)
            except Exception as raised:
                self.pins.inside = False
                kind, error, message = "raised", type(raised).__qualname__, str(raised)[:200]
                if isinstance(raised, (RecursionError, MemoryError)):
                    kind = "limit"
            except SystemExit as raised:
                kind, error, message = "raised", "SystemExit", str(raised.code)[:200]
            self.pins.inside = False
            self.pins.compare("builtins")
            # Functions that were given are as they were, and hide nothing.
            given = {name: space[name] for name in names if name in space and not isinstance(space[name], OPAQUE)}
            held = {**given, **self.globals()}
            variables = "; ".join(f"{name} = {encoder.text(value)}" for name, value in held.items())
        except Late:
            kind = "late"
        except RecursionError:
            kind, error = "limit", "RecursionError"
        except BaseException as raised:
            kind, error = "raised", type(raised).__qualname__
        finally:
            self.armed = self.pins.inside = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            output, sys.stdout = sys.stdout, printed
        if self.pins.reached:
            kind, message = "reached", self.pins.reached
        elif encoder.cut and kind in ("ok", "raised"):
            kind = "limit"
        said = output.getvalue() if isinstance(output, io.StringIO) else ""
        whole = "\0".join([kind, error, "\0".join(results), variables, said])
        return {
            "kind": kind, "error": error, "message": message, "digest": digest(whole), "opaque": encoder.opaque,
            "results": [bounded(each) for each in results], "variables": bounded(variables), "printed": bounded(said),
        }  # fmt: skip

    def globals(self) -> dict[str, Any]:
        """Variables of the module that a call may change, as they are now."""
        return {name: self.space[name] for name in self.job["globals"] if name in self.space}

    def settled(self, value: Any) -> Any:
        """What a coroutine comes to; anything else as it is. Its sleeps move the clock on and take no time."""
        if not isinstance(value, types.CoroutineType):
            return value
        if self.loop is None:
            self.pins.inside, inside = False, self.pins.inside
            import asyncio

            self.loop = asyncio.new_event_loop()
            selector = self.loop._selector
            polled = selector.select

            def wait(timeout: float | None = None) -> Any:
                # A timer is due behind its moment, not at it.
                self.pins.sleep(timeout + 1e-6 if timeout else 0)
                return polled(0)

            selector.select = wait
            self.pins.inside = inside
        return self.loop.run_until_complete(value)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def bounded(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 40]}... ({len(text)} in all, {digest(text)})"


class Line:
    """The way from a fork to its parent: outcomes by a pipe, many at a time, and the call that it is at in memory that
    both see. A write for each call would cost more than the call. `every` is in seconds, 0 for one write each.
    """

    def __init__(self, pipe: int, at: Any, every: float) -> None:
        self.pipe, self.at, self.every = pipe, at, every
        self.told: list[tuple[int, dict[str, Any]]] = []
        self.last = real_clock()

    def begin(self, number: int) -> None:
        self.at[0], self.at[1] = number + 1, self.at[1] + 1

    def end(self, number: int, outcome: dict[str, Any]) -> None:
        self.told.append((number, {key: value for key, value in outcome.items() if value}))
        if real_clock() - self.last >= self.every:
            self.flush()
        self.at[0] = 0

    def over(self, beside: list[str]) -> None:
        self.flush()
        tell(self.pipe, {"over": beside})

    def flush(self) -> None:
        tell(self.pipe, {"ended": self.told})
        self.told, self.last = [], real_clock()


def child(job: dict[str, Any], text: str, calls: list[Any], line: Line, patience: Patience, wanted: int) -> None:
    """Loads a text and runs the calls; tells when a call begins and what came of it."""
    pipe = line.pipe
    pins = Pins(job["reads"])
    pins.install([text])
    printed, sys.stdout = sys.stdout, io.StringIO()
    try:
        pins.start()
        space = load(job, text)
        missing = job["target"].split(".")[0]
        if missing and missing not in space:
            raise NameError(f"there is no `{missing}` in it")
    except BaseException as error:
        tell(pipe, {"load": f"{type(error).__name__}: {str(error)[:300]}"})
        return
    said, sys.stdout = sys.stdout, printed
    if isinstance(said, io.StringIO) and said.getvalue():
        pins.beside[f"it prints {said.getvalue()[:SHOWN]!r}"] = None
    pins.compare_all()
    tell(pipe, {"load": ""})
    runner = Runner(job, pins, space, patience)
    valid = 0
    for number, (setup, body, names) in calls:
        line.begin(number)
        outcome = runner.run(setup, body, names)
        line.end(number, outcome)
        valid += is_valid(outcome)
        if outcome["kind"] == "late":
            patience.lose()
        if valid >= wanted or patience.ends:
            break
    pins.compare_all()
    line.over(list(pins.beside))


def is_valid(outcome: dict[str, Any]) -> bool:
    """The code could make something of the input, if only an error of its own."""
    wrong = ("TypeError", "AttributeError", "NameError", "UnboundLocalError")
    return outcome["kind"] == "ok" or (outcome["kind"] == "raised" and outcome["error"] not in wrong)


def tell(pipe: int, message: dict[str, Any]) -> None:
    send(pipe, json.dumps(message).encode() + b"\n")


def send(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


# The parent: forks, watches, and writes the report.


def keep(shut: bool) -> None:
    """Whether other processes of this user are kept from this one: by /proc they could write into its memory."""
    prctl = getattr(ctypes and ctypes.CDLL(None), "prctl", None)
    if prctl:
        prctl(4, int(not shut), 0, 0, 0)  # PR_SET_DUMPABLE; Linux


BATCH, LOOKS = 0.02, 0.4
HERE: list[Any] = []  # a module that nobody holds is emptied


def forked(
    job: dict[str, Any], text: str, calls: list[Any], end: float, patience: Patience, wanted: int
) -> dict[str, Any]:
    """What a fork told of the calls. One that stops telling, or dies, leaves the call that it was at.

    What it had not told yet is lost then: another fork does the same again and tells each outcome at once.
    """
    late = patience.late, patience.seconds
    told = attempt(job, text, calls, end, patience, wanted, BATCH)
    if told["lost"]:
        patience.late, patience.seconds = late
        again = attempt(job, text, calls, end, patience, wanted, 0.0)
        told["outcomes"] = {**told["outcomes"], **again["outcomes"]}
    return told


def attempt(
    job: dict[str, Any], text: str, calls: list[Any], end: float, patience: Patience, wanted: int, every: float
) -> dict[str, Any]:
    reading, writing = os.pipe()
    at = memoryview(mmap.mmap(-1, 16)).cast("q")
    process = real_fork()
    if process == 0:
        os.close(reading)
        raise Begun(child, text, calls, Line(writing, at, every), patience, wanted)
    os.close(writing)
    told: dict[str, Any] = {"load": "it ended the process", "outcomes": {}, "beside": [], "over": False}
    last, seen, buffer, stuck = real_clock(), 0, b"", "died"
    while True:
        if at[1] != seen:
            last, seen = real_clock(), at[1]
        left = min(end, last + job["stall"]) - real_clock()
        if left > 0 and not select.select([reading], [], [], min(left, 0.1))[0]:
            continue
        if left <= 0:
            stuck = "late" if end > last + job["stall"] else "unfinished"
            if told["load"] == "it ended the process":
                told["load"] = f"it takes longer than {job['stall']:.0f} seconds"
            break
        chunk = os.read(reading, 65536)
        if not chunk:
            break
        last = real_clock()
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "load" in message:
                told["load"] = message["load"]
            elif "over" in message:
                told["beside"], told["over"] = message["over"], True
            else:
                told["outcomes"].update(message["ended"])
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(reading)
    ended(told, at, calls, stuck, every)
    return told


def ended(told: dict[str, Any], at: Any, calls: list[Any], stuck: str, every: float) -> None:
    """What a fork's end says of the call that it was at, or of the next one where it came between two."""
    number = at[0] - 1 if at[0] else None
    told["lost"] = every > 0 and stuck != "unfinished" and at[1] > len(told["outcomes"]) + (number is not None)
    if number is None and not told["over"]:  # it ended between two calls
        number = next((call[0] for call in calls if call[0] not in told["outcomes"]), None)
    if number is not None and number not in told["outcomes"] and stuck != "unfinished" and not told["load"]:
        told["outcomes"][number] = {"kind": stuck, "digest": stuck}


UNFIT = ("late", "limit", "died", "reached")


def compare(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """The outcomes of all texts. Calls that the first text cannot answer in peace, or not twice alike, are left out."""
    begun = real_clock()
    end = begun + job["seconds"]
    probe = forked(job, job["texts"][0], calls, begun + 0.4 * job["seconds"], Patience(job["cpu"], 5), job["wanted"])
    unfit = {n: outcome for n, outcome in probe["outcomes"].items() if outcome["kind"] in UNFIT}
    left_out = [{"call": n, "kind": each["kind"], "message": each.get("message", "")} for n, each in unfit.items()]
    calls = [call for call in calls if call[0] in probe["outcomes"] and call[0] not in unfit]
    probe["outcomes"] = {call[0]: probe["outcomes"][call[0]] for call in calls}
    if probe["load"] or not calls:
        return {"texts": [told_of(probe, set())], "left_out": left_out}
    # Where all calls are fit the first text runs again only if need be, and is left the time that it takes.
    base = peaceful(job, calls, end) if unfit else None
    rest = end if unfit else end - 1.2 * (real_clock() - begun)
    others = [forked(job, text, calls, rest, Patience(40 * job["cpu"], 1), len(calls) + 1) for text in job["texts"][1:]]
    if base is None:
        base = probe if agree(probe, others) else peaceful(job, calls, end)
    same = {n for n, outcome in probe["outcomes"].items()
            if base["outcomes"].get(n, {}).get("digest") == outcome["digest"]}  # fmt: skip
    left_out += [{"call": n, "kind": "flaky", "message": ""} for n in base["outcomes"] if n not in same]
    for each in others:
        each["beside"] = [what for what in each["beside"] if what not in base["beside"]]
    for each in (base, *others):
        each["outcomes"] = {n: outcome for n, outcome in each["outcomes"].items() if n in same}
    first = digests(base)
    shown = {n for each in others for n, digest in digests(each).items() if digest != first[n]}
    report: dict[str, Any] = {"texts": [told_of(each, shown) for each in (base, *others)], "left_out": left_out}
    settled = all(is_rounded(each["outcomes"].get(n, {})) for each in (base, *others) for n in shown)
    if job["probed"] and settled and not any(each["load"] for each in others):
        report["unseen"] = unseen(job, [call for call in calls if call[0] in same], end)
    return report


def is_rounded(outcome: dict[str, Any]) -> bool:
    """Whether it holds a float: then it may be another but for rounding."""
    return "\x01" in "".join(outcome.get("results", ())) + outcome.get("variables", "")


# Where the inputs came by: the texts again, with probes in what the change is about. Outcomes do not count here.


def unseen(job: dict[str, Any], calls: list[Any], end: float) -> list[list[int]] | None:
    """The probes of each text that no call came by; None if a text cannot be run with them."""
    found: list[list[int]] = []
    for text, count in job["probed"]:
        if not count:
            found.append([])
            continue
        seen = mmap.mmap(-1, count + 1)  # the last one says that the text could be loaded
        reading, writing = os.pipe()
        process = real_fork()
        if process == 0:
            os.close(reading)
            raise Begun(look, text, calls, seen, count)
        os.close(writing)
        select.select([reading], [], [], max(0.0, min(end, real_clock() + LOOKS * 6) - real_clock()))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reading)
        if not seen[count]:
            return None
        found.append([number for number in range(count) if not seen[number]])
    return found


def look(job: dict[str, Any], text: str, calls: list[Any], seen: Any, count: int) -> None:
    """Makes calls until all probes were seen, or for a while."""

    def came(number: int, value: Any = None, *other: Any) -> Any:
        try:
            if not other or value == other[0]:
                seen[number] = 1
        except Exception:  # two that cannot be compared are no tie
            return value
        return value

    setattr(builtins, job["probe"], came)
    pins = Pins(job["reads"])
    pins.install([text])
    sys.stdout = io.StringIO()
    pins.start()
    space = load(job, text)
    seen[count] = 1
    runner = Runner(job, pins, space, Patience(4 * job["cpu"], 5))
    end = real_work() + LOOKS
    for _, (setup, body, names) in calls:
        runner.run(setup, body, names)
        if real_work() > end or 0 not in seen[: count + 1]:
            return


def peaceful(job: dict[str, Any], calls: list[Any], end: float) -> dict[str, Any]:
    """The first text's outcomes of calls that are fit."""
    return forked(job, job["texts"][0], calls, end, Patience(20 * job["cpu"], 1), len(calls) + 1)


def agree(first: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    """Whether all texts came to the same on every call, and so did two runs: a run of the first for flakiness' sake
    would tell nothing more.
    """
    wanted = digests(first)
    return first["over"] and bool(others) and all(digests(each) == wanted for each in others)


def digests(told: dict[str, Any]) -> dict[int, str]:
    return {number: outcome["digest"] for number, outcome in told["outcomes"].items()}


def plain(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """Each text's outcomes as they are."""
    end = real_clock() + job["seconds"]
    told = [forked(job, text, calls, end, Patience(job["cpu"], 2), len(calls) + 1) for text in job["texts"]]
    return {"texts": [told_of(each, set(each["outcomes"])) for each in told], "left_out": []}


def told_of(each: dict[str, Any], shown: set[int]) -> dict[str, Any]:
    """What a text did; what could be seen of an outcome only for those that are to be shown."""
    seen = ("message", "results", "variables", "printed")
    outcomes = {
        number: outcome if number in shown else {key: outcome[key] for key in outcome if key not in seen}
        for number, outcome in each["outcomes"].items()
    }
    return {"load": each["load"], "beside": "; ".join(each["beside"][:3]), "outcomes": outcomes}


AGAIN, SHARE = 5, 0.4
COPYING = 0.4
DRAINED = 10 * ITEMS
PLAIN = {*ATOMS, float}


def measure(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """Seconds of each text for all calls together, round by round: the first time they are made, and then `again`.

    Each text is loaded in a process of its own, and each time is taken in a fork of that: no text can slow the other.
    Each call meets a copy of the module that nobody used yet, so what one remembers of its inputs is not there for the
    next, nor when the input comes again. That is what the second time shows.
    """
    begun = real_clock()
    end = begun + job["seconds"]
    distinct = list({each[1][:2]: each for each in calls}.values())
    job["threads"] = any(word in text for text in job["texts"] for word in ("thread", "concurrent"))
    servers = [Server(text, distinct) for text in job["texts"]]
    try:
        loads = [server.hear(end) for server in servers]
        if problem := next((each["load"] for each in loads if each["load"]), ""):
            return {"timing": {"load": problem}}
        inputs = min(max(1, each["copies"] - 1) for each in loads)
        slowest = max(turns(servers, 1, (inputs, 1), begun, end)[0][0])
        forks = min(8, int(0.004 / max(slowest, 1e-5)) + 1) if slowest < 0.002 else 1
        rounds, again = turns(servers, job["rounds"], (inputs, forks), begun + SHARE * job["seconds"], end)
    except (EOFError, IndexError):
        return {"timing": {"load": "it ended the process or took too long"}}
    finally:
        for server in servers:
            server.stop()
    return {"timing": {"load": "", "rounds": rounds, "again": again, "inputs": inputs}}


def turns(
    servers: list[Server], wanted: int, size: tuple[int, int], middle: float, end: float
) -> tuple[list[list[float]], list[list[float]]]:
    """The seconds of the servers, round by round, as far as there is time: of first calls, and for some of second ones.

    They take turns at going first. The `size` of a round is its inputs and its forks.
    """
    first: list[list[float]] = []
    again: list[list[float]] = []
    while len(first) < wanted and real_clock() < end:
        times = 2 if len(again) < AGAIN and real_clock() < middle else 1
        order = servers[:: 1 if len(first) % 2 else -1]
        took = {id(server): server.time(*size, times, end) for server in order}
        first.append([took[id(server)][0] for server in servers])
        if times > 1:
            again.append([took[id(server)][1] for server in servers])
    return first, again


class Server:
    """A process that loads a text, and forks each time it is asked how long the calls take."""

    def __init__(self, text: str, calls: list[Any]) -> None:
        asked, self.ask = os.pipe()
        self.told, telling = os.pipe()
        self.buffer = b""
        self.process = real_fork()
        if self.process == 0:
            os.close(self.ask)
            os.close(self.told)
            raise Begun(served, text, calls, asked, telling)
        os.close(asked)
        os.close(telling)

    def hear(self, end: float) -> Any:
        while b"\n" not in self.buffer:
            ready = select.select([self.told], [], [], max(0.0, end + 1 - real_clock()))[0]
            chunk = os.read(self.told, 65536) if ready else b""
            if not chunk:
                raise EOFError
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def time(self, inputs: int, forks: int, times: int, end: float) -> list[float]:
        """The seconds of all forks together, for each time that the calls are made in one."""
        spent = [0.0] * times
        for _ in range(forks):
            os.write(self.ask, b"%d %d\n" % (inputs, times))
            spent = list(map(operator.add, spent, self.hear(end)["seconds"]))
        return spent

    def stop(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.ask)
        os.close(self.told)


def served(job: dict[str, Any], text: str, calls: list[Any], asked: int, telling: int) -> None:
    pins = Pins(job["reads"])
    pins.install([text])
    sys.stdout = open(os.devnull, "w")
    try:
        modules = copies(job, text, len(calls) + 1)
    except BaseException as error:
        tell(telling, {"load": f"{type(error).__name__}: {str(error)[:300]}"})
        return
    gc.freeze()  # what a call makes is looked through, not all copies
    tell(telling, {"load": "", "copies": len(modules)})
    runner = Runner(job, pins, {}, Patience(job["cpu"], 1))
    # Processor time is the same on a busy machine; but what threads do at once would count as often.
    clock = real_clock if job["threads"] else real_work
    if "async" in text:
        runner.settled(idle())  # its loop is there before any clock runs
    for line in open(asked, "rb", buffering=0):
        inputs, times = map(int, line.split())
        process = real_fork()
        if process == 0:
            # The last calls are the largest. A module that is to spare warms up what is not the module's.
            pairs = list(zip(modules[-inputs:], calls[-inputs:]))  # noqa: B905 - as Python 3.8 has it
            if len(modules) > inputs:
                seconds([(modules[0], calls[-1])], runner, clock)
            tell(telling, {"seconds": [seconds(pairs, runner, clock) for _ in range(times)]})
            return
        os.waitpid(process, 0)


async def idle() -> None:
    """Waits for nothing."""


def copies(job: dict[str, Any], text: str, wanted: int) -> list[Any]:
    """The text as modules that know nothing of each other: as many as are loaded in a moment, one at least."""
    begun = real_clock()
    made: list[Any] = [sys.modules[load(job, text)["__name__"]]]
    while len(made) < wanted and real_clock() - begun < COPYING:
        try:
            copy = importlib.util.module_from_spec(made[0].__spec__)
            sys.modules[copy.__name__] = copy
            made[0].__spec__.loader.exec_module(copy)
        except Exception:  # it enters itself somewhere, and cannot be loaded twice
            break
        made.append(copy)
    return made


def seconds(pairs: list[Any], runner: Runner, clock: Callable[[], float]) -> float:
    """Seconds in the calls' bodies alone, each in its module: what makes the arguments does not count."""
    watch = Stopwatch(runner.settled, clock)
    for module, (_number, (setup, body, _names)) in pairs:
        own = dict(vars(module))
        own["__out__"] = watch.consume
        sys.modules[module.__name__] = module
        runner.pins.start()
        try:
            exec(setup, own)
            watch.start()
            try:
                exec(body, own)
            finally:
                watch.stop()
        except Exception:  # an error is an outcome; whether it is the right one was compared before
            continue
    return watch.spent


class Stopwatch:
    """The time of a call and of what is left to do when it returns: nothing lazy was paid for yet."""

    def __init__(self, settled: Callable[[Any], Any], clock: Callable[[], float]) -> None:
        self.settled, self.clock = settled, clock
        self.spent = self.begun = 0.0
        # What reading the clock takes itself: more than a small function.
        self.cost = min(-(clock() - clock()) for _ in range(20))

    def start(self) -> None:
        self.begun = self.clock()

    def stop(self) -> None:
        self.spent += self.clock() - self.begun - self.cost

    def consume(self, value: Any) -> None:
        """Waits for a result and goes through its iterators while the clock runs; not while they are looked for."""
        if type(value) in ATOMS:
            return
        value = self.settled(value)
        self.stop()
        waiting = iterators(value)
        self.start()
        while waiting:
            items = list(itertools.islice(waiting.pop(), DRAINED))
            self.stop()
            waiting += iterators(items)
            self.start()


def iterators(value: Any) -> list[Any]:
    """What can be gone through only once, in a value and in what it holds, as far as that is looked at."""
    found: list[Any] = []
    waiting = [value]
    for _ in range(ITEMS):
        if not waiting:
            break
        each = waiting.pop()
        kind = type(each)
        if hasattr(kind, "__next__"):
            found.append(each)
            continue
        held: Any
        base = next((base for base in (list, tuple, set, frozenset) if issubclass(kind, base)), None)
        if base is not None:
            held = base.__iter__(each)
        elif issubclass(kind, dict):
            held = dict.values(each)
        elif issubclass(kind, (*OPAQUE, *ATOMS)):
            continue
        else:
            held = {**slots(each), **(attributes(each) or {})}.values()
        waiting += [item for item in itertools.islice(held, DRAINED) if type(item) not in PLAIN]
    return found


def main() -> NoReturn:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    for name in (sys.argv[1], sys.argv[0]):
        os.unlink(name)
    sys.path[:1] = job["roots"]
    sys.stdin = open(os.devnull)
    for name in job["warm"]:
        try:
            importlib.import_module(name)
        except BaseException:  # the text itself will say so, or do without
            continue
    calls = list(compiled(job["calls"]))
    keep(shut=True)  # the last that is done by path before all forks is done
    try:
        report = {"time": measure, "plain": plain, "compare": compare}[job["mode"]](job, calls)
    except Begun as begun:
        work, *given = begun.args
        begun.__traceback__ = None
    else:
        report["nonce"] = job["nonce"]
        tell(REPORT, report)
        os._exit(0)
    alone(job, calls, work, given)


def compiled(calls: list[Any]) -> Iterator[tuple[int, Any]]:
    """The calls that are Python, by number. Most have the same body: each text is compiled once."""
    bodies: dict[str, Any] = {}
    for number, (setup, body, names) in enumerate(calls):
        try:
            if body not in bodies:
                bodies[body] = compile(body, "<call>", "exec")
            yield number, (compile(setup, "<input>", "exec"), bodies[body], names)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def alone(job: dict[str, Any], calls: list[Any], work: Any, given: list[Any]) -> NoReturn:
    """The rest of a fork. What is not of its own text is not within its reach by any name or frame."""
    status = 1
    try:
        os.close(REPORT)
        keep(shut=False)
        for name in ("nonce", "texts", "calls", "probed"):
            del job[name]
        HERE.append(sys.modules["__main__"])
        sys.modules["__main__"] = types.ModuleType("__main__")
        sys.argv = [job["path"]]
        work(job, *given)
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    REPORT = int(os.environ.pop("BOX_REPORT_FD"))
    main()
