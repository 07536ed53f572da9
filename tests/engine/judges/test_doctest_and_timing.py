"""Examples are the user's word; a gain in speed is measured or not claimed."""

from __future__ import annotations

from support.judging import MakeCase

from stet_ls.engine.judges import doctest, timing
from stet_ls.engine.models import Ruling

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


async def test_examples_that_come_out_pass(make: MakeCase) -> None:
    same = await doctest.judge(make(TEXT, TEXT, "half"))
    assert (same.verdict, same.trusted, same.detail) == (Ruling.PASS, True, "3 doctests pass")


async def test_an_example_that_comes_out_wrong_refutes(make: MakeCase) -> None:
    evidence = await doctest.judge(make(TEXT, TEXT.replace("n / 2", "n // 2"), "half"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True)
    assert "`half(4)` should give 2.0, gives" in evidence.detail


async def test_a_candidate_cannot_change_the_examples(make: MakeCase) -> None:
    after = TEXT.replace("n / 2", "n // 2").replace("2.0", "2")
    assert (await doctest.judge(make(TEXT, after, "half"))).verdict is Ruling.FAIL


async def test_what_failed_before_blocks_no_refactoring_but_is_to_be_mended_by_a_fix(make: MakeCase) -> None:
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


async def test_a_better_algorithm_is_measured_and_a_worse_one_too(make: MakeCase) -> None:
    faster = await timing.judge(make(SLOW, FAST, "common", action="optimize"))
    slower = await timing.judge(make(FAST, SLOW, "common", action="optimize"))
    assert faster.verdict is Ruling.PASS, faster
    assert slower.verdict is Ruling.FAIL, slower


def test_noise_is_no_gain() -> None:
    rounds = [1.0, 1.02, 0.99, 1.01, 1.03, 1.0, 0.98, 1.02]
    found = timing.gain(rounds, rounds[::-1])
    assert found.low <= 1.0 <= found.high
    assert timing.gain([2 * each for each in rounds], rounds).low > timing.WORTH
