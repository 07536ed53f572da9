"""Kinds of rewrites that inputs of few values, long chains, ties, the environment or a docstring's words decide."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.judging import MakeCase
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

WRONG = {
    "a limit that only few keys reach": (
        '''
class Recent:
    """The last values by name, `most` of them."""

    def __init__(self, most):
        self.most = most
        self._values = {}

    def put(self, name, value):
        self._values.pop(name, None)
        self._values[name] = value
        if len(self._values) > self.most:
            del self._values[next(iter(self._values))]

    def get(self, name):
        return self._values.get(name)
''',
        "        self._values.pop(name, None)\n", "", "Recent",
    ),
    "a method that an earlier call of its own prepares": (
        '''
class Page:
    def __init__(self):
        self.back, self.ahead, self.url = [], [], ""

    def open(self, url: str) -> None:
        self.back.append(self.url)
        self.ahead.clear()
        self.url = url

    def previous(self) -> None:
        if self.back:
            self.ahead.append(self.url)
            self.url = self.back.pop()
''',
        "        self.ahead.clear()\n", "", "Page.open",
    ),
    "an environment variable that stays": (
        '''
import os


def in_language(language, work):
    before = os.environ.get("LANG")
    os.environ["LANG"] = language
    result = len(work)
    if before is None:
        del os.environ["LANG"]
    else:
        os.environ["LANG"] = before
    return result
''',
        """    if before is None:
        del os.environ["LANG"]
    else:
        os.environ["LANG"] = before
""",
        "", "in_language",
    ),
    "keywords that a constant names": (
        '''
DEFAULTS = {"depth": 3, "width": 80}
_chosen = dict(DEFAULTS)


def choose(**changes):
    for name in changes:
        if name not in DEFAULTS:
            raise KeyError(name)
    _chosen.update(changes)
    return dict(_chosen)
''',
        "    _chosen.update(changes)\n    return dict(_chosen)\n", "    return {**_chosen, **changes}\n", "choose",
    ),
    "keywords that are passed on": (
        "def note(*words, **how):\n    print('note:', *words, **how)\n",
        "*words, **how)\n", "*words)\n", "note",
    ),
    "a deep tree whose nodes hold lists": (
        """
def titles(section):
    found, waiting = [], [section]
    while waiting:
        current = waiting.pop()
        found.append(current.title)
        waiting.extend(reversed(current.parts))
    return found
""",
        """    found, waiting = [], [section]
    while waiting:
        current = waiting.pop()
        found.append(current.title)
        waiting.extend(reversed(current.parts))
    return found
""",
        """    found = [section.title]
    for part in section.parts:
        found += titles(part)
    return found
""",
        "titles",
    ),
    "an object that many calls made long": (
        """
class Link:
    def __init__(self, value, below):
        self.value, self.below = value, below


class Pile:
    def __init__(self):
        self.top = None

    def lay(self, value):
        self.top = Link(value, self.top)

    def height(self):
        count, link = 0, self.top
        while link is not None:
            count, link = count + 1, link.below
        return count
""",
        """        count, link = 0, self.top
        while link is not None:
            count, link = count + 1, link.below
        return count
""",
        """        def above(link):
            return 0 if link is None else 1 + above(link.below)

        return above(self.top)
""",
        "Pile.height",
    ),
    "a tie, which the name decides now": (
        '''
from typing import NamedTuple


class Offer(NamedTuple):
    shop: str
    price: int
    way: int


def cheapest(offers: list[Offer]) -> str:
    """The shop with the lowest price and way, of at least one; the first of several."""
    best = offers[0]
    for offer in offers[1:]:
        if offer.price * 7919 + offer.way < best.price * 7919 + best.way:
            best = offer
    return best.shop
''',
        """    best = offers[0]
    for offer in offers[1:]:
        if offer.price * 7919 + offer.way < best.price * 7919 + best.way:
            best = offer
    return best.shop
""",
        "    return min((offer.price * 7919 + offer.way, offer.shop) for offer in offers)[1]\n", "cheapest",
    ),
    "a registry with a hint": (
        """
_plugins: dict[str, list[object]] = {}


def plugin(kind: str):
    def register(work):
        _plugins.setdefault(kind, []).append(work)
        return work

    return register


def run(kind: str) -> list[object]:
    return _plugins.get(kind, [])
""",
        "_plugins.setdefault(kind, []).append(work)", "_plugins[kind] = [work]", "plugin",
    ),
    "a list of which no one here reads": (
        '''
from contextlib import contextmanager

_language = ["en"]


@contextmanager
def speaking(language):
    """Another language within a block, also if that fails."""
    _language.append(language)
    try:
        yield
    finally:
        _language.pop()
''',
        """    try:
        yield
    finally:
        _language.pop()
