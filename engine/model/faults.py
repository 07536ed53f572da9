"""The rules of failing: what went wrong, whether asking again can help, and what the user is told.

A failure is a value here (`Failure`); the pool turns the last one into an error when nobody is left to ask.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from stet_ls.engine.errors import Fault

MOST_REQUESTS: Mapping[Fault, int] = {
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
    # Whoever was silent for so long is asked no second time: the deadline is better spent elsewhere.
    Fault.NO_FIRST_TOKEN: 1,
    Fault.STALLED: 1,
    Fault.DEADLINE: 1,
}
"""Requests per fault, before the first token. After it nothing is ever asked again: the text so far is judged."""

_BACKOFF: Mapping[Fault, float] = {Fault.RATE_LIMITED: 1.0, Fault.SERVER: 0.5, Fault.UNREACHABLE: 0.2}
"""Seconds before the second request where the server names none, doubled for the third; none for bad content."""

_LOADING_PAUSE = 0.5
_LONGEST_DETAIL, _LONGEST_SHOWN = 2000, 200


@dataclass(frozen=True, slots=True)
class Failure:
    """One request that brought no text.

    `detail` is what the server said, on one line, or our own words. `param` is the parameter that it names.
    `retry_after` is in seconds. `loading`: the server is up and still reads its model from disk. `begun`: the model had
    begun to think.
    """

    fault: Fault
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None
    param: str = ""
    loading: bool = False
    begun: bool = False


def pause_before_retry(failure: Failure, requests: int, remaining: float) -> float | None:
    """Seconds to wait before the next request, or None if there must be none.

    `requests` were sent so far, loading ones not counted; `remaining` seconds are left.
    """
    if failure.loading:
        return _LOADING_PAUSE if remaining > _LOADING_PAUSE else None
    if failure.begun or requests >= MOST_REQUESTS[failure.fault]:
        return None
    pause = failure.retry_after
    if pause is None:
        pause = _BACKOFF.get(failure.fault, 0.0) * 2 ** (requests - 1)
    return pause if pause < remaining else None


_QUOTA = r"insufficient_quota|billing|credit balance|exceeded your current quota"
_CONTEXT = (
    r"context[ _]?(length|window|size)|maximum context|prompt is too long|input is too long"
    r"|too many (input )?tokens|exceeds? the (available )?context"
)
_OVERLOAD = r"rate.?limit|too many requests|overloaded|resource.?exhausted"

_RULES: tuple[tuple[range | tuple[int, ...], str, Fault], ...] = (
    ((401,), "", Fault.UNAUTHORIZED),
    ((402,), "", Fault.QUOTA),
    ((400, 403, 429), _QUOTA, Fault.QUOTA),
    ((403,), "", Fault.UNAUTHORIZED),
    ((400,), r"api.?key", Fault.UNAUTHORIZED),
    ((429,), "", Fault.RATE_LIMITED),
    ((200, 400, 413, 422, 500), _CONTEXT, Fault.CONTEXT),
    ((200,), _QUOTA, Fault.QUOTA),
    ((200,), _OVERLOAD, Fault.RATE_LIMITED),
    ((200,), "", Fault.MALFORMED),
    (range(300, 400), "", Fault.NOT_FOUND),
    ((404, 405, 410), "", Fault.NOT_FOUND),
    ((408, 409, 425), "", Fault.SERVER),
    (range(400, 500), "", Fault.BAD_REQUEST),
)
"""Status, what code and message look like, fault; the first that fits. All others are faults of the server."""


def failure_of_status(status: int, body: object, headers: Mapping[str, str]) -> Failure:
    """The failure that an error answer tells of. `body` is its JSON or text; 200 is an error told in good manners."""
    error = _error_of(body)
    detail = _sentence(error)
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, Mapping) else ""
    if status == 200 and code.isdigit() and 400 <= int(code) < 600:
        status = int(code)  # routers put the status of the model behind them here
    told = f"{code} {detail}".lower()
    fault = next(
        (fault for statuses, pattern, fault in _RULES if status in statuses and re.search(pattern, told)), Fault.SERVER
    )
    if 300 <= status < 400:
        detail = "it redirects to another address, which is not followed"
    return Failure(
        fault,
        detail,
        status,
        _retry_after(headers),
        param=str(error.get("param") or "") if isinstance(error, Mapping) else "",
        loading=status == 503 and "loading" in told,
    )


def failure_of_exception(error: Exception) -> Failure:
    """The failure behind an exception of the SDK, of the HTTP client below it, or of decoding a reply."""
    # Already loaded, or there would be no such exception; late, because at the top it would cost every start.
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return failure_of_status(error.status_code, error.body, error.response.headers)
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError):
        return _failure_of_transport(error if isinstance(error, httpx2.HTTPError) else error.__cause__)
    if isinstance(error, openai.APIError):
        return failure_of_status(200, error.body, {})
    if isinstance(error, json.JSONDecodeError):
        return Failure(Fault.MALFORMED, "it sent a broken piece of JSON")
    if isinstance(error, httpx2.InvalidURL):
        return Failure(Fault.BAD_REQUEST, f"its address cannot be used: {error}")
    if isinstance(error, UnicodeError):
        return Failure(Fault.BAD_REQUEST, "its key or address holds characters that a request cannot carry")
    return Failure(Fault.MALFORMED, f"its reply could not be read ({type(error).__name__})")


def _failure_of_transport(error: BaseException | None) -> Failure:
    import httpx2

    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return Failure(Fault.BAD_REQUEST, "its address or key cannot be used in a request")
    if isinstance(error, httpx2.ConnectTimeout):
        return Failure(Fault.UNREACHABLE, "no connection in time")
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return Failure(Fault.UNREACHABLE, _why_unreachable(error))
    return Failure(Fault.MALFORMED, "the connection broke off")


def _why_unreachable(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        for kind, words in _CAUSES:
            if isinstance(cause, kind):
                return words
        cause = cause.__cause__ or cause.__context__
    return _one_line(str(error))


_CAUSES: tuple[tuple[type[Exception], str], ...] = (
    (ConnectionRefusedError, "connection refused"),
    (socket.gaierror, "its name is not known"),
    (ssl.SSLCertVerificationError, "its certificate is not trusted"),
    (ssl.SSLError, "no TLS there"),
)
"""What the system said, below three layers of wrapping, in words."""

_SENTENCES: Mapping[Fault, tuple[str, str]] = {
    Fault.UNAUTHORIZED: ("refused the key", "set STET_API_KEY, or the variable that api_key_env names"),
    Fault.QUOTA: ("says that the account's quota is used up", ""),
    Fault.RATE_LIMITED: ("limits the rate of requests", "try again later"),
    Fault.CONTEXT: ("cannot read a prompt this long", "select less code or take a model with a larger context"),
    Fault.BAD_REQUEST: ("did not understand the request", ""),
    Fault.NOT_FOUND: ("has no such model or address", "check the model's name and that the address ends in /v1"),
    Fault.SERVER: ("failed", "look into its log"),
    Fault.UNREACHABLE: ("cannot be reached", "start it or correct its address"),
    Fault.NO_FIRST_TOKEN: ("did not begin to answer in time", ""),
    Fault.STALLED: ("fell silent in the middle of its answer", ""),
    Fault.MALFORMED: ("gave no usable answer", ""),
    Fault.EMPTY: ("sent an empty answer", ""),
    Fault.DEADLINE: ("had not finished when the time was up", ""),
}
"""What the endpoint did, and the way out."""


def sentence(failure: Failure, endpoint: str) -> str:
    """The failure as one sentence for the user, with the way out and without its full stop."""
    _, way_out = _SENTENCES[failure.fault]
    return reason(failure, endpoint) + (f"; {way_out}" if way_out else "")


def reason(failure: Failure, endpoint: str) -> str:
    """What the endpoint did, where nobody has to do anything about it yet."""
    did, _ = _SENTENCES[failure.fault]
    status = f" ({failure.status})" if failure.status not in (None, 200) else ""
    detail = f": {_shorten(failure.detail).rstrip('.')}" if failure.detail else ""
    return f"{endpoint} {did}{status}{detail}"


def without_secrets(failure: Failure, secrets: tuple[str, ...]) -> Failure:
    """The failure with every secret that a server echoed taken out of its words."""
    detail = failure.detail
    for secret in secrets:
        detail = detail.replace(secret, "[key]")
    return replace(failure, detail=detail)


def _error_of(body: object) -> object:
    """The error inside a body: OpenAI nests it, Ollama gives a mere string, FastAPI calls it `detail`."""
    if isinstance(body, Mapping):
        return body.get("error") or body.get("detail") or body
    return body


def _sentence(error: object) -> str:
    if isinstance(error, Mapping):
        return _one_line(str(error.get("message") or error.get("detail") or ""))
    if isinstance(error, str) and "<" not in error[:100]:  # a page of HTML tells nobody anything
        return _one_line(error)
    return ""


def _one_line(text: str) -> str:
    """Printable characters on one line, so that a server's words cannot take over a message or a terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[:_LONGEST_DETAIL]).split())


def _shorten(line: str) -> str:
    """For the eye; only after secrets were taken out, or half of one might stay."""
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    """Seconds that the server wants to be left alone: a number, milliseconds as OpenAI sends them, or an HTTP date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = str(headers.get(name, ""))
        with suppress(ValueError):
            seconds = float(value) * unit
            if math.isfinite(seconds):
                return max(0.0, seconds)
    date = email.utils.parsedate_tz(str(headers.get("retry-after", "")))
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - time.time())
