"""Stand-ins for objects that a call passes in and the code uses: they record the uses, and answer plausibly.

What a double answers depends only on its path (`client.get('a').status`) and its number, so that two texts that use it
alike get the same answers. A number, a text or a list is decided on at its first use as one.
"""

from __future__ import annotations

import builtins
import collections.abc
import opcode
import operator
import sys
import zlib
from typing import Any, Callable  # noqa: UP035 - as Python 3.8 has them

from stet_ls.engine.execution.python.inside.values.awaitables import EndOfLoop

FAR = 100
"""The characters of a path from which on `get` finds nothing: answers lead to answers without end otherwise."""
REPEATS = 3
"""The calls alike that get an answer; from then on the answer is empty, so that loops end."""
UNPACK = opcode.opmap["UNPACK_SEQUENCE"]
EMPTY = {
    "read": "",
    "readline": "",
    "recv": b"",
    "fetchone": None,
    "fetchmany": (),
    "readlines": (),
    "get_nowait": None,
}


FAILURES: Any = (ConnectionError, KeyError, ValueError, TimeoutError)
"""The errors that calls of doubles end with if the code handles none by name: those that code most often handles."""
IN_COROUTINE = 0x80
"""The flag of the code of an `async def`."""


class UseRecord:
    """What the doubles of one call recorded: `calls` are the uses that have an effect, `uses` all kinds of use by path.

    In `uses`, all items of an iterable have one path. `last` is the path used last. `named` are the numbers and texts
    that the code compares with: one stand-in in four answers with these. Where it asks for None, a call in eight
    gives that.
    """

    def __init__(self, named: Any = (), failures: Any = FAILURES) -> None:
        self.failures = failures
        self.numbers: list[int] = [each for each in named if isinstance(each, int)]
        self.texts: list[str] = [each for each in named if isinstance(each, str)]
        self.asks_for_none = None in named
        self.calls: list[str] = []
        self.uses: dict[str, dict[str, None]] = {}
        self.counts: dict[str, int] = {}
        self.last, self.made = "", 0

    def use(self, path: str, kind: str) -> None:
        self.last = path
        self.uses.setdefault(path, {})[kind] = None

    def fail(self, seed: int) -> None:
        """Raises an error in one of the first calls, or from one on, for one seed in five: what is undone shows."""
        self.made += 1
        number = seed // 5
        first = 1 + number // len(self.failures) % 3
        if seed % 5 == 4 and (self.made == first or (number % 2 and self.made > first)):
            raise self.failures[number // 2 % len(self.failures)]("no answer")

    def call(self, text: str) -> int:
        if len(self.calls) < 200:
            self.calls.append(text)
        self.counts[text] = self.counts.get(text, 0) + 1
        return self.counts[text]


def failures(names: Any, space: Any) -> Any:
    """The errors of these names that can be raised with a text; the usual ones if there is none."""
    found = [space.get(name, getattr(builtins, name, None)) for name in names]
    kinds = [each for each in found if isinstance(each, type) and issubclass(each, Exception)]
    return tuple(each for each in kinds if each not in (Exception, StopIteration, StopAsyncIteration)) or FAILURES


def is_in_coroutine() -> bool:
    """Whether a double's method was called by a coroutine, or by a generator in one."""
    frame = sys._getframe(2)
    above = (frame, frame.f_back, frame.f_back and frame.f_back.f_back)
    return any(each is not None and each.f_code.co_flags & IN_COROUTINE for each in above)


def is_asked_by_asyncio() -> bool:
    """Whether a double's method was called by the library that runs tasks: it takes doubles for coroutines."""
    return str(sys._getframe(2).f_globals.get("__name__")).startswith("asyncio.")


def unpacked() -> int:
    """Into how many names the caller of a double's method unpacks it; 0 if it does not."""
    frame = sys._getframe(2)
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at + 1] if code[at] == UNPACK else 0