""",
        """    yield
    _language.pop()
""",
        "speaking",
    ),
    "a function that is called for its effect": (
        '''
import functools


def counted(tell):
    """Tell the name of a function after each call, also of one that fails."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            finally:
                tell(function.__name__)

        return wrapper

    return decorate
''',
        """            try:
                return function(*args, **kwargs)
            finally:
                tell(function.__name__)
""",
        """            result = function(*args, **kwargs)
            tell(function.__name__)
            return result
""",
        "counted",
    ),
    "a limit of different records": (
        """
def newest(visits):
    last = {}
    for visit in visits:
        last[visit["guest"]] = visit["day"]
    ranked = sorted(last.items(), key=lambda pair: (-pair[1], pair[0]))
    return [guest for guest, _ in ranked[:15]]
""",
        "ranked[:15]", "ranked[:14]", "newest",
    ),
    "a limit of a text with a digit": (
        '''
def is_code(text: str) -> bool:
    """Whether it has at most 90 characters and a digit."""
    return len(text) <= 90 and any(each.isdigit() for each in text)
''',
        "len(text) <= 90", "len(text) < 90", "is_code",
    ),
    "a float within a loop that divides": (
        """
def ones(number: int) -> int:
    count = 0
    while number > 0:
        count += number % 2
        number //= 2
    return count
""",
        "number //= 2", "number = int(number / 2)", "ones",
    ),
    "recursion on two sorted lists": (
        '''
def joined(first, second):
    """Two sorted lists as one."""
    found, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        if first[i] <= second[j]:
            found.append(first[i])
            i += 1
        else:
            found.append(second[j])
            j += 1
    return found + first[i:] + second[j:]
''',
        """    found, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        if first[i] <= second[j]:
            found.append(first[i])
            i += 1
        else:
            found.append(second[j])
            j += 1
    return found + first[i:] + second[j:]
""",
        """    if not first or not second:
        return first + second
    if first[0] <= second[0]:
        return first[:1] + joined(first[1:], second)
    return second[:1] + joined(first, second[1:])
""",
        "joined",
    ),
    "a client of a class that is no longer closed": (
        """
class Sender:
    def __init__(self, client, retries):
        self.client, self.retries = client, retries

    def send(self, text):
        self.client.connect(self.retries)
        try:
            return self.client.post(text)
        finally:
            self.client.close()
""",
        """        try:
            return self.client.post(text)
        finally:
            self.client.close()
""",
        "        return self.client.post(text)\n", "Sender.send",
    ),
    "a property that asks a collaborator again": (
        """
from functools import cached_property


class Report:
    def __init__(self, load):
        self.load = load

    @cached_property
    def rows(self):
        return self.load("rows")
""",
        "@cached_property", "@property", "Report",
    ),
    "parts that a copy shares": (
        """
from copy import deepcopy


def renamed(form, name):
    new = deepcopy(form)
    new["name"] = name
    return new
""",
        "    new = deepcopy(form)\n    new[\"name\"] = name\n    return new\n", "    return {**form, 'name': name}\n",
        "renamed",
    ),
    "an order of keys that the docstring speaks of": (
        '''
