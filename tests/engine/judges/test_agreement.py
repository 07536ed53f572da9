"""Samples that behave alike are one group however they are written; one that cannot be loaded is alone."""

from __future__ import annotations

from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.agreement import Agreement, group_by_behavior

STUB = "def f(xs: list[int]) -> int:\n    ...\n"
SAMPLES = (
    "def f(xs: list[int]) -> int:\n    return max(xs, default=0)\n",
    "def f(xs: list[int]) -> int:\n    return min(xs, default=0)\n",
    "def f(xs: list[int]) -> int:\n    return sorted(xs)[-1] if xs else 0\n",
    "import nowhere_at_all\n\n\ndef f(xs: list[int]) -> int:\n    return 0\n",
)


async def test_samples_are_grouped_by_behavior(make: MakeCase) -> None:
    found = await group_by_behavior([make(STUB, sample, "f", action="generate") for sample in SAMPLES])
    assert isinstance(found, Agreement), found
    assert found.groups == ((0, 2), (1,), (3,))
    assert found.evidence().verdict is Ruling.UNKNOWN
    assert "2 of 4 samples agree" in found.evidence().detail


async def test_equal_code_counts_as_one_sample(make: MakeCase) -> None:
    """However it is laid out and whatever its comments say."""
    again = "# the\n" + SAMPLES[0].replace("    return", '    """Largest."""\n    return')
    found = await group_by_behavior(
        [make(STUB, sample, "f", action="generate") for sample in (SAMPLES[0], again, again)]
    )
    assert isinstance(found, Agreement), found
    assert (found.groups, found.repeated) == (((0,),), 2)
    evidence = found.evidence()
    assert (evidence.verdict, evidence.detail) == (Ruling.SKIPPED, "3 samples are the same code and count once")
    texts = (again, SAMPLES[2], SAMPLES[0], SAMPLES[1])
    more = await group_by_behavior([make(STUB, sample, "f", action="generate") for sample in texts])
    assert isinstance(more, Agreement), more
    assert more.groups == ((0, 1), (3,))
    assert "2 of 3 samples agree" in more.evidence().detail
    assert "(without 1 of the same code)" in more.evidence().detail


def test_agreement_needs_two_thirds_and_more_than_one_sample() -> None:
    assert Agreement(((0, 2), (1,)), 60).evidence().verdict is Ruling.PASS
    assert Agreement(((0, 2), (1,)), 10).evidence().verdict is Ruling.UNKNOWN
    assert Agreement(((0,),), 60).evidence().verdict is Ruling.UNKNOWN


async def test_samples_that_fix_nothing_do_not_support_each_other(make: MakeCase) -> None:
    """They agree with the code that is to be fixed."""
    same = "def f(xs: list[int]) -> int:\n    return min([*xs, 0] if not xs else xs)\n"
    again = "def f(xs: list[int]) -> int:\n    if not xs:\n        return 0\n    return min(xs)\n"
    texts = (same, again, SAMPLES[0])
    found = await group_by_behavior([make(SAMPLES[1], text, "f", action="debug") for text in texts])
    assert isinstance(found, Agreement), found
    assert found.groups == ((0, 1), (2,))
    evidence = found.evidence()
    assert evidence.verdict is Ruling.UNKNOWN
    assert evidence.detail.endswith("but behave as before the change")


async def test_of_fixes_that_differ_the_one_that_changes_the_fewest_behaviors_comes_first(make: MakeCase) -> None:
    before = "def f(xs: list[int]) -> int:\n    return max(xs)\n"
    rewritten = "def f(xs: list[int]) -> int:\n    return sum(xs)\n"
    careful = "def f(xs: list[int]) -> int:\n    return max(xs) if xs else 0\n"
    found = await group_by_behavior([make(before, text, "f", action="debug") for text in (rewritten, careful)])
    assert isinstance(found, Agreement), found
    assert found.groups == ((1,), (0,))


async def test_results_that_differ_by_rounding_are_alike(make: MakeCase) -> None:
    stub = "def f(xs: list[float]) -> float:\n    ...\n"
    ways = ("sum(xs)", "sum(reversed(xs))", "sum(x / 10 for x in xs) * 10")
    texts = [stub.replace("...", f"return {way}") for way in ways]
    found = await group_by_behavior([make(stub, text, "f", action="generate") for text in texts])
    assert isinstance(found, Agreement), found
    assert len(found.groups[0]) >= 2, found
