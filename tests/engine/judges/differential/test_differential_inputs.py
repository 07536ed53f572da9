"""What old and new are compared on: sizes, exact numbers, keywords, long chains, late items, no excluded inputs."""

from __future__ import annotations

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

LOGS = """import logging
import sys
import warnings

log = logging.getLogger("rows")


def f(n: int) -> int:
    if n > 3:
        {said}
    return min(n, 3)
"""
SAID = (
    'log.warning("%d is cut", n)',
    "log.exception(n)",
    "warnings.warn(str(n), stacklevel=2)",
    'print("cut", file=sys.stderr)',
)
STATE = """_seen = {}


def f(name: str) -> str:
    _seen[name] = _seen.get(name, 0) + 1
    return name


def often(name: str) -> int:
    return _seen.get(name, 0)
"""
TYPED_DICT = """from typing import NotRequired, TypedDict


class Person(TypedDict):
    name: str
    age: NotRequired[int]


def f(person: Person) -> str:
    return f"{person['name']} {person.get('age', 0)}"
"""


@pytest.mark.parametrize("said", SAID)
async def test_logging_warnings_and_stderr_are_compared(make: MakeCase, said: str) -> None:
    before = LOGS.format(said=said)
    gone = await judge(make(before, LOGS.format(said="pass"), "f"))
    assert gone.verdict is Ruling.FAIL, gone
    same = await judge(make(before, before.replace("min(n, 3)", "3 if n > 3 else n"), "f"))
    assert same.verdict is Ruling.PASS, same


async def test_private_state_is_compared_if_another_function_reads_it(make: MakeCase) -> None:
    after = STATE.replace("    _seen[name] = _seen.get(name, 0) + 1\n", "")
    assert (await judge(make(STATE, after, "f"))).verdict is Ruling.FAIL
    alone = STATE.partition("\n\n\ndef often")[0] + "\n"
    own = await judge(make(alone, after.partition("\n\n\ndef often")[0] + "\n", "f"))
    assert own.verdict is Ruling.PASS, "nothing else sees it"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(rows: list[int]):\n    return rows[:500]\n", "def f(rows: list[int]):\n    return rows[:499]\n"),
        (
            "def f(xs: list[int]) -> int:\n    n = 0\n    for x in xs:\n        n += x\n    return n\n",
            "def f(xs: list[int]) -> int:\n    return xs[0] + f(xs[1:]) if xs else 0\n",
        ),
        ("def f(n: int) -> int:\n    return n // 2\n", "def f(n: int) -> int:\n    return int(n / 2)\n"),
        (
            "def f(up: dict[int, int], n: int) -> int:\n    while n in up:\n        n = up[n]\n    return n\n",
            "def f(up: dict[int, int], n: int) -> int:\n    return f(up, up[n]) if n in up else n\n",
        ),
        (
            "def f(**named: str) -> str:\n    return ','.join(named)\n",
            "def f(**named: str) -> str:\n    return ','.join(sorted(named))\n",
        ),
        (TYPED_DICT, TYPED_DICT.replace("person.get('age', 0)", "person.get('age') or 1")),
    ],
    ids=["size", "depth", "beyond 2**53", "chain", "keywords", "typed dict"],
)
async def test_an_input_that_reveals_the_difference_is_tried(make: MakeCase, before: str, after: str) -> None:
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is Ruling.FAIL, evidence


FIRST = (
    "def f(xs: list[int]) -> int:\n    best = xs[0]\n    for x in xs:\n        best = max(x, best)\n    return best\n"
)


async def test_a_different_accidental_error_is_not_a_difference(make: MakeCase) -> None:
    evidence = await judge(make(FIRST, "def f(xs: list[int]) -> int:\n    return max(xs)\n", "f"))
    assert evidence.verdict is Ruling.PASS, evidence
    assert "which error is raised" in evidence.detail
    promised = FIRST.replace("    best = xs", '    """Raises IndexError where there is none."""\n    best = xs', 1)
    broken = await judge(make(promised, promised.replace("best = xs[0]", "best = max(xs)"), "f"))
    assert broken.verdict is Ruling.FAIL, "the docstring promises it"


async def test_inputs_that_the_docstring_excludes_are_not_tried(make: MakeCase) -> None:
    before = '''def f(n: int) -> int:
    """The factorial of a number that is {}."""
    found = 1
    for each in range(2, n + 1):
        found *= each
    return found
'''
    after = 'import math\n\n\ndef f(n: int) -> int:\n    """The factorial of a number that is {}."""\n'
    after += "    return math.factorial(n)\n"
    excluded = await judge(make(before.format("not negative"), after.format("not negative"), "f"))
    assert excluded.verdict is Ruling.PASS, excluded
    meant = await judge(make(before.format("whole"), after.format("whole"), "f"))
    assert meant.verdict is Ruling.FAIL, meant


async def test_a_difference_only_on_unusual_kinds_does_not_refute(make: MakeCase) -> None:
    before = "def f(values):\n    found = []\n    for i in range(len(values)):\n        found.append(values[i] * 2)\n"
    before += "    return found\n"
    after = "def f(values):\n    return [each * 2 for each in values]\n"
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is Ruling.PASS, evidence
    assert evidence.detail.endswith("except for inputs of kinds that the old code fails on"), (
        "a dictionary failed before"
    )
    wrong = await judge(make(before, after.replace("in values", "in values[1:]"), "f"))
    assert wrong.verdict is Ruling.FAIL, wrong


async def test_not_a_number_is_an_input_if_the_code_mentions_it(make: MakeCase) -> None:
    before = "def f(x: float) -> float:\n    if x < 0:\n        return 0.0\n    return x\n"
    after = "def f(x: float) -> float:\n    return max(0.0, x)\n"
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is Ruling.PASS, evidence
    from_user = before.replace("    if", "    # NaN stays\n    if")
    assert (await judge(make(from_user, after, "f"))).verdict is Ruling.FAIL


@pytest.mark.parametrize(
    ("head", "decides", "lie"),
    [
        ('f(a: str, b: str) -> bool:\n    """Whether both have the same length."""', "len(a) == len(b)", "True"),
        ('f(xs: list[int]) -> bool:\n    """Whether it is a sorted list."""', "sorted(xs) == xs", "True"),
        ('f(m: list[list[int]]) -> bool:\n    """A square matrix?"""', "all(len(r) == len(m) for r in m)", "True"),
        ('f(xs: list[int]) -> list:\n    """Returns the non-negative values."""', "[x for x in xs if x >= 0]", "xs[:]"),
        ("f(x: float) -> bool:", "x != x", "False"),
    ],
)  # fmt: skip
async def test_what_the_code_decides_is_no_condition_on_its_inputs(
    make: MakeCase, head: str, decides: str, lie: str
) -> None:
    evidence = await judge(make(f"def {head}\n    return {decides}\n", f"def {head}\n    return {lie}\n", "f"))
    assert evidence.verdict is Ruling.FAIL, evidence


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
