"""`stet model probe`: the self-test of the models that serve, and the resulting profiles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import StetError, UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.command_table import did_you_mean
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.progress_line import ProgressLine
from stet_ls.server.cli.terminal.status import print_error, print_warning

if TYPE_CHECKING:
    from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient
    from stet_ls.engine.model_probe.selftest import ProbeResults

START_SECONDS = 300.0
"""The embedded model may have to be loaded first, from a slow disk."""


async def probe(*, endpoint: str | None, seconds: float, as_json: bool) -> int:
    """Tests each endpoint in turn and prints the results; the exit status is that of the worst."""
    from stet_ls.engine.model.pool import ModelPool
    from stet_ls.engine.model_probe.selftest import self_test
    from stet_ls.server.cli.terminal.consent import Terminal

    models = ModelPool(load_settings().settings, user_paths())
    models.asker = Terminal()
    progress = ProgressLine()
    findings: list[dict[str, Any]] = []
    status = 0
    try:
        await models.settle()
        for client in _chosen(await models.clients(START_SECONDS, progress), endpoint):
            _warn_of_the_price(client)
            try:
                finding = await self_test(client, seconds=seconds, on_event=progress)
            except StetError as error:
                progress.clear()
                print_error(str(error))
                status = max(status, error.exit_code)
                continue
            progress.clear()
            findings.append(as_dict(finding, client.address))
            if not as_json:
                _print(findings[-1])
    finally:
        progress.clear()
        await models.close()
    if as_json:
        print(json.dumps({**(findings[0] if findings else {}), "endpoints": findings}, indent=2))
    return status


def as_dict(finding: ProbeResults, address: str) -> dict[str, Any]:
    """The results as JSON; `profile` is what jobs use from now on."""
    from stet_ls.engine.model.health import profile_row

    probe, profile = finding.probe, finding.profile
    return {
        "endpoint": finding.endpoint,
        "base_url": address,
        "model": profile.model,
        "well_formed": asdict(probe.well_formed),
        "solved": asdict(probe.solved),
        "search_replace": asdict(probe.search_replace),
        "json": probe.json or None,
        "begins": probe.begins,
        "streams": probe.streams,
        "usage": probe.usage,
        "context": profile.context,
        "context_from": probe.context_from or None,
        "tokens_per_second": profile.tokens_per_second,
        "prompt_tokens_per_second": profile.reading,
        "first_token_seconds": probe.first_token_seconds,
        "profile": profile_row(profile),
        "calls": probe.calls,
        "tokens": probe.tokens,
        "cost": probe.cost,
        "seconds": probe.seconds,
        "left_out": list(finding.left_out),
    }


def _chosen(clients: Sequence[EndpointClient], endpoint: str | None) -> Sequence[EndpointClient]:
    if endpoint is None:
        return clients
    chosen = [client for client in clients if client.name == endpoint]
    if not chosen:
        raise UsageError(f"unknown endpoint `{endpoint}`: {did_you_mean(endpoint, [c.name for c in clients])}")
    return chosen


def _warn_of_the_price(client: EndpointClient) -> None:
    """Warns before anything is sent to an endpoint that costs money, or may."""
    from stet_ls.engine.model.chat import Usage
    from stet_ls.engine.model.endpoint.connection import is_loopback
    from stet_ls.engine.model.endpoint.cost import cost_of
    from stet_ls.engine.model_probe.selftest import CALLS, PROMPT_TOKENS, REPLY_TOKENS

    price = cost_of(client.provider, Usage(PROMPT_TOKENS, REPLY_TOKENS))
    if price == 0 or (price is None and is_loopback(client.provider.base_url)):
        return
    size = f"up to {CALLS} calls, about {PROMPT_TOKENS:,} prompt tokens and {REPLY_TOKENS:,} reply tokens"
    about = f"about {price:.4f} at your configured prices" if price is not None else "no prices configured"
    print_warning(f"{client.label} may cost money: {size}; {about}. Press Ctrl-C to stop.")


def _print(found: dict[str, Any]) -> None:
    """Prints one block per endpoint."""
    flat = {**found["profile"], **found}
    for name in ("profile", "base_url", "probed"):
        flat.pop(name)
    rows = [(name.replace("_", " "), _shown(value)) for name, value in flat.items() if value not in (None, [])]
    render.print_table(rows)
    render.print_line("")


def _shown(value: Any) -> str:
    match value:
        case {"good": good, "tried": tried}:
            return f"{good} of {tried}" if tried else "not tried"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}"
        case list():
            return ", ".join(value)
    return str(value)
