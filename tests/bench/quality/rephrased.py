"""500 tasks made of parts, the same tasks in other words, and a solution for each. None of it is picked by hand."""

from __future__ import annotations

import itertools

from stet_ls.engine.memory.solution import Solution

PAIRS = 500

_VERBS = {
    "parse": "read", "sort": "order", "count": "tally", "merge": "combine", "validate": "check", "remove": "delete",
    "convert": "turn", "find": "locate", "group": "cluster", "format": "render",
}  # fmt: skip
THINGS = (
    "the dates of a log file", "the rows of a csv table", "duplicate email addresses", "nested json objects",
    "the words of a sentence", "prime numbers", "the nodes of a binary tree", "file paths", "roman numerals",
    "the edges of a graph", "ip addresses", "phone numbers", "matrix columns", "html tags", "time zones", "user names",
    "bank transactions", "colour values", "polygon corners", "the commits of a repository", "temperatures",
    "query parameters", "unicode strings", "command line options", "calendar events",
)  # fmt: skip
_WAYS = (
    "by their length", "without changing the input", "ignoring case", "in reverse order", "and skip empty ones",
    "one line at a time", "from standard input", "in parallel", "with a progress bar", "and report the first error",
    "in constant memory", "for a given year", "as a generator", "until a limit is reached", "from several files",
    "with a cache", "for unit tests", "over the network", "in a database", "on the command line",
)  # fmt: skip


def instructions() -> list[str]:
    """500 different tasks: every verb with every thing, in two ways. Each has nine twins with another verb."""
    made = [f"{verb} {thing} {way}".capitalize() for verb, thing, way in itertools.product(_VERBS, THINGS, _WAYS[:2])]
    return made[:PAIRS]


def distinct_tasks() -> list[str]:
    """500 tasks, no two of which differ by their verb alone: every thing in every way, the verbs by turns."""
    pairs = itertools.product(THINGS, _WAYS)
    return [f"{verb} {thing} {way}".capitalize() for verb, (thing, way) in zip(itertools.cycle(_VERBS), pairs)][:PAIRS]


def rephrased(text: str, number: int) -> str:
    """Other words for the verb, another order, a wish for a command: one of four rules by turns."""
    verb, rest = text.lower().split(" ", 1)
    way = next(way for way in _WAYS if rest.endswith(way))
    thing = rest.removesuffix(way).strip()
    other = _VERBS[verb]
    return (
        f"i need a function that can {other} {thing} {way}",
        f"{way}, {other} {thing}",
        f"please {verb} all {thing.removeprefix('the ')} {way}",
        f"how do i {other} {thing}, {way}?",
    )[number % 4]


def solution(text: str, number: int) -> Solution:
    body = "\n".join(f"    step_{line} = items[{line}] + {number}" for line in range(16))
    return Solution(text, f"def task_{number}(items):\n{body}\n    return step_0", "python")
