"""Guessed steps on an object that fail, because they are not meant for it: which error it is there does not count."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from stet_ls.engine.execution.harness_run import ACCIDENTS, Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import UNSURE

_WRONG_KIND = re.compile(r"(TypeError|AttributeError)\(")
"""The result of a step that failed so."""
_UNHASHABLE = 'TypeError("unhashable type'
"""That of a key of a wrong kind, which code that searches a list takes."""
_ERROR = re.compile(r"(\w+)\(")


def accidental_steps(call: Call, old: CallOutcome, new: CallOutcome, promised: Collection[str]) -> tuple[int, ...]:
    """The guessed steps on an object that failed on a wrong kind, if the versions differ after one.

    What is left undone there, and which error it is, does not count, unless the code names the error; so the call is
    made again without these steps.
    """
    wrong = tuple(
        n for n, each in enumerate(old.results)
        if ((met := _WRONG_KIND.match(each)) and met[1] not in promised)
        or (n < len(new.results) and new.results[n].startswith(_UNHASHABLE))
    )  # fmt: skip
    if not wrong or call.origin not in UNSURE or old.kind != new.kind:
        return ()
    differs = len(new.results) > wrong[0] and old.digest != new.digest
    return wrong if differs and old.results[: wrong[0]] == new.results[: wrong[0]] else ()


def with_equal_accidents(call: Call, old: CallOutcome, new: CallOutcome, promised: Collection[str]) -> CallOutcome:
    """The new outcome, where both versions fail at a guessed step, each in an operation of another kind (an index or a
    key that is not there), with the old error there: which of them it is does not count, all other results do.
    """
    if call.origin not in UNSURE or old.digest == new.digest or len(old.results) != len(new.results):
        return new
    results = tuple(
        one if _are_accidents(one, other, promised) else other
        for one, other in zip(old.results, new.results, strict=True)
    )
    if results == new.results:
        return new
    same = replace(new, results=results, digest=old.digest)
    is_alike = (old.kind, old.results, old.variables, old.printed, old.aliases) == (
        same.kind, same.results, same.variables, same.printed, same.aliases,
    )  # fmt: skip
    return same if is_alike else new


def _are_accidents(old: str, new: str, promised: Collection[str]) -> bool:
    """Whether two results are errors of operations on values that the code is not meant for."""
    found = [_ERROR.match(each) for each in (old, new)]
    return all(each is not None and each[1] in ACCIDENTS and each[1] not in promised for each in found)
