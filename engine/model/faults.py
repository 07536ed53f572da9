"""What went wrong with a request, as a value, and how the user is told of it.

A failure becomes an error only when nobody is left to ask. `diagnose` finds out which one it is, `retry` whether asking
again can help, `breaker` whether the endpoint is asked at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.errors import Fault

_LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """One request that brought no text.

    `detail` is what the server said, on one line, or our own words. `param` is the parameter that it names.
    `retry_after` is in seconds. `loading`: the server is up and still reads its model from disk. `begun`: the model had
    begun to think. `sent` is False if it was found before a request was made.
    """

    fault: Fault
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None
    param: str = ""
    loading: bool = False
    begun: bool = False
    sent: bool = True


_SENTENCES: Mapping[Fault, tuple[str, str]] = {
    Fault.REFUSED: ("may not be sent what was hidden", ""),
    Fault.NO_KEY: ("cannot be asked without its key", ""),
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


def _shorten(line: str) -> str:
    """For the eye; only after secrets were taken out, or half of one might stay."""
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"
