"""Differences that only long chains, late items and callbacks show."""

from __future__ import annotations

from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

LENGTH = """def f(node):
    count = 0
    while node is not None:
        count += 1
        node = node{part}
    return count
"""
IDS = "import itertools\n\n\ndef f(prefix: str):\n    return (prefix + str(n) for n in itertools.count(1))\n"
WALK = """def f(edges: dict[int, list[int]], start: int) -> list[int]:
    waiting, seen = [start], {start: None}
    while waiting:
        for other in edges.get(waiting.pop(), []):
            if other not in seen:
                seen[other] = None
                waiting.append(other)
    return list(seen)
"""
BITS = (
    "def f(number: int) -> int:\n    if number < 1:\n        raise ValueError(number)\n    return number.bit_length()\n"
)
LOOKUP = '''def f(settings, name, default=None):
    """
    >>> f({"a": 1}, "a")
    1
    """
    return settings[name] if name in settings else default
'''


async def test_recursion_along_a_chain_runs_out_of_depth(make: MakeCase) -> None:
    for part in ("[1]", ".next", "['next']"):
        after = f"def f(node):\n    return 0 if node is None else 1 + f(node{part})\n"
        found = await judge(make(LENGTH.format(part=part), after, "f"))
        assert found.verdict is Ruling.FAIL, found
        assert "RecursionError" in found.detail


async def test_iterators_are_compared_beyond_their_first_items(make: MakeCase) -> None:
    after = "def f(prefix: str):\n    return (prefix + str(n) for n in range(1, {last}))\n"
    assert (await judge(make(IDS, after.format(last=10_000), "f"))).verdict is Ruling.FAIL
    assert (await judge(make(IDS, IDS.replace("prefix + str(n)", "f'{prefix}{n}'"), "f"))).verdict is Ruling.PASS


async def test_the_links_of_a_graph_form_a_long_chain(make: MakeCase) -> None:
    after = WALK.replace("seen = [start], {start: None}", "seen = [start], [start]")
    after = after.replace("seen[other] = None", "seen.append(other)").replace("list(seen)", "seen")
    found = await judge(make(WALK, after, "f"))
    assert found.verdict is Ruling.UNKNOWN, found
    assert "grows faster" in found.detail


async def test_one_less_than_a_power_of_two_shows_rounding(make: MakeCase) -> None:
    after = "import math\n\n\n" + BITS.replace("number.bit_length()", "int(math.log2(number)) + 1")
    assert (await judge(make(BITS, after, "f"))).verdict is Ruling.FAIL


async def test_a_none_in_a_dictionary_is_no_missing_key(make: MakeCase) -> None:
    after = LOOKUP.replace("settings[name] if name in settings else default",
                           "default if settings.get(name) is None else settings.get(name)")  # fmt: skip
    assert (await judge(make(LOOKUP, after, "f"))).verdict is Ruling.FAIL
