"""The solver: it finds inputs that nothing else finds, and what it finds counts only if both texts were run on it."""

from __future__ import annotations

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.execution.python.inputs.known_calls.solver import is_installed, solved_calls
from stet_ls.engine.judges.differential.judge import judge

pytestmark = pytest.mark.skipif(not is_installed(), reason="not installed: crosshair-tool (extra `solver`)")

RARE = '''
def rate(weight: int, zone: int) -> int:
    """Cents for a parcel."""
    if weight * 7 + zone == 90_000 + 11 * zone:
        return 0
    return weight + zone
'''
PLAIN = RARE.replace("    if weight * 7 + zone == 90_000 + 11 * zone:\n        return 0\n", "")
UNTYPED = RARE.replace(": int", "").replace(" -> int", "")


async def test_an_input_that_only_the_solver_finds_refutes(make: MakeCase) -> None:
    evidence = await judge(make(RARE, PLAIN, "rate"))
    assert evidence.verdict is Ruling.FAIL, evidence
    assert "was: 0, now:" in evidence.detail


async def test_what_the_solver_finds_is_a_call_with_literals(make: MakeCase) -> None:
    runtime = make(RARE, PLAIN, "rate").runtime
    assert runtime is not None
    (call,) = await solved_calls(runtime, (RARE, PLAIN), "rate")
    space: dict[str, int] = {}
    exec(call.setup, space)
    assert space["weight"] * 7 + space["zone"] == 90_000 + 11 * space["zone"]
    assert (call.body, call.origin) == ("__out__(rate(weight, zone))", "solved")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (UNTYPED, UNTYPED.replace("return 0", "return 1")),
        (RARE, RARE),
        (RARE.replace("zone: int", "zone: Zone"), PLAIN),
    ],
    ids=["no hints", "no difference", "a foreign class"],
)
async def test_the_solver_finds_nothing_where_it_cannot(make: MakeCase, before: str, after: str) -> None:
    runtime = make(before, after, "rate").runtime
    assert runtime is not None
    assert await solved_calls(runtime, (before, after), "rate") == ()


async def test_that_the_solver_finds_no_difference_proves_nothing(make: MakeCase) -> None:
    same = RARE.replace("weight * 7 + zone == 90_000 + 11 * zone", "weight * 7 == 90_001 + 10 * zone")
    evidence = await judge(make(RARE.replace("90_000", "90_001"), same, "rate"))
    assert evidence.verdict is not Ruling.FAIL, evidence
    unsolvable = RARE.replace("weight * 7 + zone == 90_000 + 11 * zone", "pow(weight, 3, 1_000_003) == zone * zone + 7")
    other = unsolvable.replace("return 0", "return 1")
    assert (await judge(make(unsolvable, other, "rate"))).verdict is not Ruling.PASS
