"""Values of a kind, as a row holds them: small and revealing ones come first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from stet_ls.engine.execution.javascript.inputs.values.conversion import source
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import BOOLEAN, NULL, NUMBER, STRING, ValueKind

_NUMBERS = ("0", "1", "-1", "2", "3", "5", "7", "10", "12", "16", "25", "99", "100", "-5", "0.5", "1.5", "-2.25")
_STRINGS = ('""', '"a"', '"b"', '"ab"', '"aba"', '"Hello World"', '"a b c"', '"  x "', '"12"', '"-3"', '"A1b2"',
            '"é"', '"ß"', '"a👍b"', '"foo_bar"', '"a,b;c"', '"(())"', '"2024-02-29"')  # fmt: skip
_LETTERS = "abcdeABC019 _-,.()[]"
_DATES = ("0", "1700000000000", '"2024-02-29T12:30:00Z"', '"1999-12-31"', "2020, 0, 31", "NaN")
_MAPPERS = ("x => x", "(a, b) => a + b", "x => Boolean(x)", "x => String(x)", "() => undefined",
              "x => x > 1", "(a, b) => (a > b) - (a < b)")  # fmt: skip
METHODS = ("(...given) => given.length", "(first) => first", "() => undefined", "() => [1, 2, 3]",
            "() => ({ ok: true, status: 200 })", '() => "ab"')  # fmt: skip
_CALLBACKS = (
    "() => console.log('first')",
    "() => console.log('second')",
    "(...given) => console.log('third', ...given)",
)
"""Their output shows when they are called, and with what."""
_FUNCTIONS = {"function": _MAPPERS, "callback": _CALLBACKS, "method": METHODS}
_REGEXPS = ("/a/", "/\\d+/g", "/^[a-z]+$/i", "/x*/")
_LENGTHS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 8)
_LARGEST_SIZE = 300
"""Of a limit in the code: arrays and texts of that size, and of one more and less, are drawn."""
_LONG = (13, 34)
"""Heaps and the like fail only with many items. Nested arrays are never this long."""


class ValueDraws:
    """Draws with a seed. `constants` are those of the code as rows hold them, `makings` how a class is created,
    `failing` functions that fail as the code expects.

    A whole number among the constants may be a limit: it is drawn with its neighbors, as a number, as a text, and as a
    size.
    """

    def __init__(
        self,
        seed: int,
        constants: Sequence[str] = (),
        makings: Mapping[str, Sequence[str]] | None = None,
        failing: Sequence[str] = (),
    ) -> None:
        self.random = Random(seed)  # noqa: S311 - inputs must be reproducible
        known = [source(text) for text in constants]
        limits = [int(text) for text in known if re.fullmatch(r"-?\d{1,9}", text)]
        near = dict.fromkeys(limit + step for limit in limits for step in (0, 1, -1))
        self._numbers = [text for text in known if text[:1] in "-0123456789"]
        self._strings = [text for text in known if text[:1] == '"']
        self._texts = [f'"{number}"' for number in near]
        self._sizes = [number for number in near if 4 < number <= _LARGEST_SIZE]
        self._makings = makings or {}
        self._failing = failing

    def value(self, kind: ValueKind, depth: int = 0) -> str:
        """JavaScript for one value of a kind."""
        make = _MAKERS.get(kind.name)
        return make(self, kind, depth + 1) if make is not None and depth < 8 else self._any(kind, depth + 1)

    def _number(self, kind: ValueKind, depth: int) -> str:
        del depth
        pick = self.random.random()
        if self._numbers and pick < 0.25:
            number = self.random.choice(self._numbers)
            if number.isdigit() and self.random.random() < 0.3:
                return str(int(number) + self.random.choice((-1, 1)))
            return f"-{number}" if number[0] not in "-0" and self.random.random() < 0.2 else number
        if pick < 0.6:
            small = [each for each in _NUMBERS if kind.name != "int" or "." not in each]
            return self.random.choice(small)
        if pick < 0.9 or kind.name == "int":
            return str(self.random.randint(-20, 120) if pick < 0.95 else self.random.randint(-5000, 100_000))
        return str(round(self.random.uniform(-50, 50), 2))

    def _string(self, kind: ValueKind, depth: int) -> str:
        del kind, depth
        pick = self.random.random()
        if self._texts and self.random.random() < 0.1:
            return self.random.choice(self._texts)
        if self._strings and pick < 0.15:
            return self.random.choice(self._strings)
        if self._strings and pick < 0.3:
            parts = [*(text[1:-1] for text in self._strings), *"ab 1"]
            return '"' + "".join(self.random.choice(parts) for _ in range(self.random.randint(1, 7))) + '"'
        if pick < 0.6:
            return self.random.choice(_STRINGS)
        if self._sizes and self.random.random() < 0.15:
            return '"' + "".join(self.random.choices("abc ", k=self.random.choice(self._sizes))) + '"'
        letters = self.random.choice((_LETTERS, "ab", "abc ", "0123456789", "()"))
        return '"' + "".join(self.random.choice(letters) for _ in range(self.random.randint(0, 9))) + '"'

    def _array(self, kind: ValueKind, depth: int) -> str:
        return "[" + ", ".join(self._several(kind.items[0] if kind.items else NUMBER, depth)) + "]"

    def _several(self, kind: ValueKind, depth: int) -> list[str]:
        lengths = _LENGTHS + _LONG if depth < 2 else _LENGTHS
        count = self.random.choice(lengths) if depth < 4 else self.random.randint(0, 1)
        if self._sizes and depth < 3 and self.random.random() < 0.15:
            count = self.random.choice(self._sizes)
        if kind.fields and self.random.random() < 0.3:
            return self._of_one_field(kind, depth, count)
        made = [self.value(kind, depth) for _ in range(count)]
        if made and self.random.random() < 0.3:
            made.append(self.random.choice(made))  # a duplicate reveals what a set would lose
        return sorted(made) if self.random.random() < 0.15 else made

    def _of_one_field(self, kind: ValueKind, depth: int, count: int) -> list[str]:
        """Objects that agree in one field and differ in others: what sorts and groups them shows how it treats ties."""
        name, field, _ = self.random.choice(kind.fields)
        same = self.value(field, depth)
        return [
            "{"
            + ", ".join(f"{n}: {same if n == name else self.value(each, depth)}" for n, each, _ in kind.fields)
            + "}"
            for _ in range(count)
        ]

    def _tuple(self, kind: ValueKind, depth: int) -> str:
        return "[" + ", ".join(self.value(each, depth) for each in kind.items) + "]"

    def _object(self, kind: ValueKind, depth: int) -> str:
        there = [(name, each) for name, each, optional in kind.fields if not optional or self.random.random() < 0.6]
        return "{" + ", ".join(f"{name}: {self.value(each, depth)}" for name, each in there) + "}"

    def _record(self, kind: ValueKind, depth: int) -> str:
        values = self._several(kind.items[-1], depth)
        keys = self.random.sample("abcdefghij", 10)  # code may depend on an order that is not that of letters
        return "{" + ", ".join(f'["{keys[at % 10]}"]: {value}' for at, value in enumerate(values)) + "}"

    def _map(self, kind: ValueKind, depth: int) -> str:
        count = self.random.randint(0, 3)
        pairs = [f"[{', '.join(self.value(each, depth) for each in kind.items)}]" for _ in range(count)]
        return f"new Map([{', '.join(pairs)}])"

    def _set(self, kind: ValueKind, depth: int) -> str:
        return f"new Set([{', '.join(self._several(kind.items[0], depth))}])"

    def _union(self, kind: ValueKind, depth: int) -> str:
        return self.value(self.random.choice(kind.items), depth)

    def _class(self, kind: ValueKind, depth: int) -> str:
        del depth
        makings = self._makings.get(kind.text)
        return self.random.choice(makings) if makings else "{}"

    def _function(self, kind: ValueKind, depth: int) -> str:
        if kind.name != "returning" and kind.items and self.random.random() < 0.85:
            value = self.value(kind.items[0], depth)
            return f"({f'{kind.text} ' if kind.text else ''}() => ({value}))"
        if kind.name == "returning":
            return self._returning(kind, depth)
        is_failing = self._failing and self.random.random() < 0.4
        return f"({self.random.choice(self._failing if is_failing else _FUNCTIONS[kind.name])})"

    def _returning(self, kind: ValueKind, depth: int) -> str:
        """A function that gives one value, or the next number each time, or fails as the code expects."""
        head = f"{kind.text} " if kind.text else ""
        if self._failing and self.random.random() < 0.3:
            return f"({head}{self.random.choice(self._failing)})"
        if kind.items[0].name == "number" and not head and self.random.random() < 0.6:
            return f"((n) => () => (n += {self.random.randint(1, 9)}))({self.random.randint(0, 9)})"
        if self.random.random() < 0.5:  # one after the other, as pages come
            values = ", ".join(self.value(kind.items[0], depth) for _ in range(3))
            return f"((all) => {head}() => (all.length > 1 ? all.shift() : all[0]))([{values}])"
        return f"({head}() => ({self.value(kind.items[0], depth)}))"

    def _any(self, kind: ValueKind, depth: int) -> str:
        del kind
        if depth >= 8:
            return "null"
        simple = (
            NUMBER,
            NUMBER,
            STRING,
            STRING,
            ValueKind("array", (NUMBER,)),
            ValueKind("array", (STRING,)),
            BOOLEAN,
            NULL,
        )
        return self.value(self.random.choice(simple), depth)


def _one_of(texts: Sequence[str], form: str = "{}") -> Callable[[ValueDraws, ValueKind, int], str]:
    return lambda draws, _kind, _depth: form.format(draws.random.choice(texts))


_MAKERS: Mapping[str, Callable[[ValueDraws, ValueKind, int], str]] = {
    "number": ValueDraws._number,
    "int": ValueDraws._number,
    "bigint": lambda draws, _kind, _depth: f"{draws.random.randint(-30, 1000)}n",
    "string": ValueDraws._string,
    "boolean": _one_of(("true", "false")),
    "null": _one_of(("null",)),
    "undefined": _one_of(("undefined",)),
    "literal": lambda _draws, kind, _depth: kind.text,
    "date": _one_of(_DATES, "new Date({})"),
    "regexp": _one_of(_REGEXPS),
    **dict.fromkeys(("function", "callback", "method", "returning"), ValueDraws._function),
    "array": ValueDraws._array,
    "tuple": ValueDraws._tuple,
    "object": ValueDraws._object,
    "record": ValueDraws._record,
    "map": ValueDraws._map,
    "set": ValueDraws._set,
    "union": ValueDraws._union,
    "class": ValueDraws._class,
}