class Double:
    """One stand-in. Its own attributes are hidden behind names that no code uses."""

    __slots__ = ("__weakref__", "_stet_answers", "_stet_book", "_stet_held", "_stet_seed", "_stet_shape", "_stet_way")

    def __init__(self, book: UseRecord, way: str, shape: str, seed: int, answers: Any = None) -> None:
        for name, value in (("book", book), ("way", way), ("shape", shape), ("seed", seed), ("answers", answers or {}),
                            ("held", {})):  # fmt: skip
            object.__setattr__(self, "_stet_" + name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name == "send" and is_asked_by_asyncio():
            return lambda _: next(self.__await__())  # a task takes a step
        return inner(self, "." + name, "." + name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._stet_book.use(self._stet_shape, "set")
        self._stet_book.call(f"{self._stet_way}.{name} = {text_without_addresses(value)}")
        self._stet_held["." + name] = value

    def __call__(self, *given: Any, **named: Any) -> Any:
        self._stet_book.use(self._stet_shape, "call")
        by_name = (f"{name}={text_without_addresses(value)}" for name, value in sorted(named.items()))
        arguments = ", ".join([*map(text_without_addresses, given), *by_name])
        count = self._stet_book.call(f"{self._stet_way}({arguments})")
        name = self._stet_shape.rpartition(".")[2]
        is_awaited = is_in_coroutine()
        # In a coroutine a call fails where it is awaited, as the coroutines do that it stands for.
        if not is_awaited:
            self._stet_book.fail(self._stet_seed)
        if name in self._stet_answers:
            return self._stet_answers[name]
        if count > REPEATS or (name == "get" and len(self._stet_way) > FAR):
            return EndOfLoop(EMPTY.get(name)) if is_awaited else EMPTY.get(name)
        if self._stet_book.asks_for_none and self._stet_seed % 2 and not drawn(self, "none", 4):
            return EndOfLoop(None) if is_awaited else None
        again = f"#{count}" if count > 1 and name in EMPTY else ""
        step = f"({arguments}){again}"
        if is_awaited:
            self._stet_held.pop(step, None)  # each call gives a coroutine of its own
        return inner(self, step, "()")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            self._stet_book.use(self._stet_shape, "slice")
            return list(self)[key]
        if type(key) is int:
            self._stet_book.use(self._stet_shape, "index")
            if not -size(self) <= key < max(size(self), 1):
                raise IndexError("list index out of range")
            return inner(self, f"[{key % max(size(self), 1)}]", f"[{key}]")
        if isinstance(key, Double):
            self._stet_book.use(self._stet_shape, "key")
            return inner(self, f"[{key._stet_way}]", "[]")
        self._stet_book.use(self._stet_shape, "key")
        return inner(self, f"[{text_without_addresses(key)}]", f"[{text_without_addresses(key)}]")

    def __setitem__(self, key: Any, value: Any) -> None:
        self._stet_book.use(self._stet_shape, "key")
        self._stet_book.call(f"{self._stet_way}[{text_without_addresses(key)}] = {text_without_addresses(value)}")
        self._stet_held[f"[{text_without_addresses(key)}]"] = value

    def __delitem__(self, key: Any) -> None:
        self._stet_book.call(f"del {self._stet_way}[{text_without_addresses(key)}]")
        self._stet_held.pop(f"[{text_without_addresses(key)}]", None)

    def __contains__(self, item: Any) -> bool:
        self._stet_book.use(self._stet_shape, "contains")
        # One seed in four holds everything: a test in another one is reached otherwise only by chance.
        return self._stet_seed % 4 == 0 or drawn(self, text_without_addresses(item), 2) == 0

    def __iter__(self) -> Any:
        wanted = unpacked()
        if wanted:
            self._stet_book.use(self._stet_shape, f"unpack {wanted}")
            return iter([inner(self, f"[{n}]", f"[{n}]") for n in range(wanted)])
        self._stet_book.use(self._stet_shape, "iter")
        return iter([inner(self, f"[{n}]", "[]") for n in range(size(self))])

    def __reversed__(self) -> Any:
        return reversed(list(self))

    def __len__(self) -> int:
        self._stet_book.use(self._stet_shape, "len")
        return size(self)

    def __bool__(self) -> bool:
        self._stet_book.use(self._stet_shape, "bool")
        return size(self) > 0

    def __enter__(self) -> Any:
        self._stet_book.use(self._stet_shape, "with")
        self._stet_book.call(f"enter {self._stet_way}")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._stet_book.call(f"exit {self._stet_way}" + (f" with {kind.__name__}" if kind else ""))

    async def __aenter__(self) -> Any:
        return self.__enter__()

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        self.__exit__(kind)

    def __await__(self) -> Any:
        self._stet_book.use(self._stet_shape, "await")
        yield from ()
        self._stet_book.fail(self._stet_seed)
        return self

    async def __aiter__(self) -> Any:
        self._stet_book.use(self._stet_shape, "iter")
        for n in range(size(self)):
            yield inner(self, f"[{n}]", "[]")

    def __hash__(self) -> int:
        return id(self) if is_asked_by_asyncio() else hash(number(self))

    def __str__(self) -> str:
        self._stet_book.use(self._stet_shape, "text")
        return text_like(self)

    def __format__(self, spec: str) -> str:
        try:
            return format(text_like(self), spec)
        except ValueError:
            self._stet_book.use(self._stet_shape, "number")
            return format(number(self), spec)

    def __fspath__(self) -> str:
        self._stet_book.use(self._stet_shape, "path")
        return text_like(self)

    def __int__(self) -> int:
        self._stet_book.use(self._stet_shape, "number")
        return number(self)

    def __float__(self) -> float:
        return float(self.__int__())

    __index__ = __round__ = __trunc__ = __int__

    def __repr__(self) -> str:
        return f"<{self._stet_way}>"


def inner(double: Double, step: str, shape: str) -> Any:
    """A part of a double: the same one each time."""
    held = double._stet_held
    if step not in held:
        way, whole = double._stet_way + step, double._stet_shape + shape
        held[step] = Double(double._stet_book, way, whole, double._stet_seed, double._stet_answers)
        double._stet_book.use(whole, "")
    return held[step]


def drawn(double: Double, more: str, among: int) -> int:
    return zlib.crc32(f"{double._stet_way}{more}{double._stet_seed}".encode("utf-8", "replace")) // 7 % among


def size(double: Double) -> int:
    """The number of items: none only now and then."""
    return (2, 3, 1, 2, 3, 0, 2, 4)[drawn(double, "size", 8)]


def number(double: Double) -> int:
    """0 where it has no items: what is empty or zero is so whatever it is taken for."""
    known: list[int] = double._stet_book.numbers
    if known and size(double) and double._stet_seed % 4 == 1:
        return known[drawn(double, "known", len(known))] + (0, 0, 1, -1)[drawn(double, "beside", 4)]
    return 1 + drawn(double, "number", 8) if size(double) else 0


def text_like(double: Double) -> str:
    known: list[str] = double._stet_book.texts
    if known and size(double) and double._stet_seed % 4 == 1:
        return known[drawn(double, "known", len(known))]
    at = 1 + drawn(double, "number", 8)
    return f"{'abcdefghi'[at]}{at}" if size(double) else ""


def text_without_addresses(value: Any) -> str:
    """A value as text, without addresses."""
    if isinstance(value, Double):
        return repr(value)[1:-1]
    if isinstance(value, (list, tuple)):
        ends = "[]" if isinstance(value, list) else "()"
        return ends[0] + ", ".join(map(text_without_addresses, value)) + ends[1]
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{text_without_addresses(key)}: {text_without_addresses(item)}" for key, item in value.items())
            + "}"
        )
    if callable(value):
        return "a function"
    text = repr(value)
    return f"a {type(value).__name__}" if " at 0x" in text else text


def operand(double: Double, other: Any) -> Any:
    """The value of a double with another operand: a text, a list or a number."""
    kind = "text" if isinstance(other, (str, bytes)) else "compared" if isinstance(other, Double) else "number"
    double._stet_book.use(double._stet_shape, kind)
    if isinstance(other, str):
        return text_like(double)
    if isinstance(other, (list, tuple)):
        return type(other)(double)
    return text_like(double).encode() if isinstance(other, bytes) else number(double)


def operated(work: Callable[[Any, Any], Any], *, is_reflected: bool) -> Any:
    """A method for an operator, which works on plain values."""

    def method(self: Any, other: Any) -> Any:
        mine, theirs = operand(self, other), number(other) if isinstance(other, Double) else other
        return work(theirs, mine) if is_reflected else work(mine, theirs)

    return method


def operated_alone(work: Callable[[Any], Any]) -> Any:
    return lambda self: work(int(self))


def with_operators() -> None:
    for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]:
        work = getattr(operator, f"__{name}__")
        setattr(Double, f"__{name}__", operated(work, is_reflected=False))
        setattr(Double, f"__r{name}__", operated(work, is_reflected=True))
    for name in ["lt", "le", "gt", "ge", "eq", "ne"]:
        setattr(Double, f"__{name}__", operated(getattr(operator, name), is_reflected=False))
    for name in ["neg", "pos", "abs"]:
        setattr(Double, f"__{name}__", operated_alone(getattr(operator, name)))


with_operators()
for kind in (Double, EndOfLoop):
    collections.abc.Coroutine.register(kind)  # `asyncio.create_task` takes nothing else


def double_maker(book: UseRecord) -> Callable[..., Double]:
    """What calls use to make a double: of a name, a number, and the answers of some methods."""
    return lambda name, seed=0, **answers: Double(book, name, name, seed, answers)
