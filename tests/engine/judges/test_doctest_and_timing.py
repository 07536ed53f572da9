"""Examples are the user's word; a gain in speed is measured or not claimed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase, in_each_box
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.judges import doctest, timing

TEXT = '''
def half(n):
    """Half of it.

    >>> half(4)
    2.0
    >>> for n in (2, 6):
    ...     print(half(n))
    1.0
    3.0
    >>> half("a")
    Traceback (most recent call last):
    TypeError: unsupported operand
    """
    return n / 2
'''


@in_each_box
async def test_examples_with_the_expected_output_pass(make: MakeCase) -> None:
    same = await doctest.judge(make(TEXT, TEXT.replace("n / 2", "n / 2.0"), "half"))
    assert (same.verdict, same.trusted, same.detail) == (Ruling.PASS, True, "3 doctests pass")


MEDIAN = '''

def median(xs):
    """The middle.

    >>> median([3, 1, 2])
    2
    """
    return sorted(xs)[len(xs) // 2]
'''


@pytest.mark.parametrize(
    ("code", "verdict"),
    [(MEDIAN, Ruling.PASS), (MEDIAN.replace("sorted(xs)[len(xs) // 2]", "7"), Ruling.FAIL)],
    ids=["right", "constant"],
)
async def test_examples_of_inserted_code_are_run(make: MakeCase, code: str, verdict: Ruling) -> None:
    """They came with the code: they refute it, and prove little."""
    evidence = await doctest.judge(make(TEXT, TEXT + code, "", action="generate"))
    assert evidence.verdict is verdict, evidence
    if verdict is Ruling.PASS:
        assert (evidence.trusted, evidence.detail) == (False, "1 doctest in the code passes")
    else:
        assert (evidence.trusted, evidence.detail) == (
            True, "`median([3, 1, 2])` should return 2, returns 7 (1 of 1 doctest fails)"
        )  # fmt: skip


DAYS = '''
import datetime


class Fixed(datetime.date):
    pass


def days(n):
    """Some kinds of them.

    >>> days(1)
    [datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 1, 0, 0), Fixed(2024, 2, 1)]
    >>> datetime.datetime(2024, 2, 1).date()
    datetime.date(2024, 2, 1)
    """
    return [kind(2024, 2, n) for kind in (datetime.date, datetime.datetime, Fixed)]
'''


async def test_dates_are_shown_as_python_shows_them(make: MakeCase) -> None:
    """The clock stands still in the box, for which their classes are exchanged."""
    reported = await doctest.judge(make(DAYS, DAYS.replace("2, n)", "2, 0 + n)"), "days", action="refactor"))
    assert (reported.verdict, reported.detail) == (Ruling.PASS, "2 doctests pass")


async def test_examples_prove_only_the_code_that_they_run(make: MakeCase) -> None:
    """Those of the changed function, next to a new one that no one calls, or a branch of it."""
    changed = TEXT.replace("n / 2", "n / 2.0")
    neighbor = await doctest.judge(make(TEXT, changed + "\n\ndef lost(n):\n    return 7\n", "half"))
    assert (neighbor.verdict, neighbor.trusted) == (Ruling.UNKNOWN, False)
    assert neighbor.detail == "3 doctests pass, but none of them executes `lost`"
    branch = await doctest.judge(
        make(TEXT, TEXT.replace("    return n", "    if n == 9:\n        n += 0\n    return n"), "half")
    )
    assert branch.verdict is Ruling.PASS, branch
    silent = TEXT.replace("    return n", "    if n is None:\n        return 7\n    return n")
    inner = await doctest.judge(make(silent, silent.replace("return 7", "return 8"), "half"))
    assert (inner.verdict, inner.detail) == (Ruling.UNKNOWN, "3 doctests pass, but none of them executes `half`")


async def test_a_helper_that_the_examples_reach_is_run(make: MakeCase) -> None:
    after = TEXT.replace("n / 2", "_over(n, 2)") + "\n\ndef _over(a, b):\n    return a / b\n"
    evidence = await doctest.judge(make(TEXT, after, "half"))
    assert (evidence.verdict, evidence.detail, evidence.trusted) == (Ruling.PASS, "3 doctests pass", True)


@in_each_box
async def test_an_example_with_wrong_output_refutes(make: MakeCase) -> None:
    evidence = await doctest.judge(make(TEXT, TEXT.replace("n / 2", "n // 2"), "half"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True)
    assert "`half(4)` should return 2.0, returns" in evidence.detail


async def test_a_candidate_cannot_change_the_examples(make: MakeCase) -> None:
    after = TEXT.replace("n / 2", "n // 2").replace("2.0", "2")
    assert (await doctest.judge(make(TEXT, after, "half"))).verdict is Ruling.FAIL


async def test_an_example_that_failed_before_blocks_a_fix_but_not_a_refactoring(make: MakeCase) -> None:
    wrong = TEXT.replace("n / 2", "n // 2")
    assert (await doctest.judge(make(wrong, wrong, "half"))).verdict is Ruling.UNKNOWN
    assert (await doctest.judge(make(wrong, wrong, "half", action="debug"))).verdict is Ruling.FAIL
    assert (await doctest.judge(make(wrong, TEXT, "half", action="debug"))).verdict is Ruling.PASS


async def test_without_examples_nothing_is_run(make: MakeCase) -> None:
    text = "def f(n):\n    return n\n"
    assert (await doctest.judge(make(text, text, "f"))).verdict is Ruling.SKIPPED


SLOW = "def common(a: list[int], b: list[int]) -> list[int]:\n    return [x for x in a if x in b]\n"
FAST = SLOW.replace(
    "    return [x for x in a if x in b]", "    known = set(b)\n    return [x for x in a if x in known]"
)


async def test_a_faster_and_a_slower_algorithm_are_measured(make: MakeCase) -> None:
    faster = await timing.judge(make(SLOW, FAST, "common", action="optimize"))
    slower = await timing.judge(make(FAST, SLOW, "common", action="optimize"))
    assert faster.verdict is Ruling.PASS, faster
    assert slower.verdict is Ruling.FAIL, slower


COSTLY = """
def work(n: int) -> int:
    return sum(i * i for i in range(100 + n % 7))


