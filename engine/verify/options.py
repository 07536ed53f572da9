"""What a caller may choose when a change is verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stet_ls.engine.verify.stored.known_answers import VerifyRequest
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox

BUDGET = 60.0
"""Seconds for a whole change, unless the caller has less."""


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """`intent` is the caller's claim ("" for none), `budget` in seconds. Without `runs_code` only syntax, names and
    dangerous calls are judged. With `uses_cache`, results are kept for the next time and taken from there. Of `shard`,
    part and number of parts, only that part of the units is judged. The same `request` is answered
    sooner the next time.
    """

    intent: str = ""
    budget: float = BUDGET
    runs_code: bool = True
    tools: Toolbox = BUILT_IN
    uses_cache: bool = True
    shard: tuple[int, int] = (1, 1)
    request: VerifyRequest | None = None
    on_progress: Callable[[str], None] = field(default=lambda _: None)
