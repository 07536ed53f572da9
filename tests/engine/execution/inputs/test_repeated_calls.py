"""Calls that are made twice, with what the first one returned spoiled in between."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.repeated_calls import AHEAD, with_repeats


def test_calls_with_one_result_are_made_twice_after_the_first_ones() -> None:
    calls = tuple(Call(f"n = {number}", "__out__(f(n))", ("n",)) for number in range(AHEAD + 10))
    found = with_repeats(calls, "spoil({0})\n")
    again = [call for call in found if call.again]
    assert [call for call in found if not call.again] == list(calls)
    assert {call.body for call in again} == {"spoil(f(n))\n__out__(f(n))"}
    assert found[:AHEAD] == calls[:AHEAD]
    assert found[AHEAD].again


def test_a_call_of_several_results_is_not_repeated() -> None:
    calls = (Call("", "x = f()\n__out__(x)\n__out__(x)"),)
    assert with_repeats(calls, "spoil({0})\n") == calls
