"""What a running job tells whoever watches it, in the pipeline's order. A job ends by its Answer, not by an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.engine.models import Evidence


@dataclass(frozen=True, slots=True)
class Stage:
    """A named stage began: context, model, judge, repair, finish."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """Text arrives from a model. `tokens` counts what came so far in this call."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge spoke."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should see although the job goes on: a failover, a cut prompt, a slow start."""

    message: str


Event = Stage | Progress | Judged | Notice
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An OnEvent for callers that do not watch."""