def total(ns: list[int]) -> int:
    return sum(work(n % 5) for n in dict.fromkeys(ns))
"""
HELPER_REMEMBERS = "import functools\n" + COSTLY.replace("def work", "@functools.lru_cache(maxsize=None)\ndef work")


async def test_a_cache_filled_by_earlier_calls_is_not_a_speedup(make: MakeCase) -> None:
    """Inputs that share values would make a helper that remembers look fast."""
    once = COSTLY.replace("n % 5", "n")
    evidence = await timing.judge(make(once, HELPER_REMEMBERS.replace("n % 5", "n"), "total", action="optimize"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, True), evidence
    assert "faster on repeated calls only" in evidence.detail
    assert "when repeated" in evidence.detail


FIB = "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\n"
LARGE = 'def large(n: int) -> int:\n    """One of some size.\n\n    >>> large(3)\n    610\n    """\n'
LARGE += "    return fib(12 + abs(n) % 4)\n"


@pytest.mark.parametrize(
    ("before", "after", "unit"),
    [
        (FIB + LARGE, "import functools\n\n\n@functools.cache\n" + FIB + LARGE, "large"),
        (COSTLY, HELPER_REMEMBERS, "total"),
        (SLOW.replace("def ", "async def "), FAST.replace("def ", "async def "), "common"),
    ],
    ids=["a recursion's own results", "a helper's results within a call", "a coroutine"],
)
async def test_a_cache_within_one_call_counts_as_a_speedup(make: MakeCase, before: str, after: str, unit: str) -> None:
    evidence = await timing.judge(make(before, after, unit, action="optimize"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence


EAGER = """
from collections.abc import Iterator


def parts(n: int) -> tuple[str, Iterator[int]]:
    return "parts", iter([sum(range(i % 9 + 300)) for i in range(abs(n) % 50 + 50)])
"""
LAZY = EAGER.replace("iter([", "(").replace("50)])", "50))")


async def test_deferred_work_is_measured(make: MakeCase) -> None:
    evidence = await timing.judge(make(EAGER, LAZY, "parts", action="optimize"))
    assert evidence.verdict is Ruling.FAIL, evidence


async def test_a_module_that_takes_long_to_load_is_measured_on_fewer_inputs(make: MakeCase) -> None:
    heavy = "KNOWN = sum(i * i for i in range(2_000_000))\n\n\n"
    evidence = await timing.judge(make(heavy + SLOW, heavy + FAST, "common", action="optimize"))
    assert evidence.verdict is Ruling.PASS, evidence
    assert 0 < evidence.count < 40


ONLY_ONCE = "import codecs\n\nassert not hasattr(codecs, 'mine')\ncodecs.mine = True\n\n\n"


async def test_a_module_that_is_loaded_once_only_is_measured_on_one_input(make: MakeCase) -> None:
    before = ONLY_ONCE + "def f(n: int) -> int:\n    return sum([each + n for each in range(30_000)])\n"
    after = ONLY_ONCE + "def f(n: int) -> int:\n    return 30_000 * n + 449_985_000\n"
    evidence = await timing.judge(make(before, after, "f", action="optimize"))
    assert evidence.verdict is Ruling.PASS, evidence
    assert evidence.count == 1


WITH_OTHERS = """
import sys

