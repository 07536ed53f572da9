"""Further inputs if the first ones left lines of a change unexecuted: literals in those lines name their conditions.

`if len(xs) > 50 and xs[0] == 77` needs a list of 51 that begins with 77: near misses of one value at a time seldom
satisfy both.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import GUESSED

MOST_GUIDED, _TRIES = 360, 900
_FACTORS, _LARGEST = 5, 10_000
_LONGEST = 5_000
"""Conditions on greater lengths are not tried."""
_LONG = 2_000
"""Longer arguments take long to write again, and are changed only if there are no shorter ones."""
_MOST_KEYS = 300
"""Larger dictionaries take long to write."""
CallChange = Callable[[Call, "LiteralValues"], Call | None]
_OTHER_KINDS: tuple[Any, ...] = (None, True, 0, 1.5, "a", [], {}, b"a")


def coverage_guided_calls(calls: Sequence[Call], literals: Sequence[str], change: CallChange) -> tuple[Call, ...]:
    """Calls like the given ones, with several of these literals at once as values, within values, and as lengths.

    `change` makes such a call (`guided_changes.py` of each language).
    """
    random = Random(zlib.crc32("\0".join(literals).encode()))  # noqa: S311 - inputs must be reproducible
    values = LiteralValues([value for value in map(literal, literals) if value is not None], random)
    usable = [call for call in calls if not call.again and not call.shown]
    base = [call for call in usable if len(call.setup) <= _LONG] or usable
    known = {(call.setup, call.body) for call in calls}
    found: dict[tuple[str, str], Call] = {}
    for _ in range(_TRIES if base else 0):
        call = random.choice(base)
        try:
            made = change(call, values)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # too deep or too large to write
            continue
        if made is not None and (made.setup, made.body) not in known:
            found[made.setup, made.body] = made
        if len(found) >= MOST_GUIDED:
            break
    return tuple(found.values())


def with_text(call: Call, made: str) -> Call | None:
    """A call with its arguments replaced by another text; None if that is too long."""
    if len(made) > 4 * _LONGEST:
        return None
    return replace(call, setup=made) if call.setup else replace(call, body=made)


class LiteralValues:
    """Makes values from the literals that the code compares with."""

    def __init__(self, known: Sequence[Any], random: Random) -> None:
        numbers = sorted({each for each in known if type(each) is int and 1 < each <= _LARGEST})[-_FACTORS:]
        # A share or a rate of a number is compared with a limit: the number is as much larger.
        products = [one * other for one, other in itertools.combinations(numbers, 2)]
        products += [one * other // third for one, other, third in itertools.permutations(numbers, 3) if one > other]
        self.known, self.random, self.products = known, random, list(dict.fromkeys(products))
        self.lengths = [n for n in known if type(n) is int and 0 < n <= _LONGEST] or [1]

    def instead(self, value: Any, call: Call) -> Any:
        """A replacement for an argument of a call; rarely of another kind, if its kind was guessed."""
        is_open = call.origin == GUESSED and self.random.random() < 0.05
        return self.random.choice(_OTHER_KINDS) if is_open else self.like(value)

    def like(self, value: Any, depth: int = 0) -> Any:
        """A value of the same kind."""
        if isinstance(value, list):
            return self._items(value, depth)
        if isinstance(value, tuple):
            return tuple(self.like(each, depth + 1) for each in value)
        if isinstance(value, set):
            return set(map(_hashable, self._items(sorted(value, key=text_of), depth)))
        if isinstance(value, dict):
            return self._pairs(value, depth)
        if isinstance(value, str | bytes):
            return self._text(value)
        return self._atom(value)

    def _atom(self, value: Any) -> Any:
        alike = [each for each in self.known if type(each) is type(value)]
        if type(value) is float:
            alike += [float(each) for each in self.known if type(each) is int]
        if not alike or isinstance(value, bool):
            return not value if isinstance(value, bool) else value
        chosen = self.random.choice(alike)
        if type(value) is int and self.products and self.random.random() < 0.15:
            return self.random.choice(self.products) + self.random.choice((0, 1, 100))
        if type(value) is int and self.random.random() < 0.2:  # `n % 400` is 0 for multiples alone
            return chosen * self.random.randint(1, 12)
        return chosen + self.random.choice((0, 0, 0, 1, -1)) if type(value) in (int, float) else chosen

    def _length(self) -> int:
        return max(0, self.random.choice(self.lengths) + self.random.choice((0, 1, 1, -1)))

    def _items(self, items: list[Any], depth: int) -> list[Any]:
        random = self.random
        if random.random() < 0.6:
            items = self._stretched(items or [0, 1], self._length() if depth == 0 else random.randint(0, 4))
        for _ in range(random.randint(0, 3) if items else 0):
            at = random.choice((0, -1, random.randrange(len(items))))
            items[at] = self.like(items[at], depth + 1)
        return items

    def _stretched(self, items: list[Any], length: int) -> list[Any]:
        """The items repeated, numbers sometimes shifted so that not all repeat."""
        step = self.random.choice((0, 1, len(items)))
        turns = ((number // len(items), items[number % len(items)]) for number in range(length))
        return [item + turn * step if type(item) is int else item for turn, item in turns]

    def _pairs(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        pairs = {key: self.like(item, depth + 1) if self.random.random() < 0.5 else item for key, item in value.items()}
        for key in list(pairs)[:3]:
            if self.random.random() < 0.5:
                pairs[_hashable(self.like(key, depth + 1))] = pairs[key]
        if pairs and self.random.random() < 0.2:
            first = next(iter(pairs))
            count = range(min(self._length(), _MOST_KEYS))
            more = count if type(first) is int else map(str, count)
            pairs.update(dict.fromkeys(more, pairs[first]))
        return pairs

    def _text(self, value: Any) -> Any:
        """A text, or bytes, with known ones in it, and of a known length."""
        random = self.random
        known = [each for each in self.known if type(each) is type(value)] or [value]
        move = random.randint(0, 3)
        if move == 0:
            return random.choice(known)
        for _ in range(random.randint(0, 2)):
            at = random.choice((0, len(value), random.randint(0, len(value))))
            value = value[:at] + random.choice(known) + value[at:]
        length = self._length()
        filled = value or (b"a" if isinstance(value, bytes) else "a")
        return (filled * (length // len(filled) + 1))[:length] if move == 3 else value


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | bytes | int | float | tuple | type(None)) else text_of(value)
