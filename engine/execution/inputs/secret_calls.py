"""Inputs with something that looks like a secret, as tests may hold: they run, and none of their values is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.privacy.secrets.scan import find_secrets

_PART = 6
"""Letters of a secret that give it away: near misses of an input hold a part of its values, or have them elsewhere."""


def secret_calls_marked(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls; those with an apparent secret, or a part of one, are marked, and shown without their arguments."""
    values = {each.value for each in find_secrets("\n".join(map(_text, calls)))}
    parts = {value[at : at + _PART] for value in values for at in range(max(1, len(value) - _PART + 1))}
    return tuple(_marked(call, parts) if any(part in _text(call) for part in parts) else call for call in calls)


def _text(call: Call) -> str:
    return f"{call.setup}\n{call.body}"


def _marked(call: Call, parts: set[str]) -> Call:
    is_bound = bool(call.setup) and not any(part in call.body for part in parts)
    shown = replace(call, setup="").snippet if is_bound else "an input with a secret"
    return replace(call, shown=call.shown or shown, is_secret=True)
