"""Near misses of written inputs: they reach branches that blind draws do not find."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random
from typing import Any

from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.validators.ast_text import in_digits, try_parse_expression

_LETTERS = "abcXYZ019 ,.-_()[]{}<>aeiou"
_LARGEST = 10**9
_KEYED = 60
_MOST_PARTS = 60
_KEYS = (
    "(lambda *args, **kw: args[0][::-1] if hasattr(args[0], '__len__') else -args[0])",
    "(lambda *args, **kw: args[0][:1] if hasattr(args[0], '__len__') else args[0] // 2)",
)
_FEW = ("'a'", "'b'", "'c'")
_REPEATED = 400
"""Longer texts seldom stand in a second call."""
_MOST_EXCHANGED = 24
"""Rows with exchanged arguments: all of a few examples."""


def mutated_rows(rows: Sequence[ArgumentRow], constants: Sequence[str], seed: int) -> Iterator[ArgumentRow]:
    """The rows with two arguments of one kind exchanged, then infinitely many with one to three values changed, or with
    an argument of another row.
    """
    yield from itertools.islice(_exchanged(rows), _MOST_EXCHANGED)
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    spare = [value for value in map(literal, constants) if value is not None]
    while rows:
        row = dict(random.choice(rows))
        if not row:
            return
        for _ in range(random.choice((1, 1, 2, 3))):
            name = random.choice(list(row))
            if random.random() < 0.15:
                row[name] = random.choice(rows).get(name, row[name])
            elif (value := literal(row[name])) is not None or row[name] == "None":
                row[name] = text_of(_changed(value, spare, random))
        yield row


def _exchanged(rows: Sequence[ArgumentRow]) -> Iterator[ArgumentRow]:
    for row in rows:
        for one, other in itertools.combinations(row, 2):
            is_alike = type(literal(row[one])) is type(literal(row[other]))
            if is_alike and row[one] != row[other]:
                yield {**row, one: row[other], other: row[one]}


def with_shared_elements(rows: Sequence[ArgumentRow], seed: int) -> list[ArgumentRow]:
    """The rows; in every third, an argument is an element of another one, if possible: searched values then occur."""
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    return [_met(row, random) if number % 3 == 2 else row for number, row in enumerate(rows)]


def with_shared_keys(rows: Sequence[ArgumentRow], seed: int) -> list[ArgumentRow]:
    """The rows; in every third, a dictionary has keys of another one, if there are two: what is merged then meets."""
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    return [_merged(row, random) if number % 3 == 1 else row for number, row in enumerate(rows)]


def _merged(row: ArgumentRow, random: Random) -> ArgumentRow:
    found = [(name, value) for name, text in row.items() if isinstance(value := literal(text), dict)]
    if len(found) < 2 or not found[0][1]:
        return row
    (_, first), (name, second) = found[:2]
    return {**row, name: text_of(_with_keys_of(first, second, random))}


def _with_keys_of(first: dict[Any, Any], second: dict[Any, Any], random: Random) -> dict[Any, Any]:
    """The second dictionary with some keys of the first, at all levels."""
    made = dict(second)
    for key in random.sample(list(first), random.randint(1, len(first))):
        held = first[key]
        is_nested = isinstance(held, dict) and held
        made[key] = _with_keys_of(held, {"more": 1}, random) if is_nested else _changed(held, (), random)
    return made


def like_items(rows: Sequence[ArgumentRow], held: Mapping[str, str], seed: int) -> list[ArgumentRow]:
    """The rows; in every second, an argument that is compared with another's items is similar to one of them.

    `held` maps such a parameter to the one with the items.
    """
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    return [_like_item(row, held, random) if number % 2 else row for number, row in enumerate(rows)]


def with_keys(rows: Sequence[ArgumentRow], seed: int) -> list[ArgumentRow]:
    """The rows, and some again with functions that return values of their argument's kind, in another order or with
    ties: code that forgets to call the function uses the argument itself, which fits.
    """
    names = sorted({name for row in rows for name, text in row.items() if text.startswith("(lambda *args")})
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    some = random.sample(rows, min(len(rows), _KEYED)) if names else []
    return [*rows, *({**row, name: random.choice(_KEYS)} for row in some for name in names)]


def _like_item(row: ArgumentRow, held: Mapping[str, str], random: Random) -> ArgumentRow:
    found = dict(row)
    for name, holder in held.items():
        items = literal(row.get(holder, ""))
        if name in row and isinstance(items, list | tuple | str) and items:
            found[name] = text_of(_changed(random.choice(items), (), random))
    return found


def with_few_texts(rows: Sequence[ArgumentRow]) -> list[ArgumentRow]:
    """The rows; in every second, the texts are one of three: one method then finds what another stored by a key."""
    return [
        {name: _FEW[number // 2 % 3] if isinstance(literal(text), str) else text for name, text in row.items()}
        if number % 2
        else row
        for number, row in enumerate(rows)
    ]


def _met(row: ArgumentRow, random: Random) -> ArgumentRow:
    if (near := _near_date(row, random)) is not None:
        return near
    values = {name: literal(text) for name, text in row.items()}
    groups = {name: each for name, each in values.items() if isinstance(each, list | tuple | dict | set)}
    for name, value in values.items():
        held = [item for other, each in groups.items() if other != name for item in _parts(each)]
        if fitting := [item for item in held if value is not None and type(item) is type(value) and item != value]:
            return {**row, name: text_of(random.choice(fitting))}
    return _related(row, values, random)


def _related(row: ArgumentRow, values: dict[str, Any], random: Random) -> ArgumentRow:
    """The row with a text or a list made of another one."""
    long = [(name, value) for name, value in values.items() if isinstance(value, str | list) and len(value) > 1]
    if not long:
        return row
    name, value = random.choice(long)
    others = [other for other, each in values.items() if other != name and type(each) is type(value)]
    return {**row, random.choice(others): text_of(related(value, random))} if others else row


def related(value: str | list[Any], random: Random) -> str | list[Any]:
    """What code may look for besides a text or a list: the same, turned, reversed, sorted, a part, or one less."""
    items = list(value)
    at, end = sorted(random.choices(range(len(items) + 1), k=2))
    in_order = sorted(items) if isinstance(value, str) else items
    made = random.choice(
        (items, items[at:] + items[:at], items[::-1], in_order, items[at:end], items[:at] + items[end:], items[:end])
    )
    return "".join(made) if isinstance(value, str) else made


_DATE = re.compile(r"datetime'\)\.(?:date|datetime)\((\d+), (\d+), (\d+)")


def _near_date(row: ArgumentRow, random: Random) -> ArgumentRow | None:
    """The row with one of its dates on, before or after a date among the others: code asks whether a day is one."""
    dates = [(name, found) for name, text in row.items() for found in _DATE.finditer(text)]
    single = [name for name, _ in dates if len(_DATE.findall(row[name])) == 1]
    others = [found for name, found in dates if single and name != single[0]]
    if not others:
        return None
    year, month, day = map(int, random.choice(others).groups())
    moved = date(year, month, day) + timedelta(days=random.choice((-3, -2, -1, -1, 0, 1)))
    text = row[single[0]]
    at = _DATE.search(text)
    assert at is not None
    return {**row, single[0]: f"{text[: at.start(1)]}{moved.year}, {moved.month}, {moved.day}{text[at.end(3) :]}"}


def _parts(value: Any) -> list[Any]:
    """All that is in a container, at any depth: the items of lists, the keys and values of dictionaries."""
    items = [*value, *value.values()] if isinstance(value, dict) else _in_order(value)
    found = [*items, *(part for each in items if isinstance(each, list | tuple | dict | set) for part in _parts(each))]
    hashable = [each for each in found if not isinstance(each, list | dict | set)]
    return list(dict.fromkeys(hashable))[:_MOST_PARTS] if len(hashable) == len(found) else found[:_MOST_PARTS]


def _in_order(values: Iterable[Any]) -> list[Any]:
    """The items sorted: a set's order differs between processes; inputs must not."""
    return sorted(values, key=text_of) if isinstance(values, set) else list(values)


