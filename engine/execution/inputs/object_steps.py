"""The calls on an object in one input, each caught on its own: leaves some of them out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call

_STEP = re.compile(
    r"^try: __out__\(.*\)\nexcept Exception as error: __out__\(error\)(?:\n|\Z)"
    r"|^try \{ __out__\(.*\) \} catch \(error\) \{ __out__\(error\) \}(?:\n|\Z)",
    re.MULTILINE,
)
"""A caught step as `calls.py` of each language writes it: it gives one result."""


def without_steps(call: Call, left_out: Collection[int]) -> Call:
    """The call without the steps of those numbers; the same call if its body has no such steps."""
    numbers = itertools.count()
    body = _STEP.sub(lambda step: "" if next(numbers) in left_out else step[0], call.body)
    return replace(call, body=body.rstrip("\n"))
