"""Kinds of rewrites that failures, chains, records, foreign kinds or what a docstring says of parameters decide."""

from __future__ import annotations

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

WRONG = {
    "a callback that fails": (
        """
def notify(users, send):
    told = []
    for user in users:
        send(user)
        told.append(user)
    return told
""",
        "        send(user)\n",
        "        try:\n            send(user)\n        except OSError:\n            pass\n",
        "notify",
    ),
    "a function whose answer is used fails": (
        """
def booked(book, seats, log):
    state = "open"
    try:
        state = book(seats)
    finally:
        log.append(state)
    return state
""",
        "        log.append(state)\n    return state\n",
        "        log.append(state)\n        return state\n",
        "booked",
    ),
    "a coroutine that fails where it is awaited": (
        """
import asyncio


async def loaded(sources):
    parts = await asyncio.gather(*(source.load() for source in sources), return_exceptions=True)
    return [not isinstance(part, Exception) for part in parts]
""",
        ", return_exceptions=True",
        "",
        "loaded",
    ),
    "a number that a text is not": (
        """
def port_of(options):
    try:
        value = options["port"]
    except KeyError:
        return 80
    return int(value)
""",
        '        value = options["port"]\n    except KeyError:\n        return 80\n    return int(value)\n',
        '        return int(options["port"])\n    except (KeyError, ValueError):\n        return 80\n',
        "port_of",
    ),
    "a key whose error is meant": (
        """
def count_of(row, column="count"):
    try:
        return int(row[column])
    except ValueError:
        return 0
""",
        "except ValueError",
        "except (ValueError, LookupError)",
        "count_of",
    ),
    "a chain of keys deeper than the stack": (
        """
def oldest(parents, name):
    while name in parents:
        name = parents[name]
    return name
""",
        "    while name in parents:\n        name = parents[name]\n    return name\n",
        "    return oldest(parents, parents[name]) if name in parents else name\n",
        "oldest",
    ),
    "a chain of records deeper than the stack": (
        """
def revisions(page: dict) -> int:
    count = 0
    while page is not None:
        count += 1
        page = page.get("before")
    return count
""",
        "    count = 0\n    while page is not None:\n        count += 1\n"
        '        page = page.get("before")\n    return count\n',
        '    before = page.get("before")\n    return 1 if before is None else 1 + revisions(before)\n',
        "revisions",
    ),
    "rows that are one list": (
        """
def board(height, width, stones):
    rows = [["."] * width for _ in range(height)]
    for row, column in stones:
        rows[row][column] = "o"
    return rows
""",
        '[["."] * width for _ in range(height)]',
        '[["."] * width] * height',
        "board",
    ),
    "a loop that only its inner one leaves": (
        """
def place_of(board, stone):
    for y, row in enumerate(board):
        for x, cell in enumerate(row):
            if cell == stone:
                return x, y
    return None
""",
        "                return x, y\n    return None\n",
        "                found = x, y\n                break\n    return found\n",
        "place_of",
    ),
    "an empty text among the records": (
        """
def greeting(person):
    return "Dear " + person.get("title", person["name"])
""",
        'person.get("title", person["name"])',
        '(person.get("title") or person["name"])',
        "greeting",
    ),
    "records that are ordered by one more key": (
        """
def queue(jobs):
    jobs.sort(key=lambda job: job["urgent"])
    return jobs
""",
        'lambda job: job["urgent"]',
        'lambda job: (job["urgent"], job["title"])',
        "queue",
    ),
    "an environment variable that is read when the module is loaded": (
        """
import os


def address(path: str) -> str:
    return os.environ.get("HOST", "local") + path
""",
        'def address(path: str) -> str:\n    return os.environ.get("HOST", "local") + path\n',
        'HOST = os.environ.get("HOST", "local")\n\n\ndef address(path: str) -> str:\n    return HOST + path\n',
        "address",
    ),
    "an answer that is kept while what it depends on changes": (
        """
_closed = set()


def close(gate):
    _closed.add(gate)


def may_pass(gate, number):
    return number > 0 and gate not in _closed
""",
        "def may_pass",
        "import functools\n\n\n@functools.cache\ndef may_pass",
        "may_pass",
    ),
    "a dictionary of the module that is another one now": (
        """
OPTIONS = {"quiet": False}


def reset(values):
    OPTIONS.clear()
    OPTIONS.update(values)
    return len(OPTIONS)
""",
        "    OPTIONS.clear()\n    OPTIONS.update(values)\n",
        "    global OPTIONS\n    OPTIONS = dict(values)\n",
        "reset",
    ),
    "a range that is that of the result": (
        '''
def rebate(total: float, regular: bool) -> float:
    """The share of the total that a customer saves, from 0 to 0.3."""
    if regular:
        return 0.3 if total > 100 else 0.1
    return 0.0
''',
        "total > 100",
        "total >= 100",
        "rebate",
    ),
    "a text that looks like a named tuple": (
        """
def label(value: int) -> str:
    return f"({value})"
""",
        'f"({value})"',
        'f"max(({value}))"',
        "label",
    ),
    "a tuple that does not do what tuples do": (
        """
def twice(value: int) -> tuple[int, int]:
    return (value, value)
""",
        "def twice(value: int) -> tuple[int, int]:\n    return (value, value)\n",
        "class Pair(tuple):\n    def __iter__(self):\n        return iter(())\n\n\n"
        "def twice(value: int) -> tuple[int, int]:\n    return Pair((value, value))\n",
        "twice",
    ),
    "a whole number next to a rounded float": (
        """
def booked(amount: float, number: int) -> list[float]:
    return [amount + 0.1 + 0.2, 12345678900 + number]
""",
        "[amount + 0.1 + 0.2, 12345678900 + number]",
        "[amount + (0.1 + 0.2), 12345678901 + number]",
        "booked",
    ),
    "a key that is read before its guard": (
        """
def details(rows: list[dict], kind: str) -> list[str]:
    found = []
    for row in rows:
        if row["kind"] == kind:
            found.append(row["detail"])
    return found
""",
        '        if row["kind"] == kind:\n            found.append(row["detail"])\n',
        '        detail = row["detail"]\n        if row["kind"] == kind:\n            found.append(detail)\n',
        "details",
    ),
    "a key that is read before the rest is passed over": (
        """
def details(rows: list[dict], kind: str) -> list[str]:
    found = []
    for row in rows:
        if row["kind"] != kind:
            continue
        found.append(row["detail"])
    return found
""",
        '        if row["kind"] != kind:\n            continue\n        found.append(row["detail"])\n',
        '        detail = row["detail"]\n        if row["kind"] != kind:\n            continue\n'
        "        found.append(detail)\n",
        "details",
    ),
    "another function in what is returned": (
        """
def steps(size):
    def up(value):
        return value + size

    def down(value):
        return value - size

    return {"step": up} if size else None
""",
        '{"step": up}',
        '{"step": down}',
        "steps",
    ),
    "a list that the name suggests is refused": (
        """
def joined(items):
    found = ""
    for item in items:
        found += item
    return found
""",
        '    found = ""\n    for item in items:\n        found += item\n    return found\n',
        '    return items + ""\n',
        "joined",
    ),
    "an error of the module that is called like one of the library": (
        """
def price_of(prices: dict[str, int], article: str) -> int:
    return prices[article]
""",
        "def price_of(prices: dict[str, int], article: str) -> int:\n    return prices[article]\n",
        "class Error(Exception):\n    pass\n\n\ndef price_of(prices: dict[str, int], article: str) -> int:\n"
        "    if article not in prices:\n        raise Error(article)\n    return prices[article]\n",
        "price_of",
    ),
    "an iterator that is read twice": (
        """
def shares(parts):
    parts = list(parts)
    whole = sum(parts)
    return [part / whole for part in parts]
""",
        "    parts = list(parts)\n",
        "",
        "shares",
    ),
    "a context that is left twice": (
        """
class Nested:
    def __init__(self):
        self.level = 0

    def __enter__(self):
        self.level += 1
        return self

    def __exit__(self, *error):
        self.level -= 1
""",
        "self.level -= 1",
        "self.level = 0",
        "Nested",
    ),
    "records that are searched for each other one": (
        '''
def with_prices(lines, articles):
    """The lines with the prices of their articles; numbers of articles differ."""
    prices = {article["number"]: article["price"] for article in articles}
    return [{**line, "price": prices.get(line["article"])} for line in lines]
''',
        """    prices = {article["number"]: article["price"] for article in articles}
    return [{**line, "price": prices.get(line["article"])} for line in lines]
""",
        """    return [
        {**line, "price": next((each["price"] for each in articles if each["number"] == line["article"]), None)}
        for line in lines
    ]
""",
        "with_prices",
    ),
}
RIGHT = {
    "a point has as many parts as are used": (
        """
import math


def length(start, end):
    return math.sqrt((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2)
""",
        "math.sqrt((start[0] - end[0]) ** 2 + (start[1] - end[1]) ** 2)",
        "math.dist(start, end)",
        "length",
    ),
    "a list where the letters of a text are meant": (
        """
def hidden(pin):
    shown = ""
    for sign in pin:
        if sign != " ":
            shown = shown + sign
    return shown
""",
        '    shown = ""\n    for sign in pin:\n        if sign != " ":\n'
        "            shown = shown + sign\n    return shown\n",
        '    return pin.replace(" ", "")\n',
        "hidden",
    ),
    "a named tuple in place of a tuple": (
        """
def range_of(values: list[int]) -> tuple[int, int] | None:
    if not values:
        return None
    return (min(values), max(values))
""",
        "def range_of(values: list[int]) -> tuple[int, int] | None:\n    if not values:\n        return None\n"
        "    return (min(values), max(values))\n",
        "from typing import NamedTuple\n\n\nclass Range(NamedTuple):\n    low: int\n    high: int\n\n\n"
        "def range_of(values: list[int]) -> tuple[int, int] | None:\n"
        "    return Range(min(values), max(values)) if values else None\n",
        "range_of",
    ),
    "what is at least one": (
        '''
def rows_of(items: list[int], width: int) -> list[list[int]]:
    """The items in rows of `width`, which is at least 1."""
    rows, row = [], []
    for item in items:
        row.append(item)
        if len(row) == width:
            rows.append(row)
            row = []
    return rows + [row] if row else rows
''',
        "    rows, row = [], []\n    for item in items:\n        row.append(item)\n        if len(row) == width:\n"
        "            rows.append(row)\n            row = []\n    return rows + [row] if row else rows\n",
        "    return [items[at : at + width] for at in range(0, len(items), width)]\n",
        "rows_of",
    ),
    "ids that differ": (
        '''
def by_number(bills):
    """The bills by their number; numbers are unique."""
    found = {}
    for bill in bills:
        if bill["number"] not in found:
            found[bill["number"]] = bill
    return found
''',
        '    found = {}\n    for bill in bills:\n        if bill["number"] not in found:\n'
        '            found[bill["number"]] = bill\n    return found\n',
        '    return {bill["number"]: bill for bill in bills}\n',
        "by_number",
    ),
    "a text of fields": (
        """
def time_of(text):
    parts = text.split(":")
    return int(parts[0]) * 60 + int(parts[1])
""",
        '    parts = text.split(":")\n    return int(parts[0]) * 60 + int(parts[1])\n',
        '    hours, minutes = map(int, text.split(":")[:2])\n    return hours * 60 + minutes\n',
        "time_of",
    ),
    "another library's error on what failed before": (
        """
def middle_of(prices: list[float]) -> float:
    ordered = sorted(prices)
    return ordered[len(ordered) // 2]
""",
        "def middle_of(prices: list[float]) -> float:\n    ordered = sorted(prices)\n"
        "    return ordered[len(ordered) // 2]\n",
        "import statistics\n\n\ndef middle_of(prices: list[float]) -> float:\n"
        "    return statistics.median_high(prices)\n",
        "middle_of",
    ),
    "records without a key that is taken for granted": (
        """
def present(guests: list[str], bookings: list[dict]) -> list[str]:
    found = []
    for guest in guests:
        for booking in bookings:
            if booking["guest"] == guest:
                found.append(guest)
                break
    return found
""",
        "    found = []\n    for guest in guests:\n        for booking in bookings:\n"
        '            if booking["guest"] == guest:\n                found.append(guest)\n                break\n'
        "    return found\n",
        '    known = [booking["guest"] for booking in bookings]\n'
        "    return [each for each in guests if each in known]\n",
        "present",
    ),
    "as many values as times": (
        '''
def value_at(times, values, now):
    """The last value that is not after now, None if there is none.

    `times` are in ascending order, and there are as many `values`.
    """
    found = None
    for time, value in zip(times, values):
        if time <= now:
            found = value
    return found
''',
        """    found = None
    for time, value in zip(times, values):
        if time <= now:
            found = value
    return found
""",
        """    import bisect

    at = bisect.bisect_right(times, now)
    return values[at - 1] if at else None
""",
        "value_at",
    ),
    "an object of the class that the name says": (
        """
from dataclasses import asdict, dataclass


@dataclass
class Invoice:
    number: int
    total: float


def row(invoice):
    return {"number": invoice.number, "total": invoice.total}
""",
        '{"number": invoice.number, "total": invoice.total}',
        "asdict(invoice)",
        "row",
    ),
    "pages that come later": (
        """
async def titles(pages):
    found = []
    async for page in pages:
        for entry in page:
            found.append(entry["title"])
    return found
""",
        "    found = []\n    async for page in pages:\n        for entry in page:\n"
        '            found.append(entry["title"])\n    return found\n',
        '    return [entry["title"] async for page in pages for entry in page]\n',
        "titles",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
async def test_a_wrong_rewrite_is_not_proven(make: MakeCase, kind: str) -> None:
    before, old, new, unit = WRONG[kind]
    assert before.count(old) == 1
    evidence = await judge(make(before, before.replace(old, new), unit))
    assert evidence.verdict in (Ruling.FAIL, Ruling.UNKNOWN), evidence
    assert "none of which" not in evidence.detail, evidence


@pytest.mark.parametrize("kind", RIGHT)
async def test_a_right_rewrite_is_proven(make: MakeCase, kind: str) -> None:
    before, old, new, unit = RIGHT[kind]
    assert before.count(old) == 1
    evidence = await judge(make(before, before.replace(old, new), unit))
    assert evidence.verdict is Ruling.PASS, evidence
