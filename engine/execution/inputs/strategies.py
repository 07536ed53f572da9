"""Strategies of values: how to draw one at random. The names and the meaning are those of Hypothesis.

Hypothesis itself takes a second of processor time for three hundred rows, as it remembers each choice to shrink what
fails later. Nothing is shrunk here, so a draw takes microseconds, and the same seed gives the same values everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")
_END = 0.1
"""How often a number is one of the ends of its range."""
_TYPICAL = 10
"""More items than that are not drawn, however many are allowed."""
_TRIES = 3
"""How often another item is drawn where items have to differ."""
_SIMPLE = 0.1
"""The share of the first values that lean towards simple ones, the first one wholly."""


_MOST_ITEMS = 1000
"""Items of all lists in one value: lists of lists of lists are not all long."""


class SimplestRandom(Random):
    """Leans towards what is simplest: the first choice, and the whole number next to zero.

    Simple values coincide, and are the ones that are special: nothing, zero, the empty text.
    """

    lean = 0.0
    """How often, from 0 to 1."""
    left = _MOST_ITEMS
    """How many more items this value may have."""

    def size(self, least: int, most: int) -> int:
        """The number of a list's items, within bounds."""
        chosen = self.randint(least, most) if self.left > 0 else least
        self.left -= chosen
        return chosen

    def choice(self, seq: Any) -> Any:
        """One of some values."""
        return seq[0] if self.lean and self.random() < self.lean else super().choice(seq)

    def randint(self, a: int, b: int) -> int:
        """A whole number of a range, its ends included."""
        return max(a, min(b, 0)) if self.lean and self.random() < self.lean else super().randint(a, b)


class SearchStrategy(Generic[T]):
    """A way to draw values."""

    def __init__(self, draw: Callable[[SimplestRandom], T]) -> None:
        self.draw = draw

    def map(self, change: Callable[[T], S]) -> SearchStrategy[S]:
        """The values changed by a function."""
        return SearchStrategy(lambda random: change(self.draw(random)))


def just(value: T) -> SearchStrategy[T]:
    """Always the same value."""
    return SearchStrategy(lambda _: value)


def sampled_from(values: Sequence[T]) -> SearchStrategy[T]:
    """One of some values."""
    return SearchStrategy(lambda random: random.choice(values))


def one_of(*strategies: SearchStrategy[Any] | Iterable[SearchStrategy[Any]]) -> SearchStrategy[Any]:
    """A value of one of some strategies, each as likely as the others."""
    among = [each for one in strategies for each in ([one] if isinstance(one, SearchStrategy) else one)]
    return SearchStrategy(lambda random: random.choice(among).draw(random))


def integers(least: int, most: int) -> SearchStrategy[int]:
    """Whole numbers of a range, its ends included, and these more often than others."""

    def draw(random: SimplestRandom) -> int:
        return random.choice((least, most)) if random.random() < _END else random.randint(least, most)

    return SearchStrategy(draw)


def floats(least: float, most: float) -> SearchStrategy[float]:
    """Numbers of a range with few decimals or with all of them."""
    return SearchStrategy(lambda random: round(random.uniform(least, most), random.choice((0, 1, 2, 15))))


def _size(random: SimplestRandom, least: int, most: int) -> int:
    return random.size(least, max(least, min(most, least + _TYPICAL)))


def lists(
    items: SearchStrategy[T], *, min_size: int = 0, max_size: int = _TYPICAL,
    unique_by: Callable[[T], Hashable] | None = None,
) -> SearchStrategy[list[T]]:  # fmt: skip
    """Lists of some items, which differ by `unique_by` if it is given."""

    def draw(random: SimplestRandom) -> list[T]:
        found = [items.draw(random) for _ in range(_size(random, min_size, max_size))]
        return found if unique_by is None else list({unique_by(each): each for each in found}.values())

    return SearchStrategy(draw)


def text(letters: str | SearchStrategy[str], *, max_size: int = _TYPICAL) -> SearchStrategy[str]:
    """Texts of some letters."""
    letter = sampled_from(letters) if isinstance(letters, str) else letters
    return lists(letter, max_size=max_size).map("".join)


def binary(*, max_size: int = _TYPICAL) -> SearchStrategy[bytes]:
    """Bytes of any value."""
    return SearchStrategy(lambda random: random.randbytes(_size(random, 0, max_size)))


def tuples(*items: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    """Tuples with an item of each strategy."""
    return SearchStrategy(lambda random: tuple(each.draw(random) for each in items))


def fixed_dictionaries(
    values: Mapping[str, SearchStrategy[T]], *, optional: Mapping[str, SearchStrategy[T]] | None = None
) -> SearchStrategy[dict[str, T]]:
    """Dictionaries with these keys, and with some of the `optional` ones."""

    def draw(random: SimplestRandom) -> dict[str, T]:
        found = {key: each.draw(random) for key, each in values.items()}
        return found | {key: each.draw(random) for key, each in (optional or {}).items() if random.random() < 0.5}

    return SearchStrategy(draw)


def examples(strategy: SearchStrategy[T], count: int, seed: int, is_over: Callable[[int], bool]) -> list[T]:
    """Up to `count` values that differ, the same for the same seed; fewer once `is_over` of their number is true.

    The simplest come first.
    """
    random = SimplestRandom(seed)
    found: dict[str, T] = {}
    for tried in range(_TRIES * count):
        if len(found) >= count or is_over(tried):
            break
        random.left = _MOST_ITEMS
        random.lean = max(0.0, 1 - tried / max(1, _SIMPLE * count))
        value = strategy.draw(random)
        found.setdefault(repr(value), value)
    return list(found.values())