_KNOWN = sys.__dict__.setdefault("_known", {})


def f(n: int) -> int:
    if n not in _KNOWN:
        _KNOWN[n] = sum(each % 7 for each in range(3_000 + abs(n) % 100))
    return _KNOWN[n]
"""


async def test_a_cache_outside_the_module_is_not_a_speedup(make: MakeCase) -> None:
    """What is called to begin warm is not called again before the clock."""
    before = WITH_OTHERS.replace("if n not in _KNOWN", "if True")
    evidence = await timing.judge(make(before, WITH_OTHERS, "f", action="optimize"))
    assert evidence.verdict is not Ruling.PASS, evidence


@pytest.mark.parametrize(("lead", "warm"), [("", True), (ONLY_ONCE, False)], ids=["loaded twice", "loaded once only"])
async def test_a_first_call_is_warmed_up_by_a_copy_where_possible(make: MakeCase, lead: str, warm: bool) -> None:
    text = lead + "def f(n: int) -> int:\n    return sum(range(n))\n"
    case = make(text, text, "f")
    assert case.runtime is not None
    calls = tuple(Call(f"n = {n}", "__out__(f(n))", ("n",)) for n in (8, 9))
    trial = HarnessRun((text, text), calls, "f", Path("/box/a.py"), "a", rounds=2)
    report = await run(case.runtime, trial)
    assert isinstance(report, HarnessReport)
    assert report.warm is warm


@pytest.mark.parametrize(("again", "verdict"), [(1.0, Ruling.UNKNOWN), (1.3, Ruling.PASS), (None, Ruling.UNKNOWN)])
def test_a_cold_speedup_must_hold_for_a_repeated_call(again: float | None, verdict: Ruling) -> None:
    def gained(times: float) -> timing.Speedup:
        return timing.speedup([(times, 1.0)] * 9)

    found = replace(gained(1.3), warm=False, again=gained(again) if again else None)
    assert timing.evidence_of(found).verdict is verdict
    assert timing.evidence_of(replace(found, warm=True)).verdict is Ruling.PASS


KEPT = """
class Box:
    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def work(self, n: int) -> int:
        return sum(i * i for i in range(2_000 + n % 3))
"""
REMEMBERED = KEPT.replace(
    "return sum(i * i for i in range(2_000 + n % 3))",
    "if n not in self.known:\n            self.known[n] = sum(i * i for i in range(2_000 + n % 3))\n"
    "        return self.known[n]",
)


async def test_a_cache_in_an_object_is_not_a_speedup(make: MakeCase) -> None:
    evidence = await timing.judge(make(KEPT, REMEMBERED, "Box", action="optimize"))
    assert evidence.verdict is not Ruling.PASS, evidence


def test_noise_is_not_a_speedup() -> None:
    rounds = [1.0, 1.02, 0.99, 1.01, 1.03, 1.0, 0.98, 1.02]
    found = timing.speedup([*zip(rounds, rounds[::-1], strict=True)])
    assert found.low <= 1.0 <= found.high
    assert timing.speedup([(2 * each, each) for each in rounds]).low > timing.WORTH


SCRIPT = '/**\n * half(4) => 2\n * half("a") throws TypeError\n */\nexport function half(n) {\n'
SCRIPT += '  if (typeof n !== "number") throw new TypeError("no number");\n  return n / 2;\n}\n'


@needs("node")
@pytest.mark.parametrize(
    ("old", "new", "verdict", "detail"),
    [
        ("n / 2", "0.5 * n", Ruling.PASS, "2 examples pass"),
        ("n / 2", "n * 2", Ruling.FAIL, "`half(4)` should return 2, returns 8 (1 of 2 examples fails)"),
        ("TypeError(", "RangeError(", Ruling.FAIL, '`half("a")` should throw TypeError, raises RangeError'),
    ],
)
async def test_examples_in_a_doc_comment_are_run(
    make: MakeCase, old: str, new: str, verdict: Ruling, detail: str
) -> None:
    case = replace(make(SCRIPT, SCRIPT.replace(old, new), "half"), language="javascript")
    evidence = await doctest.judge(case)
    assert (evidence.verdict, evidence.trusted) == (verdict, True), evidence
    assert evidence.detail.startswith(detail)


@needs("node")
async def test_examples_that_do_not_run_the_change_prove_nothing(make: MakeCase) -> None:
    text = "/** sign(3) => 1 */\nexport function sign(n) {\n  if (n < 0) return -1;\n  return 1;\n}\n"
    case = replace(make(text, text.replace("return -1", "return -2"), "sign"), language="javascript")
    evidence = await doctest.judge(case)
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False), evidence