def united(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Both; keys stand in the order of the first."""
    return {**first, **second}
''',
        "{**first, **second}", "{**second, **{key: each for key, each in first.items() if key not in second}}",
        "united",
    ),
}  # fmt: skip

RIGHT = {
    "digits alone, in a sentence that decides": (
        'def is_even(number: str) -> bool:\n    """Whether a text of digits is an even number."""\n'
        '    return number != "" and number[-1] in "02468"\n',
        'number != "" and number[-1] in "02468"', 'bool(number) and int(number) % 2 == 0', "is_even",
    ),
    "as many digits as the docstring says": (
        '''
def groups(number: str) -> str:
    """In groups of four; the number has a multiple of four digits."""
    found = ""
    for i, digit in enumerate(number):
        found += " " * (i > 0 and i % 4 == 0) + digit
    return found
''',
        """    found = ""
    for i, digit in enumerate(number):
        found += " " * (i > 0 and i % 4 == 0) + digit
    return found
""",
        "    return ' '.join(number[i : i + 4] for i in range(0, len(number) - 3, 4))\n", "groups",
    ),
    "lists that name keys": (
        '''
def users(needs: dict[str, list[str]]) -> dict[str, int]:
    """How many need each; everything needed is a key itself."""
    found = {name: 0 for name in needs}
    for wanted in needs.values():
        for name in wanted:
            found[name] = found.get(name, 0) + 1
    return found
''',
        "found.get(name, 0) + 1", "found[name] + 1", "users",
    ),
    "a bound in brackets": (
        '''
def parts(items: list[int], size: int) -> list[list[int]]:
    """Parts of `size` items (at least 1), in order."""
    found, current = [], []
    for item in items:
        current.append(item)
        if len(current) == size:
            found.append(current)
            current = []
    return [*found, current] if current else found
''',
        """    found, current = [], []
    for item in items:
        current.append(item)
        if len(current) == size:
            found.append(current)
            current = []
    return [*found, current] if current else found
""",
        "    return [items[i : i + size] for i in range(0, len(items), size)]\n", "parts",
    ),
    "a float for a whole number": (
        '''
def crates(amount):
    """How many crates of 24, 12 and 6 make an amount in bottles; the amount is never negative."""
    found = {}
    for size in (24, 12, 6):
        while amount >= size:
            found[size] = found.get(size, 0) + 1
            amount -= size
    return found
''',
        """        while amount >= size:
            found[size] = found.get(size, 0) + 1
            amount -= size
""",
        """        count, amount = divmod(amount, size)
        if count > 0:
            found[size] = count
""",
        "crates",
    ),
    "records of records that only the code describes": (
        """
def owned(houses):
    found = {}
    for house in houses:
        if house["state"] != "sold":
            continue
        owner = house["owner"]["id"]
        if owner in found:
            found[owner].append(house["id"])
        else:
            found[owner] = [house["id"]]
    return found
""",
        """        if house["state"] != "sold":
            continue
        owner = house["owner"]["id"]
        if owner in found:
            found[owner].append(house["id"])
        else:
            found[owner] = [house["id"]]
""",
        """        if house["state"] == "sold":
            found.setdefault(house["owner"]["id"], []).append(house["id"])
""",
        "owned",
    ),
    "a key that is needed where others are missing": (
        """
def reach(person):
    phone = person.get("phone")
    if phone:
        return phone
    room = person.get("room")
    if room:
        return room
    return person["mail"].split("@")[0]
""",
        """    phone = person.get("phone")
    if phone:
        return phone
    room = person.get("room")
    if room:
        return room
    return person["mail"].split("@")[0]
""",
        "    return person.get('phone') or person.get('room') or person['mail'].split('@')[0]\n", "reach",
    ),
    "a list that an item is taken out of": (
        '''
from operator import itemgetter


def take_first(queue):
    """Take the entry with the lowest rank; there is at least one."""
    best = queue[0]
    for entry in queue[1:]:
        if entry["rank"] < best["rank"]:
            best = entry
    queue.remove(best)
    return best
''',
        """    best = queue[0]
    for entry in queue[1:]:
        if entry["rank"] < best["rank"]:
            best = entry
""",
        "    best = min(queue, key=itemgetter('rank'))\n", "take_first",
    ),
    "numbers that are counts": (
        '''
def busiest(visits: dict[str, int]) -> str | None:
    """The page with the most visits, the first of several; None for no pages."""
    best, most = None, -1
    for page, count in visits.items():
        if count > most:
            best, most = page, count
    return best
''',
        """    best, most = None, -1
    for page, count in visits.items():
        if count > most:
            best, most = page, count
    return best
""",
        "    return max(visits, key=lambda page: visits[page], default=None)\n", "busiest",
    ),
    "months of a date": (
        """
def half(day):
    if day.month in (1, 2, 3, 4, 5, 6):
        number = 1
    else:
        number = 2
    return f"{day.year}/{number}"
""",
        """    if day.month in (1, 2, 3, 4, 5, 6):
        number = 1
    else:
        number = 2
    return f"{day.year}/{number}"
""",
        "    return f'{day.year}/{(day.month + 5) // 6}'\n", "half",
    ),
    "days that are added to": (
        """
from datetime import timedelta


def next_monday(day):
    following = day + timedelta(days=1)
    while following.weekday() != 0:
        following += timedelta(days=1)
    return following
""",
        """    following = day + timedelta(days=1)
    while following.weekday() != 0:
        following += timedelta(days=1)
    return following
""",
        "    return day + timedelta(days=7 - day.weekday())\n", "next_monday",
    ),
    "numbers beyond all floats": (
        '''
def grown(start: float, rate: float, years: int) -> float:
    """A sum after years, rounded to cents."""
    for _ in range(years):
        start = start + start * rate
    return round(start, 2)
''',
        """    for _ in range(years):
        start = start + start * rate
    return round(start, 2)
""",
        "    return round(start * (1 + rate) ** years, 2)\n", "grown",
    ),
    "a share that is compared with a limit": (
        """
def fee(days: int, amount: int) -> int:
    found = 0
    if days > 9:
        found = amount * 3 // 100
        if found < 250:
            found = 250
    return found
""",
        """    found = 0
    if days > 9:
        found = amount * 3 // 100
        if found < 250:
            found = 250
    return found
""",
        "    return max(250, amount * 3 // 100) if days > 9 else 0\n", "fee",
    ),
    "a size that is no guess": (
        """
class Window:
    def __init__(self, size):
        self.size = size
        self._values = []

    def add(self, value):
        self._values.append(value)
        if len(self._values) > self.size:
            self._values = self._values[1:]

    def last(self):
        return self._values[-1] if self._values else None
""",
        """        self._values = []

    def add(self, value):
        self._values.append(value)
        if len(self._values) > self.size:
            self._values = self._values[1:]
""",
        """        self._values = __import__("collections").deque(maxlen=size)

    def add(self, value):
        self._values.append(value)
""",
        "Window",
    ),
    "a class that is given a clock and a report": (
        """
class Watch:
    def __init__(self, clock, report):
        self.clock = clock
        self.report = report
        self.begun = None

    def start(self):
        self.begun = self.clock()
        return self

    def stop(self):
        if self.begun is None:
            return
        self.report(self.clock() - self.begun)
""",
        """        if self.begun is None:
            return
        self.report(self.clock() - self.begun)
""",
        """        if self.begun is not None:
            self.report(self.clock() - self.begun)
""",
        "Watch",
    ),
    "long lists, of which none is empty": (
        'def initials(names):\n    """The first letters of names, none of which is empty."""\n'
        "    return [name[:1] or '?' for name in names]\n",
        "name[:1] or '?'", "name[0]", "initials",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
async def test_a_wrong_rewrite_is_not_proven(make: MakeCase, kind: str) -> None:
    before, old, new, unit = WRONG[kind]
    assert old in before
    evidence = await judge(make(before, before.replace(old, new), unit))
    assert evidence.verdict is not Ruling.PASS, evidence
    is_asked = evidence.trusted or "shares objects differently" in evidence.detail
    assert evidence.verdict is Ruling.FAIL or is_asked, evidence


@pytest.mark.parametrize("kind", RIGHT)
async def test_a_right_rewrite_is_not_refuted(make: MakeCase, kind: str) -> None:
    before, old, new, unit = RIGHT[kind]
    assert old in before
    assert (evidence := await judge(make(before, before.replace(old, new), unit))).verdict is Ruling.PASS, evidence


INDEXED = """
export function indexed(rows) {
  const found = {};
  for (const row of rows) found[row.id] = row.name;
  return found;
}
"""
SPREAD = """
export function indexed(rows) {
  return rows.reduce((found, row) => ({ ...found, [row.id]: row.name }), {});
}
"""
LISTENERS = """
export class Bell {
  constructor() {
    this.listeners = [];
  }
  add(listener) {
    this.listeners.push(listener);
  }
  ring(value) {
    for (let i = 0; i < this.listeners.length; i++) this.listeners[i](value);
    return this.listeners.length;
  }
}
"""


@needs("node")
async def test_time_of_javascript_that_grows_faster_is_a_question(make: MakeCase) -> None:
    evidence = await judge(replace(make(INDEXED, SPREAD, "indexed"), language="javascript"))
    assert evidence.verdict is Ruling.UNKNOWN
    assert "its time grows faster with the size of its input" in evidence.detail


@needs("node")
async def test_what_an_engine_quotes_in_an_error_is_no_difference(make: MakeCase) -> None:
    after = LISTENERS.replace(
        "for (let i = 0; i < this.listeners.length; i++) this.listeners[i](value);",
        "for (const listener of this.listeners) listener(value);",
    )
    evidence = await judge(replace(make(LISTENERS, after, "Bell"), language="javascript"))
    assert evidence.verdict is Ruling.PASS, evidence


ALMOST_LATE = "raise type('it takes longer than 4 seconds', (Exception,), {})()\n"
ALMOST_LATE_SCRIPT = "throw Object.assign(new Error(), { name: 'it takes longer than 4 seconds' });\n"


async def test_code_that_fails_in_the_words_of_a_slow_start_is_refuted(make: MakeCase) -> None:
    before = "def f(x: int) -> int:\n    return x\n"
    evidence = await judge(make(before, before + ALMOST_LATE, "f"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "cannot load the new code" in evidence.detail


@needs("node")
async def test_a_script_that_fails_in_the_words_of_a_slow_start_is_refuted(make: MakeCase) -> None:
    before = "export function f(x) {\n  return x;\n}\n"
    evidence = await judge(replace(make(before, before + ALMOST_LATE_SCRIPT, "f"), language="javascript"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "cannot load the new code" in evidence.detail
