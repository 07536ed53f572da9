"""What an arm of a task declares about itself. An arm does the steps of a plan that need one of its capabilities."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from stet_ls.engine.api.json_schema import Schema


class Capability(StrEnum):
    """What a step needs and an arm can do."""

    CODE = "code generation"
    TESTS = "test generation"
    EXECUTION = "code execution"
    DATA = "data analysis"
    VALIDATION = "validation"
    REVIEW = "review"
    SEARCH = "search"
    SAFETY = "safety"


class ArmState(StrEnum):
    """Whether an arm can work now."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ArmHealth:
    """The state of an arm, and its reason unless it is healthy."""

    state: ArmState = ArmState.HEALTHY
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """The state as in `stet.capabilities`."""
        return {"state": self.state.value, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm.

    name: Its name in plans, such as "coder".
    description: One sentence, for lists.
    capabilities: What it can do.
    input: The JSON schema of what it gets.
    output: The JSON schema of what it returns.
    cost: Its cost tier, from 1 (no model, milliseconds) to 5 (many model calls).
    seconds: Typical seconds of a step, until steps were measured.
    calls: Typical model calls of a step.
    at_once: How many steps it can do side by side.
    version: Its version.
    """

    name: str
    description: str
    capabilities: tuple[Capability, ...]
    input: Schema
    output: Schema
    cost: int = 3
    seconds: float = 10.0
    calls: int = 0
    at_once: int = 4
    version: str = "1"

    def to_json(self) -> dict[str, Any]:
        """The arm as in `stet.capabilities`."""
        return {**asdict(self), "capabilities": list(self.capabilities)}


@dataclass(frozen=True, slots=True)
class Route:
    """The arm that was chosen for a step, its score from 0 to 1, and the reason in a phrase."""

    arm: str
    score: float
    reason: str
