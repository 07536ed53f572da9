"""The variants that are compared: the engine as it ships, without one of its parts, and the model's single shot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stet_ls.engine.models import Budget
from stet_ls.engine.settings import Provider, Settings


@dataclass(frozen=True, slots=True)
class Arm:
    """One variant. `changes` are settings by section; `draws` marks the one that draws as often as the engine asked."""

    name: str
    budget: Budget
    changes: Mapping[str, Mapping[str, Any]]
    draws: bool = False


_HOUR = 3600
_SINGLE = {"checks": {"validation": False, "auto_fix": False}, "memory": {"enabled": False}}

ARMS = (
    # Same prompt, same form, same reader of the reply: what is compared is the engine's work, not its wording.
    Arm("single shot", Budget.QUICK, _SINGLE),
    Arm("stet", Budget.STANDARD, {}),
    Arm("equal tokens", Budget.QUICK, {**_SINGLE, "model": {"temperature": 0.8}}, draws=True),
    Arm("no samples", Budget.STANDARD, {"models": {"samples": 1}}),
    Arm("no repair", Budget.STANDARD, {"checks": {"auto_fix": False}}),
    Arm("no memory", Budget.STANDARD, {"memory": {"enabled": False}}),
)


def settings_of(arm: Arm, base_url: str, model: str) -> Settings:
    """The arm's settings, with the one endpoint that all arms share.

    Deadline and time limits are out of the way: what is asked must not depend on how fast replies are played back, and
    a reply that is being recorded comes in one piece, when it is whole.
    """
    changes = dict(arm.changes)
    rows = ({"name": "*", **changes.pop("models")},) if "models" in changes else ()
    provider = Provider(name="eval", base_url=base_url, model=model, timeout_first_token=_HOUR, timeout_token=_HOUR)
    return Settings.model_validate({**changes, "providers": (provider,), "models": rows, "deadline": _HOUR})
