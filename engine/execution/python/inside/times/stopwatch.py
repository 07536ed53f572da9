"""Measures the seconds that calls take, including deferred work."""

from __future__ import annotations

import itertools
import sys
from typing import Any, Callable  # noqa: UP035 - as Python 3.8 has them

from stet_ls.engine.execution.python.inside.call import CallRunner
from stet_ls.engine.execution.python.inside.values.encode import ATOMS, OPAQUE, PLAIN, attributes, slots

SEARCHED, DRAINED = 1_000, 10_000
"""Values in which iterators are searched, and items that are taken of each."""


def seconds(pairs: list[Any], runner: CallRunner, clock: Callable[[], float]) -> float:
    """Seconds in the calls' bodies alone, each in its module: creating the arguments does not count."""
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
        except Exception:  # an error is an outcome; correctness was compared before
            continue
    return watch.spent


class Stopwatch:
    """Measures a call and the work left when it returns, such as lazy results."""

    def __init__(self, settled: Callable[[Any], Any], clock: Callable[[], float]) -> None:
        self.settled, self.clock = settled, clock
        self.spent = self.begun = 0.0
        # The cost of reading the clock: more than a small function's.
        self.cost = min(-(clock() - clock()) for _ in range(20))

    def start(self) -> None:
        self.begun = self.clock()

    def stop(self) -> None:
        self.spent += self.clock() - self.begun - self.cost

    def consume(self, value: Any) -> None:
        """Waits for a result and exhausts its iterators while the clock runs; searching for them is not timed."""
        if id(type(value)) in PLAIN:
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
    """The iterators in a value and its contents, as far as those are searched."""
    found: list[Any] = []
    waiting = [value]
    for _ in range(SEARCHED):
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
        waiting += [item for item in itertools.islice(held, DRAINED) if id(type(item)) not in PLAIN]
    return found
