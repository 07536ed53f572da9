"""Which model would serve, and whether it answers: a check that starts nothing and takes at most a second."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.circuit_breaker import BreakerState
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient
from stet_ls.engine.model.endpoint.faults import EndpointFailure, sentence
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import Paths

_SECONDS = 0.8

_STATUS: Mapping[Fault, str] = {
    Fault.NO_KEY: "refused",
    Fault.UNAUTHORIZED: "refused",
    Fault.QUOTA: "refused",
    Fault.UNREACHABLE: "unreachable",
    Fault.NO_FIRST_TOKEN: "silent",
    # Not every endpoint lists its models; any answer is a sign of life.
    Fault.NOT_FOUND: "ready",
    Fault.BAD_REQUEST: "ready",
    Fault.RATE_LIMITED: "ready",
}
"""The status for a failed request to /models; all other faults mean "failing"."""


async def health_of(
    clients: Sequence[EndpointClient],
    embedded: EndpointClient | None,
    settings: Settings,
    paths: Paths,
    asleep: Profile,
) -> dict[str, Any]:
    """`status, model, endpoint, base_url, last_fault` of the endpoint that would serve, and `endpoints` with all rows.

    A row also has its breaker's state as `breaker` ("closed", "open", "half open"), its `failures` in a row, seconds to
    `retry_in` while it is open, and the `profile` of its model if known. `asleep` is the profile of the embedded model
    while it is not running.

    Status: ready; silent, unreachable, refused or failing; asleep (the embedded model starts when the first job runs);
    absent (it cannot run yet; `last_fault` has the way out); off (no model at all).
    """
    if clients:
        rows = await asyncio.gather(*(_row(client) for client in clients))
    else:
        running = None if embedded is None else await _row(embedded)
        if running is None or running["status"] == "unreachable":  # it exits when idle
            running = {**await asyncio.to_thread(_embedded_row, settings, paths), "profile": profile_row(asleep)}
        rows = [running]
    ready = [row for row in rows if row["status"] == "ready"]
    serving = next((row for row in ready if row.get("breaker") != BreakerState.OPEN), (*ready, rows[0])[0])
    return {**serving, "endpoints": rows}


async def _row(client: EndpointClient) -> dict[str, Any]:
    models = await client.connection.listed(seconds=_SECONDS)
    status, last = "ready", client.last_failure
    if isinstance(models, EndpointFailure):
        status = _STATUS.get(models.fault, "failing")
        last = last if status == "ready" else models
    else:
        client.saw(models)
    known = not isinstance(models, EndpointFailure) or client.provider.model
    profile = await client.profile() if known else None
    shown = profile if isinstance(profile, Profile) else None
    model = "" if shown is None else shown.model
    breaker = client.breaker
    return {
        **_as_row(client.name, client.address, status, model, None if last is None else sentence(last, client.label)),
        "breaker": breaker.state.value,
        "failures": breaker.failures,
        "retry_in": round(breaker.cooldown_remaining, 1),
        "profile": None if shown is None else profile_row(shown),
    }


def profile_row(profile: Profile) -> dict[str, Any]:
    """What jobs use of a profile; `probed` is the time of the model's self-test, None if it had none."""
    return {
        "tier": profile.tier,
        "context": profile.context,
        "samples": profile.samples,
        "repairs": profile.repairs,
        "edit_kinds": ["unit", "search/replace"] if profile.search_replace else ["unit"],
        "json": profile.json,
        "least_temperature": profile.temperature,
        "max_output": profile.max_output or None,
        "tokens_per_second": profile.tokens_per_second,
        "prompt_tokens_per_second": profile.reading,
        "tokens_per_estimate": profile.token_factor,
        "probed": profile.probed or None,
    }


def _embedded_row(settings: Settings, paths: Paths) -> dict[str, Any]:
    from stet_ls.engine.model.embedded.embedded_model import Embedded
    from stet_ls.engine.model.embedded.weights import chosen, known

    name = chosen(settings.model.embedded, paths)
    obstacle = Embedded(settings, paths).available()
    weights = known(paths).get(name or "")
    status = "off" if name is None else "asleep" if obstacle is None else "absent"
    return _as_row("embedded", "", status, weights.model if weights else "", obstacle)


def _as_row(name: str, base_url: str, status: str, model: str, last_fault: str | None) -> dict[str, Any]:
    return {"status": status, "model": model, "endpoint": name, "base_url": base_url, "last_fault": last_fault}
