"""Right rewrites that are not refuted, and their wrong neighbors that are."""

from __future__ import annotations

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

COUNTER = """class Counter:
    def __init__(self, start: int = 0) -> None:
        self._n = start

    def add(self, step: int) -> int:
        self._n += step
        return self._n

    def reset(self) -> None:
        self._n = 0
"""
TAKE = """def f(stock: dict[str, int], name: str) -> int:
    if name not in stock:
        raise LookupError(name)
    return stock[name]
"""
MORE = """class Missing({base}):
    pass


def f(stock: dict[str, int], name: str) -> int:
    if name not in stock:
        raise Missing(name)
    return stock[name]
"""
BOUNDED = '''def f(n: int) -> int:
    """The sum up to a number; n is between 0 and 50."""
    {body}
'''
SORTED = '''def f(array: list[int], query: int) -> int:
    """The index of a number in a sorted list without doubles, -1 if it is not there."""
    low, high = 0, len(array) - 1
    while low <= high:
        mid = (low + high) // 2
        if array[mid] == query:
            return mid
        if array[mid] < query:
            low = mid + 1
        else:
            high = mid - 1
    return -1
'''
COLORS = """COLORS = {"red": 1, "blue": 2}


def f(name: str) -> int:
    return COLORS[name]
"""
PAIRS = """def f(points):
    low = high = points[0][0]
    for x, y in points[1:]:
        low, high = min(low, x), max(high, x)
    return low, high
"""
MEAN = """def f(values, weights):
    total = 0
    for i in range(len(values)):
        total += values[i] * weights[i]
    return total
"""


async def verdict(make: MakeCase, before: str, after: str, unit: str = "f") -> Ruling:
    found = await judge(make(before, after, unit))
    return found.verdict


async def test_a_private_attribute_may_get_another_name(make: MakeCase) -> None:
    renamed = COUNTER.replace("_n", "_count")
    assert await verdict(make, COUNTER, renamed, "Counter.add") is Ruling.PASS
    wrong = renamed.replace("_count += step", "_count -= step")
    assert await verdict(make, COUNTER, wrong, "Counter.add") is Ruling.FAIL


@pytest.mark.parametrize(("base", "expected"), [("LookupError", Ruling.PASS), ("ValueError", Ruling.FAIL)])
async def test_a_subclass_of_an_error_is_caught_like_it(make: MakeCase, base: str, expected: Ruling) -> None:
    assert await verdict(make, TAKE, MORE.format(base=base)) is expected


async def test_stated_bounds_are_kept(make: MakeCase) -> None:
    before = BOUNDED.format(body="return sum(range(n + 1))")
    assert await verdict(make, before, BOUNDED.format(body="return n and n + f(n - 1)")) is Ruling.PASS
    assert await verdict(make, before, BOUNDED.format(body="return sum(range(min(n, 49) + 1))")) is Ruling.FAIL


async def test_a_list_that_has_to_be_sorted_is_sorted_where_it_is_long(make: MakeCase) -> None:
    after = SORTED[: SORTED.index("    low,")] + (
        "    from bisect import bisect_left\n"
        "    at = bisect_left(array, query)\n"
        "    return at if at < len(array) and array[at] == query else -1\n"
    )
    assert await verdict(make, SORTED, after) is Ruling.PASS
    assert await verdict(make, SORTED, after.replace("bisect_left", "bisect_right")) is Ruling.FAIL


async def test_keys_of_a_table_that_the_code_reads_are_tried(make: MakeCase) -> None:
    assert await verdict(make, COLORS, COLORS.replace("COLORS[name]", "COLORS.__getitem__(name)")) is Ruling.PASS
    assert await verdict(make, COLORS, COLORS.replace("COLORS[name]", "COLORS[name] + 1")) is Ruling.FAIL


async def test_kinds_that_the_code_only_happens_to_accept_prove_nothing(make: MakeCase) -> None:
    after = "def f(points):\n    xs, _ = zip(*points)\n    return min(xs), max(xs)\n"
    found = await judge(make(PAIRS, after, "f"))
    assert found.verdict in (Ruling.PASS, Ruling.UNKNOWN), found
    assert await verdict(make, PAIRS, after.replace("max(xs)", "max(xs) + 1")) is Ruling.FAIL


async def test_items_that_belong_together_come_in_equal_numbers(make: MakeCase) -> None:
    after = "def f(values, weights):\n    return sum(a * b for a, b in zip(values, weights))\n"
    assert await verdict(make, MEAN, after) is Ruling.PASS
    assert await verdict(make, MEAN, after.replace("a * b", "a + b")) is Ruling.FAIL


NEWER = '''def f(candidate: str, current: str) -> bool:
    """Whether a version is newer; both have two numbers, as 1.10."""
    new, old = candidate.split("."), current.split(".")
    if int(new[0]) != int(old[0]):
        return int(new[0]) > int(old[0])
    return int(new[1]) > int(old[1])
'''


async def test_a_text_without_the_expected_parts_is_no_input(make: MakeCase) -> None:
    parts = NEWER.partition("    if")[0] + "    return [*map(int, new)] > [*map(int, old)]\n"
    assert await verdict(make, NEWER, parts) is Ruling.PASS
    assert await verdict(make, NEWER, parts.replace(" > ", " >= ")) is Ruling.FAIL


MEMBERS = '''def f(connection):
    """The names of all members by team."""
    teams = {}
    cursor = connection.execute("SELECT team, name FROM members ORDER BY team, name")
    while (row := cursor.fetchone()) is not None:
        teams.setdefault(row[0], []).append(row[1])
    return teams
'''


async def test_code_that_reads_a_table_is_compared_on_real_databases(make: MakeCase) -> None:
    looped = (
        MEMBERS.partition("    cursor")[0]
        + """    for team, name in connection.execute("SELECT team, name FROM members ORDER BY team, name"):
        teams.setdefault(team, []).append(name)
    return teams
"""
    )
    assert await verdict(make, MEMBERS, looped) is Ruling.PASS
    assert await verdict(make, MEMBERS, looped.replace('team, name"', 'team"')) is Ruling.FAIL


async def test_what_differs_on_rare_letters_alone_is_asked_about(make: MakeCase) -> None:
    before = "def digits_of(text: str) -> str:\n    return ''.join(each for each in text if each.isdigit())\n"
    evidence = await judge(make(before, before.replace("each.isdigit()", "each in '0123456789'"), "digits_of"))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert evidence.trusted
    assert "only on rare letters and digits: `digits_of('" in evidence.detail
