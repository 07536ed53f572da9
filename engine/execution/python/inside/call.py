"""Runs the calls in a loaded module one after the other, and records their outcomes."""

from __future__ import annotations

import hashlib
import signal
import types
from typing import Any

from stet_ls.engine.execution.python.inside.determinism import Pins
from stet_ls.engine.execution.python.inside.effects import Effects
from stet_ls.engine.execution.python.inside.values.aliasing import CHANGED, shared
from stet_ls.engine.execution.python.inside.values.awaitables import AsyncItems, awaited_function
from stet_ls.engine.execution.python.inside.values.captured import CapturedArguments, NotRestored
from stet_ls.engine.execution.python.inside.values.database import database
from stet_ls.engine.execution.python.inside.values.doubles import UseRecord, double_maker, failures
from stet_ls.engine.execution.python.inside.values.encode import OPAQUE, Encoder

SHOWN = 600


class CallTimeout(BaseException):
    """A call took longer than it may."""


def lacked(error: BaseException) -> str:
    """The module whose absence made an import fail; "" for any other error."""
    return str(error.name or "")[:200] if isinstance(error, ModuleNotFoundError) else ""


class CallTimeLimit:
    """The processor seconds that a call may take: fewer after `most` late calls. With `most` 1, the run ends then."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self.most, self.late = seconds, most, 0

    def lose(self) -> None:
        self.late += 1
        if self.late == self.most:
            self.seconds /= 3

    @property
    def ends(self) -> bool:
        return self.late >= (self.most if self.most < 2 else 60)


class CallRunner:
    """Runs calls in a loaded module and returns the outcome of each."""

    def __init__(self, job: dict[str, Any], pins: Pins, space: dict[str, Any], time_limit: CallTimeLimit) -> None:
        self.job, self.pins, self.space, self.time_limit = job, pins, space, time_limit
        self.captured = CapturedArguments(job["captured"], space.get("__name__", job["name"]))
        self.armed = False
        self.is_held_against = job["mode"] == "compare"
        self.loop: Any = None
        self.effects = Effects(job["target"])
        signal.signal(signal.SIGPROF, self.late)

    def late(self, *_: Any) -> None:
        if self.armed:
            raise CallTimeout

    def run(self, setup: Any, body: Any, names: list[str]) -> dict[str, Any]:
        """Kind, results, exception, arguments afterwards, output, and, if texts are compared, aliases; a digest of all
        but the messages.
        """
        results: list[str] = []
        returned: list[Any] = []
        space = dict(self.space)
        encoder = Encoder(self.job["private"], self.job["items"])

        def out(value: Any) -> None:
            value = self.settled(value)
            results.append(encoder.text(value))
            if not isinstance(value, BaseException):  # it would keep the frames alive
                returned.append(value)

        book = UseRecord(self.job["named"], failures(self.job["caught"], self.space))
        space["__out__"], space["__captured__"] = out, self.captured
        space["__double__"], space["__files__"] = double_maker(book), self.pins.scratch.make
        space["__database__"], space["__later__"] = database, AsyncItems
        space["__awaited__"] = awaited_function
        before = self.globals()
        self.captured.begin()
        self.effects.begin()
        kind, error, message, lacks, variables, sharing, error_text = "ok", "", "", "", "", "", ""
        bases: list[str] = []
        self.pins.start()
        self.armed = True
        signal.setitimer(signal.ITIMER_PROF, self.time_limit.seconds, 0.05)
        try:
            try:
                exec(setup, space)
                self.pins.inside = True
                exec(body, space)
            except Exception as raised:
                self.pins.inside = False
                kind, error, message = "raised", type(raised).__qualname__, str(raised)[:200]
                bases = [each.__qualname__ for each in type(raised).__mro__[1:-2]]
                error_text = self.error_details(raised, encoder)
                lacks = lacked(raised)
                if isinstance(raised, (RecursionError, MemoryError, NotRestored)):
                    kind = "limit"
            except SystemExit as raised:
                kind, error, message = "raised", "SystemExit", str(raised.code)[:200]
            self.pins.inside = False
            self.pins.compare("builtins")
            # Functions passed as arguments are unchanged, and hide nothing.
            given = {name: space[name] for name in names if name in space and not isinstance(space[name], OPAQUE)}
            held = {**given, **self.globals()}
            parts = [f"{name} = {encoder.text(value)}" for name, value in held.items()]
            besides = (error_text, self.pins.scratch.left(), self.effects.variables())
            variables = "; ".join([*parts, *filter(None, besides)])
            if self.is_held_against and not encoder.cut:
                found = shared(held, returned, self.job["private"]), rebound(before, self.globals())
                sharing = "; ".join(filter(None, found))
        except CallTimeout:
            kind = "late"
        except RecursionError:
            kind, error = "limit", "RecursionError"
        except BaseException as raised:
            kind, error = "raised", type(raised).__qualname__
        finally:
            self.armed = self.pins.inside = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.pins.scratch.left()
            self.effects.variables()
            slept = [f"sleeps {self.pins.slept:.3f} s"] if self.pins.slept else []
            output = self.effects.end() + "".join(f"[{each}]" for each in (*book.calls, *slept))
        if self.pins.reached:
            kind, message = "reached", self.pins.reached
        elif encoder.cut and kind in ("ok", "raised"):
            kind = "limit"
        leaks = "leaks" * self.effects.leaks
        whole = "\0".join([kind, error, "\0".join(results), variables, output, sharing, leaks])
        return {
            "kind": kind, "error": error, "message": message, "digest": digest(whole), "opaque": encoder.opaque,
            "partial": encoder.partial, "broken_by": encoder.broken_by, "order": digest(" ".join(encoder.order)),
            "results": [bounded(each) for each in results], "variables": bounded(variables), "printed": bounded(output),
            "shared": bounded(sharing), "lacks": lacks, "bases": bases, "leaks": self.effects.leaks,
            "uses": uses(book) if self.job["mode"] == "plain" else {},
        }  # fmt: skip

    def error_details(self, error: BaseException, encoder: Encoder) -> str:
        """What a caller may read of an error besides its type: fields of the module's own classes, a promised text."""
        name = type(error).__qualname__
        fields = encoder.fields(error, "") if type(error).__module__ == self.space.get("__name__") else ""
        text = [f"text {str(error)!r}"] if name in self.job["messages"] else []
        details = [*([fields] if fields else []), *text]
        return f"{name} with {', '.join(details)}" if details else ""

    def globals(self) -> dict[str, Any]:
        """The current values of module variables that a call may change."""
        return {name: self.space[name] for name in self.job["globals"] if name in self.space}

    def settled(self, value: Any) -> Any:
        """The result of a coroutine; any other value unchanged. Sleeps advance the clock and take no time."""
        if isinstance(value, types.AsyncGeneratorType):
            value = taken(value, self.job["items"])
        if not isinstance(value, types.CoroutineType):
            return value
        if self.loop is None:
            self.pins.inside, inside = False, self.pins.inside
            import asyncio

            self.loop = asyncio.new_event_loop()
            selector = self.loop._selector
            polled = selector.select

            def wait(timeout: float | None = None) -> Any:
                # A timer is due after its moment, not at it.
                self.pins.wait(timeout + 1e-6 if timeout else 0)
                return polled(0)

            selector.select = wait
            self.pins.inside = inside
        return self.loop.run_until_complete(value)


async def idle() -> None:
    """Does nothing."""


async def taken(values: Any, most: int) -> Any:
    """The values of an asynchronous generator, and finally its error, as an iterator."""
    items: list[Any] = []
    try:
        async for item in values:
            items.append(item)
            if len(items) == most:
                break
    except Exception as error:
        items.append(error)
    return iter(items)


def uses(book: UseRecord) -> dict[str, list[str]]:
    """How doubles were used, by path; "" for the path used last, for errors that name a wanted kind."""
    return (
        {**{path: list(kinds) for path, kinds in list(book.uses.items())[:200]}, "": [book.last]} if book.uses else {}
    )


def rebound(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Which variables of the module hold another list or the like than before: who holds the old one misses it."""
    names = (name for name, value in before.items() if isinstance(value, CHANGED) and now.get(name) is not value)
    return "; ".join(f"{name} is a new object" for name in sorted(names))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def bounded(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    failed = text[text.rfind(" raises ") :] if text.endswith("Error]") else ""
    return f"{text[: SHOWN - 40]}... ({len(text)} in all, {digest(text)}){failed[:80]}"
