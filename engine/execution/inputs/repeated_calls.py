"""Calls that are made twice: a value that everybody is given shows in no single call, nor does a second answer."""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call

_REPEATED, AHEAD = 30, 120
"""So many calls are repeated, behind so many that are not."""
_ONE_RESULT = re.compile(r"__out__\((.*)\);?")


def with_repeats(calls: tuple[Call, ...], spoil: str) -> tuple[Call, ...]:
    """The calls and some of them again, made twice. `spoil` is what the caller does in between: it makes the call, {0},
    and empties what that returned.
    """
    asked = [(call, _ONE_RESULT.fullmatch(call.body)) for call in calls[:_REPEATED]]
    again = [replace(call, body=spoil.format(one[1]) + call.body, again=True) for call, one in asked if one is not None]
    return (*calls[:AHEAD], *again, *calls[AHEAD:])
