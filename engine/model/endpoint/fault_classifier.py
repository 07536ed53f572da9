"""Maps an error response or an exception to a failure."""

from __future__ import annotations

import json
import re
import socket
import ssl
import sys
from collections.abc import Mapping

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.endpoint.retry import retry_after

_LONGEST_DETAIL = 2000

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
"""Status, pattern of code and message, fault; the first match counts. All others are faults of the server."""


def failure_of_status(status: int, body: object, headers: Mapping[str, str]) -> EndpointFailure:
    """The failure in an error response. `body` is its JSON or text; some servers send errors with status 200."""
    # OpenAI nests it, Ollama gives a mere string, FastAPI calls it `detail`.
    error = body.get("error") or body.get("detail") or body if isinstance(body, Mapping) else body
    detail = _sentence(error)
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, Mapping) else ""
    if status == 200 and code.isdigit() and 400 <= int(code) < 600:
        status = int(code)  # routers put the status of the model's server here
    words = f"{code} {detail}".lower()
    fault = next(
        (fault for statuses, pattern, fault in _RULES if status in statuses and re.search(pattern, words)), Fault.SERVER
    )
    if 300 <= status < 400:
        detail = "it redirects to another address, which Stet does not follow"
    return EndpointFailure(
        fault,
        detail,
        status,
        retry_after(headers),
        param=str(error.get("param") or "") if isinstance(error, Mapping) else "",
        loading=status == 503 and "loading" in words,
    )


def failure_of_exception(error: Exception) -> EndpointFailure:
    """The failure behind an exception of the SDK, of the HTTP client below it, or of decoding a reply."""
    # Already imported if there is such an exception; not at the top, where it would slow down every start.
    import httpx2

    if isinstance(error, httpx2.HTTPError):
        return _failure_of_transport(error)
    # The SDK need not be imported: a mere health check would block on it, and other endpoints would seem silent.
    if "openai" in sys.modules and (failure := _failure_of_sdk(error)) is not None:
        return failure
    if isinstance(error, json.JSONDecodeError):
        return EndpointFailure(Fault.MALFORMED, "it sent invalid JSON")
    if isinstance(error, httpx2.InvalidURL):
        return EndpointFailure(Fault.BAD_REQUEST, f"its address is invalid: {error}")
    if isinstance(error, UnicodeError):
        return EndpointFailure(Fault.BAD_REQUEST, "its key or address has invalid characters")
    return EndpointFailure(Fault.MALFORMED, f"cannot read its reply ({type(error).__name__})")


def _failure_of_sdk(error: Exception) -> EndpointFailure | None:
    import openai

    if isinstance(error, openai.APIStatusError):
        return failure_of_status(error.status_code, error.body, error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return _failure_of_transport(error.__cause__)
    if isinstance(error, openai.APIError):
        return failure_of_status(200, error.body, {})
    return None


def _failure_of_transport(error: BaseException | None) -> EndpointFailure:
    import httpx2

    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return EndpointFailure(Fault.BAD_REQUEST, "its address or key is invalid")
    if isinstance(error, httpx2.ConnectTimeout):
        return EndpointFailure(Fault.UNREACHABLE, "no connection in time")
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return EndpointFailure(Fault.UNREACHABLE, _why_unreachable(error))
    return EndpointFailure(Fault.MALFORMED, "the connection was lost")


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
    (socket.gaierror, "unknown host"),
    (ssl.SSLCertVerificationError, "untrusted certificate"),
    (ssl.SSLError, "it does not use TLS"),
)
"""The system's error message, below three layers of wrapping."""


def _sentence(error: object) -> str:
    if isinstance(error, Mapping):
        return _one_line(str(error.get("message") or error.get("detail") or ""))
    if isinstance(error, str) and "<" not in error[:100]:  # a page of HTML is not an error message
        return _one_line(error)
    return ""


def _one_line(text: str) -> str:
    """Printable characters on one line, so that a server's text cannot take over a message or a terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[:_LONGEST_DETAIL]).split())
