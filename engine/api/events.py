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
    """Text arrives from a model. `tokens` counts those of this call so far; `thinking`: no answer yet.

    `text` is the reply so far if it is meant to be read: explanations and reports.
    """

    tokens: int
    thinking: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class JudgeStarted:
    """A judge starts; `check` is its check."""

    check: Check


@dataclass(frozen=True, slots=True)
class JudgeFinished:
    """A judge finished."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice for the user while the job continues: a failover, a truncated prompt, a slow start."""

    message: str


@dataclass(frozen=True, slots=True)
class Requested:
    """A request to an endpoint succeeded or failed. For the trace and the metrics: it holds the reply.

    `pieces` are (seconds since it was sent, characters of text, characters of reasoning) of each event that has any;
    `head` is the start of a body that is not a reply. `fault` is its fault, "" if there is none.
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
    """A request used about so many tokens, and no reply counts them: it was incomplete, cancelled, or not counted.

    `cost` is what they cost if the reply's own cost leaves them out. For the ledger: its handler may raise LimitError,
    which prevents further requests.
    """

    tokens: int
    cost: float = 0.0


Event = Stage | Progress | JudgeStarted | JudgeFinished | Notice | Requested | UnmeteredUsage
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """An OnEvent for callers that do not watch."""