def literal(text: str) -> Any:
    """The value of a literal; None for anything else, and for None. A new one each time: callers change them."""
    node = _expression(text) if len(text) <= _REPEATED else try_parse_expression(text.lstrip(" \t"))
    return value_of(node) if node is not None else None


def value_of(node: ast.expr) -> Any:
    """The value of an expression made of literals; None for any other."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


@functools.lru_cache(maxsize=4_096)
def _expression(text: str) -> ast.expr | None:
    """The tree of a text: the same argument stands in many calls, and parsing takes longer than all else here."""
    return try_parse_expression(text.lstrip(" \t"))


def text_of(value: Any) -> str:
    """An expression for a value made of literals."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value!r}')"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text_of, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(text_of, value))) + "}" if value else "set()"
    return in_digits(value) if isinstance(value, int) else repr(value)


def _changed(value: Any, spare: Sequence[Any], random: Random) -> Any:
    alike = [other for other in spare if type(other) is type(value)]
    if alike and random.random() < 0.2:
        return random.choice(alike)
    for kind, change in _CHANGES:
        if isinstance(value, kind):
            return change(value, spare, random)
    return value


def _of_bool(value: bool, _: Sequence[Any], random: Random) -> bool:
    del random
    return not value


def _of_int(value: int, _: Sequence[Any], random: Random) -> int:
    if abs(value) > _LARGEST:
        return value // 7
    return random.choice(
        (value + 1, value - 1, -value, 0, 1, 2, value * 2, value // 2, value * 10, value + random.randint(-20, 20))
    )


def _of_float(value: float, _: Sequence[Any], random: Random) -> float:
    return random.choice((value + 1, value - 0.5, -value, 0.0, value / 2, value * 10, float(round(value)), value + 0.1))


def _of_str(value: str, spare: Sequence[Any], random: Random) -> str:
    words_known = [each for each in spare if isinstance(each, str) and each]
    runs = list(re.finditer(r"\w+", value))
    if words_known and len(runs) > 1 and random.random() < 0.3:  # the form is kept
        run = random.choice(runs)
        return value[: run.start()] + random.choice(words_known) + value[run.end() :]
    at, other = random.randint(0, len(value)), random.randint(0, len(value))
    letter = random.choice(value) if value and random.random() < 0.5 else random.choice(_LETTERS)
    words = value.split(" ")
    random.shuffle(words)
    return random.choice(
        (
            value[:at] + letter + value[at:], value[:at] + value[at + 1 :], value[:at] + letter + value[at + 1 :],
            value[::-1], value + value, value.swapcase(), value[: at // 2], "", value[min(at, other) : max(at, other)],
            value.upper(), " ".join(words), value + " " + letter, value + value[::-1], str(random.randint(-5, 120)),
        )
    )  # fmt: skip


def _of_bytes(value: bytes, spare: Sequence[Any], random: Random) -> bytes:
    return _of_str(value.decode("latin-1"), spare, random).encode("latin-1", "replace")


def _of_items(value: Any, spare: Sequence[Any], random: Random) -> Any:
    """Changed lists, tuples and sets; their items are changed too."""
    items = _in_order(value)
    at = random.randint(0, len(items))
    move = random.randint(0, 9)
    if not items:
        return value
    if move < 4:
        at = min(at, len(items) - 1)
        items[at] = _changed(items[at], spare, random)
    elif move == 4:
        del items[at : at + 1]
    elif move == 5:
        items.insert(at, _changed(random.choice(items), spare, random))
    elif move == 6:
        items.insert(at, random.choice(items))
    elif move == 7:
        random.shuffle(items)
    elif move == 8:
        items = random.choice((items[::-1], items + items, items[:at], items[at:]))
    else:
        items = [_changed(item, spare, random) for item in items]
    try:
        return type(value)(items)
    except TypeError:
        return value


def _of_dict(value: dict[Any, Any], spare: Sequence[Any], random: Random) -> dict[Any, Any]:
    pairs = list(value.items())
    if not pairs or random.random() < 0.1:
        return {}
    at = random.randrange(len(pairs))
    key, item = pairs[at]
    move = random.randint(0, 4)
    if move == 0:
        del pairs[at]
    elif move == 1:
        pairs.append((_changed(key, spare, random), item))
    elif move == 2:
        pairs[at] = (_changed(key, spare, random), item)
    else:
        pairs[at] = (key, _changed(item, spare, random))
    return dict(pairs)


_CHANGES: tuple[tuple[Any, Any], ...] = (
    (bool, _of_bool),
    (int, _of_int),
    (float, _of_float),
    (str, _of_str),
    (bytes, _of_bytes),
    ((list, tuple, set), _of_items),
    (dict, _of_dict),
)
