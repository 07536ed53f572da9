"""The events of a running job, in the pipeline's order. A job ends with its Answer, not with an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.engine.api.evidence import Check, Evidence


@dataclass(frozen=True, slots=True)
class Stage:
    """A named stage began: context, model, judge, repair, finish."""

    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """Text arrives from a model. `tokens` counts what came so far in this call; `thinking`: no answer yet."""

    tokens: int
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class JudgeStarted:
    """A judge is asked; `check` is what it answers for."""

    check: Check


@dataclass(frozen=True, slots=True)
class JudgeFinished:
    """A judge spoke."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should see although the job goes on: a failover, a cut prompt, a slow start."""

    message: str


@dataclass(frozen=True, slots=True)
class Requested:
    """A request to an endpoint has ended, one way or the other. For the trace and the metrics: it holds the reply.

    `pieces` are (seconds since it was sent, characters of text, characters of reasoning) of each event that brought
    some; `head` is how the body began, where it was no reply. `fault` says what went wrong, "" if nothing did.
    """

    endpoint: str
    model: str
    seconds: float
    pieces: tuple[tuple[float, int, int], ...] = ()
    fault: str = ""
    detail: str = ""
    status: int | None = None
    head: bytes = b""


@dataclass(frozen=True, slots=True)
class UnmeteredUsage:
    """A request took about so many tokens, and no reply tells of them: it broke off, was cancelled, or was not counted.

    `cost` is what they cost where the reply's own cost leaves them out. For the ledger: whoever hears it may raise
    LimitError, and no further request is made.
    """

    tokens: int
    cost: float = 0.0


Event = Stage | Progress | JudgeStarted | JudgeFinished | Notice | Requested | UnmeteredUsage
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An OnEvent for callers that do not watch."""
