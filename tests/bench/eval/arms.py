"""The variants that are compared: the engine as it ships, without one of its parts, and the model's single shot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider


class Held(Enum):
    """What the memory holds before a variant's first case."""

    NOTHING = "nothing"
    OTHERS = "others"
    """Solutions of other tasks: of none that is a case."""
    ALL = "all"
    """Those of the cases too."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One variant. `changes` are settings by section; `draws` marks the one that draws as often as the engine asked.

    `again` marks the variants of cases that ask for known tasks in other words; they have no others.
    """

    name: str
    budget: Budget
    changes: Mapping[str, Mapping[str, Any]]
    draws: bool = False
    held: Held = Held.NOTHING
    again: bool = False

    @property
    def judged(self) -> bool:
        """False for the model alone."""
        return bool(self.changes.get("checks", {}).get("validation", True))


HOUR = 3600
"""Seconds that nothing here takes."""
_SINGLE = {"checks": {"validation": False, "auto_fix": False}, "memory": {"enabled": False}}
_FORGETFUL = {"memory": {"enabled": False}}
_GLOBAL = {"memory": {"scope": "global"}}
"""What is remembered was learned from another project. How alike it has to be is as shipped."""

ARMS = (
    # Same prompt, same form, same reader of the reply: what is compared is the engine's work, not its wording.
    Arm("single shot", Budget.QUICK, _SINGLE),
    Arm("stet", Budget.STANDARD, {}),
    Arm("thorough", Budget.THOROUGH, {}),
    Arm("equal tokens", Budget.QUICK, {**_SINGLE, "model": {"temperature": 0.8}}, draws=True),
    Arm("no samples", Budget.STANDARD, {"models": {"samples": 1}}),
    Arm("no repair", Budget.STANDARD, {"checks": {"auto_fix": False}}),
    Arm("no memory", Budget.STANDARD, _FORGETFUL),
    Arm("with memory", Budget.STANDARD, _GLOBAL, held=Held.OTHERS),
    Arm("again without memory", Budget.STANDARD, _FORGETFUL, again=True),
    Arm("again with memory", Budget.STANDARD, _GLOBAL, held=Held.ALL, again=True),
)


def settings_of(arm: Arm, base_url: str, model: str) -> Settings:
    """The arm's settings, with the one endpoint that all arms share.

    Deadline and time limits are out of the way: what is asked must not depend on how fast replies are played back, and
    a reply that is being recorded comes in one piece, when it is whole.
    """
    changes = dict(arm.changes)
    rows = ({"name": "*", **changes.pop("models")},) if "models" in changes else ()
    provider = Provider(name="eval", base_url=base_url, model=model, timeout_first_token=HOUR, timeout_token=HOUR)
    return Settings.model_validate({**changes, "providers": (provider,), "models": rows, "deadline": HOUR})
