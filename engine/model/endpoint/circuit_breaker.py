"""The circuit breaker of one endpoint: after repeated failures it gets no calls, then one trial call.

closed     every call is admitted; enough failures in a row open it
open       no call is admitted until the pause is over
half open  one call is admitted as a trial: its success closes the breaker, its failure opens it again

A silent endpoint costs its caller the whole timeout. A recent silence is remembered even before the breaker opens, and
other endpoints are asked first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Literal

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure


class BreakerState(StrEnum):
    """Whether calls are allowed."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half open"


Admission = Literal["call", "trial"]
"""The kind of an admitted call. It has to be passed to `end`, whatever its outcome."""

_REQUEST_FAULTS = frozenset({Fault.REFUSED, Fault.CONTEXT, Fault.BAD_REQUEST, Fault.DEADLINE})
"""Faults of the request or of its time limit, not of the endpoint. A cancelled call has no fault."""

LONGEST_REST = 60.0
"""Maximum seconds of a Retry-After; then the endpoint is tried again anyway."""

_SILENT = frozenset({Fault.STALLED, Fault.NO_FIRST_TOKEN})

_SILENCE_SECONDS = 60.0
"""Seconds for which a silence is remembered: for the further calls of its job, and not for the rest of the day."""


class Breaker:
    """Counts one endpoint's failed calls; `last` is the newest. `clock` is in seconds. Belongs to one event loop."""

    def __init__(
        self, failures: int = 5, seconds: float = 30.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.failures = 0
        self.last: EndpointFailure | None = None
        self._most = failures
        self._seconds = seconds
        self._clock = clock
        self._open_until: float | None = None
        self._trying = False
        self._silent_at: float | None = None

    @property
    def state(self) -> BreakerState:
        """The current state."""
        if self._open_until is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._clock() < self._open_until else BreakerState.HALF_OPEN

    @property
    def cooldown_remaining(self) -> float:
        """Seconds until the endpoint may be tried again, 0 if it may."""
        return 0.0 if self._open_until is None else max(0.0, self._open_until - self._clock())

    @property
    def fell_silent(self) -> bool:
        """True if it fell silent less than a minute ago and has sent no complete reply since."""
        return self._silent_at is not None and self._clock() - self._silent_at < _SILENCE_SECONDS

    def admits(self) -> bool:
        """True if `admit` would let a call through."""
        return self.state is BreakerState.CLOSED or (self.state is BreakerState.HALF_OPEN and not self._trying)

    def admit(self) -> Admission | None:
        """Admits a call as its kind; None if it is refused."""
        if not self.admits():
            return None
        self._trying = self.state is BreakerState.HALF_OPEN
        return "trial" if self._trying else "call"

    def end(self, admission: Admission, failure: EndpointFailure | None) -> None:
        """Takes the result of a call: its failure, or None."""
        self.withdraw(admission)
        if failure is None:
            self._silent_at = None
        elif failure.fault in _SILENT:
            self._silent_at = self._clock()
        # One that spent all tokens on reasoning is not at fault either.
        if failure is None or failure.fault in _REQUEST_FAULTS or (failure.fault is Fault.EMPTY and failure.begun):
            if failure is None or admission == "trial":
                self.failures, self._open_until = 0, None
            return
        self.failures, self.last = self.failures + 1, failure
        rest = min(failure.retry_after or 0.0, LONGEST_REST) if failure.fault is Fault.RATE_LIMITED else 0.0
        if admission == "trial" or self.failures >= self._most:
            rest = max(rest, self._seconds)
        # Calls that started before it opened returned late: they do not extend the pause.
        if rest and self.state is not BreakerState.OPEN:
            self._open_until = self._clock() + rest

    def withdraw(self, admission: Admission) -> None:
        """Takes back a cancelled call: it proves nothing, and the next one may be the trial."""
        if admission == "trial":
            self._trying = False

    def half_open(self) -> None:
        """Ends the pause of an open breaker: there is a sign of life."""
        if self._open_until is not None:
            self._open_until = self._clock()
