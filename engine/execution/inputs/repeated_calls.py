"""Calls that are made twice: only that shows a shared mutable result, or a second answer that differs."""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call

REPEATED, AHEAD = 30, 120
"""The number of repeated calls, and of other calls that precede them."""
_ONE_RESULT = re.compile(r"__out__\((.*)\);?")


def with_repeats(calls: tuple[Call, ...], in_between: str) -> tuple[Call, ...]:
    """The calls, and some of them again, made twice. `in_between` is code that runs between the two: it makes the call,
    {0}, and empties its return value.
    """
    asked = [(call, _ONE_RESULT.fullmatch(call.body)) for call in calls[:REPEATED]]
    again = [
        replace(call, body=in_between.format(one[1]) + call.body, again=True) for call, one in asked if one is not None
    ]
    return (*calls[:AHEAD], *again, *calls[AHEAD:])
