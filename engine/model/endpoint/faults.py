"""The failure of a request, as a value, and its message.

A failure becomes an error only when there is no other endpoint to ask. `fault_classifier` finds out which one it is,
`retry` whether another request can help, `circuit_breaker` whether the endpoint gets requests at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.errors import Fault
from stet_ls.engine.settings.table_schemas import Provider

_LONGEST_SHOWN = 200

_SECRET_ANYWHERE, _SECRET_AS_A_WORD = 8, 4
"""Minimum characters of a secret that is removed wherever it occurs, and of one that is removed as a whole word. A
shorter text ("x" for a server that needs no key) is not a secret, and part of every other word.
"""


@dataclass(frozen=True, slots=True)
class EndpointFailure:
    """A request without a reply.

    `detail` is the server's message on one line, or our own. `param` is the parameter that it names. `retry_after` is
    in seconds. `loading`: the server is up and still reads its model from disk. `begun`: the model had started to
    reason. `sent` is False if no request was made. `way_out` adds to the fault which setting ran out, and its value.
    """

    fault: Fault
    detail: str = ""
    status: int | None = None
    retry_after: float | None = None
    param: str = ""
    loading: bool = False
    begun: bool = False
    sent: bool = True
    way_out: str = ""


_SENTENCES: Mapping[Fault, tuple[str, str]] = {
    Fault.REFUSED: ("must not get hidden values", "remove it from the text, or change that setting"),
    Fault.NO_KEY: ("needs a key", ""),
    Fault.UNAUTHORIZED: ("rejected the key", "set STET_API_KEY, or the variable that api_key_env names"),
    Fault.QUOTA: ("reports that the account's quota is used up", "raise the quota, or set another key or endpoint"),
    Fault.RATE_LIMITED: ("limits the request rate", "try again later"),
    Fault.CONTEXT: ("cannot process a prompt of this length", "select less code or use a model with a larger context"),
    Fault.BAD_REQUEST: ("rejected the request", "check its address and its model's name"),
    Fault.NOT_FOUND: ("has no such model or address", "check the model's name and that the address ends in /v1"),
    Fault.SERVER: ("failed", "see its log"),
    Fault.UNREACHABLE: ("is not reachable", "start it, or correct its address"),
    Fault.NO_FIRST_TOKEN: ("did not start to reply in time", "it may be busy or stuck; see its log"),
    Fault.STALLED: ("stopped in the middle of its reply", ""),
    Fault.MALFORMED: ("sent no usable reply", "try again, or run `stet model probe` to test it"),
    Fault.EMPTY: ("sent an empty reply", "try again, or run `stet model probe` to test it"),
    Fault.DEADLINE: ("did not finish in time", ""),
}
"""The failure, and the way out."""


def sentence(failure: EndpointFailure, endpoint: str) -> str:
    """The failure as one sentence for the user, with the way out and without its full stop."""
    way_out = failure.way_out or _SENTENCES[failure.fault][1]
    return reason(failure, endpoint) + (f"; {way_out}" if way_out else "")


def reason(failure: EndpointFailure, endpoint: str) -> str:
    """The failure without the way out, if no action is needed yet."""
    did, _ = _SENTENCES[failure.fault]
    status = f" ({failure.status})" if failure.status not in (None, 200) else ""
    # Shortened here, after secrets were removed: half of one might remain otherwise.
    detail = failure.detail
    if len(detail) > _LONGEST_SHOWN:
        detail = detail[: _LONGEST_SHOWN - 1] + "…"
    return f"{endpoint} {did}{status}" + (f": {detail.rstrip('.')}" if detail else "")


def with_setting(failure: EndpointFailure, provider: Provider, deadline: float) -> EndpointFailure:
    """A failure for lack of time, with the setting that gives more of it; `deadline` is a job's, in seconds."""
    table = "in a [[providers]] table"
    ways_out = {
        Fault.NO_FIRST_TOKEN: "run `stet doctor` to see whether it is up, `stet model probe` to measure it, "
        f"or raise `timeout_first_token` {table} (now {provider.timeout_first_token:g} s)",
        Fault.STALLED: "run `stet doctor` to see whether it is up, or raise "
        f"`timeout_token` {table} (now {provider.timeout_token:g} s)",
        Fault.DEADLINE: f"select less code, use a faster model, or raise the setting `deadline` (now {deadline:g} s)",
    }
    return replace(failure, way_out=ways_out.get(failure.fault, failure.way_out))


def without_secrets(failure: EndpointFailure, secrets: Sequence[str]) -> EndpointFailure:
    """The failure with every secret that a server echoed removed."""
    return replace(failure, detail=hidden(failure.detail, secrets))


def hidden(text: str, secrets: Sequence[str]) -> str:
    """The text with "[key]" in place of each secret; one that is too short to be a secret is kept."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SECRET_ANYWHERE:
            text = text.replace(secret, "[key]")
        elif len(secret) >= _SECRET_AS_A_WORD:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "[key]", text)
    return text
