"""Whether and when a request is made again after a failure: a table of counts, a growing pause, some jitter."""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure

MOST_REQUESTS: Mapping[Fault, int] = {
    Fault.REFUSED: 1,
    Fault.NO_KEY: 1,
    Fault.UNAUTHORIZED: 1,
    Fault.QUOTA: 1,
    Fault.CONTEXT: 1,
    Fault.BAD_REQUEST: 1,
    Fault.NOT_FOUND: 1,
    Fault.RATE_LIMITED: 3,
    Fault.SERVER: 3,
    Fault.UNREACHABLE: 3,
    Fault.MALFORMED: 3,
    Fault.EMPTY: 3,
    # After such a silence there is no second request: the deadline is better spent elsewhere.
    Fault.NO_FIRST_TOKEN: 1,
    Fault.STALLED: 1,
    Fault.DEADLINE: 1,
}
"""Requests per fault, before the first token. After it nothing is retried: the text so far is judged."""

_BACKOFF: Mapping[Fault, float] = {Fault.RATE_LIMITED: 1.0, Fault.SERVER: 0.5, Fault.UNREACHABLE: 0.2}
"""Seconds before the second request where the server names none, doubled for the third; none for bad content."""

_SPREAD = 0.25
"""Pauses differ by up to a quarter, so that the editors of an office do not return at the same moment. A pause that the
server named only grows.
"""

_LOADING_PAUSE = 0.5


def pause_before_retry(
    failure: EndpointFailure, requests: int, longest: float, *, chance: Callable[[], float] = random.random
) -> float | None:
    """Seconds below `longest` before the next request after so many, loading ones not counted; None for no more."""
    if failure.loading:
        return _LOADING_PAUSE if longest > _LOADING_PAUSE else None
    if failure.begun or not failure.sent or requests >= MOST_REQUESTS[failure.fault]:
        return None
    if failure.retry_after:
        pause, most = failure.retry_after, failure.retry_after * (1 + _SPREAD * chance())
        return min(most, (pause + longest) / 2) if pause < longest else None
    pause = _BACKOFF.get(failure.fault, 0.0) * 2 ** (requests - 1) * (1 + _SPREAD * (2 * chance() - 1))
    return pause if pause < longest else None


def retry_after(headers: Mapping[str, Any]) -> float | None:
    """Seconds to wait: a number, OpenAI's milliseconds, or an HTTP date (0 if past); None for anything else."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            seconds = float(str(headers.get(name, ""))) * unit
            if math.isfinite(seconds):
                return max(0.0, seconds)
    with suppress(ValueError, OverflowError, TypeError):
        date = email.utils.parsedate_tz(str(headers.get("retry-after", "")))
        return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
    return None
