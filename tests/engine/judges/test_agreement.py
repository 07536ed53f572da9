"""Samples that behave alike are one group however they are written; one that cannot be loaded is alone."""

from __future__ import annotations

from support.judging import MakeCase

from stet_ls.engine.judges.agreement import Agreement, agreement
from stet_ls.engine.models import Ruling

STUB = "def f(xs: list[int]) -> int:\n    ...\n"
SAMPLES = (
    "def f(xs: list[int]) -> int:\n    return max(xs, default=0)\n",
    "def f(xs: list[int]) -> int:\n    return min(xs, default=0)\n",
    "def f(xs: list[int]) -> int:\n    return sorted(xs)[-1] if xs else 0\n",
    "import nowhere_at_all\n\n\ndef f(xs: list[int]) -> int:\n    return 0\n",
)


async def test_samples_are_grouped_by_what_they_do(make: MakeCase) -> None:
    found = await agreement([make(STUB, sample, "f", action="generate") for sample in SAMPLES])
    assert isinstance(found, Agreement), found
    assert found.groups == ((0, 2), (1,), (3,))
    assert found.evidence().verdict is Ruling.UNKNOWN
    assert "2 of 4 samples agree" in found.evidence().detail


def test_two_thirds_are_enough_and_one_alone_never_is() -> None:
    assert Agreement(((0, 2), (1,)), 60).evidence().verdict is Ruling.PASS
    assert Agreement(((0, 2), (1,)), 10).evidence().verdict is Ruling.UNKNOWN
    assert Agreement(((0,),), 60).evidence().verdict is Ruling.UNKNOWN
