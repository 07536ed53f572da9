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


class Choice(Enum):
    """Which of several samples is the answer."""

    PASSES = "the first that passes the examples which the model was shown, else the first"
    MAJORITY = "the first of the largest group that behaves alike on drawn inputs, else the first"


SAMPLES = 3
"""Of the variants that choose: as many as the budget `standard` allows calls."""
_WARM = 0.8
"""The temperature of every sample but the first, as in the engine."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One variant. `changes` are settings by section; `draws` marks the one that draws as often as the engine asked.

    `choice` is how the answer of `SAMPLES` draws is chosen, if it is. `without_model`: no endpoint is configured.

    `again` marks the variants of cases that ask for known tasks in other words; they have no others.
    """

    name: str
    budget: Budget
    changes: Mapping[str, Mapping[str, Any]]
    draws: bool = False
    held: Held = Held.NOTHING
    again: bool = False
    choice: Choice | None = None
    without_model: bool = False

    @property
    def judged(self) -> bool:
        """False for the model alone."""
        return bool(self.changes.get("checks", {}).get("validation", True))


_SINGLE = {"checks": {"validation": False, "auto_fix": False, "search": False}, "memory": {"enabled": False}}
_FORGETFUL = {"memory": {"enabled": False}}
_GLOBAL = {"memory": {"scope": "global"}}
"""What is remembered was learned from another project. How alike it has to be is as shipped."""

ARMS = (
    # Same prompt, same form, same reader of the reply: what is compared is the engine's work, not its wording. With the
    # budget of the others, so that a reproduced failure and a hot line are in the prompt, too.
    Arm("single shot", Budget.STANDARD, _SINGLE),
    Arm("first of k", Budget.STANDARD, _SINGLE, choice=Choice.PASSES),
    Arm("majority of k", Budget.STANDARD, _SINGLE, choice=Choice.MAJORITY),
    Arm("stet", Budget.STANDARD, {}),
    Arm("search alone", Budget.STANDARD, _FORGETFUL, without_model=True),
    Arm("no search", Budget.STANDARD, {"checks": {"search": False}}),
    Arm("no samples", Budget.STANDARD, {"models": {"samples": 1}}),
    Arm("no repair", Budget.STANDARD, {"checks": {"auto_fix": False}}),
    Arm("no memory", Budget.STANDARD, _FORGETFUL),
    Arm("thorough", Budget.THOROUGH, {}),
    Arm("equal tokens", Budget.STANDARD, {**_SINGLE, "model": {"temperature": _WARM}}, draws=True),
    Arm("with memory", Budget.STANDARD, _GLOBAL, held=Held.OTHERS),
    Arm("again without memory", Budget.STANDARD, _FORGETFUL, again=True),
    Arm("again with memory", Budget.STANDARD, _GLOBAL, held=Held.ALL, again=True),
)


def settings_of(arm: Arm, base_url: str, model: str, sample: int = 0) -> Settings:
    """The arm's settings for its draw of that number; all arms share one endpoint, that of `base_url` or, without one,
    the embedded model.

    The deadlines are as shipped. Each draw and each variant asks for itself: no reply is kept for the next.
    """
    changes = {**arm.changes, "model": {"cache": False, "discover": False, **arm.changes.get("model", {})}}
    rows = ({"name": "*", **changes.pop("models")},) if "models" in changes else ()
    if sample:
        changes["model"]["temperature"] = _WARM
    if arm.without_model:
        changes["model"] |= {"embedded": "off"}
        return Settings.model_validate(changes)
    providers = (Provider(name="eval", base_url=base_url, model=model),) if base_url else ()
    return Settings.model_validate({**changes, "providers": providers, "models": rows})
