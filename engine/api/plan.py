"""The plan of a task: what was understood of the request, and the steps to do it. Frozen and plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from stet_ls.engine.api.actions import STEPS, spec_of
from stet_ls.engine.api.arms import Capability

MOST_STEPS = 7
"""The most steps of a plan."""


class TaskComplexity(StrEnum):
    """How many steps a request needs: one, a few, or more than a plan should hold at once."""

    SIMPLE = "simple"
    MEDIUM = "medium"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True)
class PlanConfidence:
    """How sure it is that a request was understood, or that a plan does it: bounds from 0 to 1, and the reason.

    A rule gives them, and no count: they are far apart where a model read the request.
    """

    low: float
    high: float
    reason: str

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g} ({self.reason})"

    def to_json(self) -> dict[str, Any]:
        """The bounds and the reason as JSON."""
        return {"low": self.low, "high": self.high, "reason": self.reason}


UNREAD = PlanConfidence(0.0, 1.0, "not read by rules")
"""The confidence of what no rule looked at."""


@dataclass(frozen=True, slots=True)
class RequestIntent:
    """What was understood of a request.

    goal: The goal in one sentence.
    constraints: What the result must meet, or must leave alone.
    capabilities: What the task needs of the arms.
    libraries: The packages that the request names.
    complexity: Whether it takes one step or several.
    question: What to ask the user first, because the request does not say it; "" if it is clear.
    confidence: How sure this is.
    """

    goal: str
    constraints: tuple[str, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    libraries: tuple[str, ...] = ()
    complexity: TaskComplexity = TaskComplexity.MEDIUM
    question: str = ""
    confidence: PlanConfidence = field(default=UNREAD, compare=False)


class TaskPriority(StrEnum):
    """Whose calls go first where several jobs wait for an endpoint. Other jobs have the normal priority."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """The more, the earlier: normal is 0."""
        return list(TaskPriority).index(self) - 1


class CriterionKind(StrEnum):
    """How a criterion is checked: by a test, a command, an example or a judge."""

    TEST = "test"
    """The node id or the file of a test that has to pass."""
    COMMAND = "command"
    """A command that has to exit with 0 in the sandbox, in the folder of the project."""
    EXAMPLE = "example"
    """A Python expression that has to be true, such as `discount(10, 0.5) == 5`."""
    JUDGE = "judge"
    """The name of a check whose result must not be a failure, such as `types`."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a machine can check after a step."""

    kind: CriterionKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """What a step may take: model calls, and seconds at the measured speed."""

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan.

    number: Its number in the plan, from 1.
    action: One of `STEP_KINDS`.
    path: The file that it works on, absolute.
    unit: The unit of the file that it changes, qualified; "" if it adds a new one or works on the file as a whole.
    instruction: What to do there.
    new: The name of the unit that it adds, if the plan gives one.
    files: Further files that it reads or writes, absolute.
    criteria: What has to hold afterwards.
    needs: The numbers of the steps that have to succeed before.
    arm: The arm that a user chose; "" leaves the choice to the router.
    estimate: What it may take; None until it is routed.
    enabled: False if the user unticked it.
    """

    number: int
    action: str
    path: Path
    unit: str
    instruction: str
    new: str = field(default="", compare=False)
    files: tuple[Path, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    needs: tuple[int, ...] = ()
    arm: str = ""
    estimate: StepEstimate | None = field(default=None, compare=False)
    enabled: bool = True

    def __str__(self) -> str:
        return f"{self.action} {f'`{self.unit}` in ' if self.unit else ''}{self.path.name}"

    @property
    def capability(self) -> Capability:
        """What it needs of an arm."""
        return STEP_KINDS[self.action].capability

    def to_json(self, root: Path) -> dict[str, Any]:
        """The step as JSON; paths relative to `root`."""
        estimate = self.estimate and {"calls": self.estimate.calls, "seconds": round(self.estimate.seconds, 1)}
        return {
            "number": self.number,
            "action": self.action,
            "arm": self.arm,
            "file": plan_path(self.path, root),
            "unit": self.unit,
            "new": self.new,
            "instruction": self.instruction,
            "files": [plan_path(each, root) for each in self.files],
            "criteria": [{"kind": each.kind.value, "text": each.text} for each in self.criteria],
            "needs": list(self.needs),
            "estimate": estimate,
            "enabled": self.enabled,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a task. `root` is the folder that no step leaves; `deadline` are its seconds, None for no limit.

    `confidence` says how sure it is that the plan does what is wanted.
    """

    intent: RequestIntent
    root: Path
    steps: tuple[PlanStep, ...]
    priority: TaskPriority = TaskPriority.NORMAL
    deadline: float | None = None
    confidence: PlanConfidence = field(default=UNREAD, compare=False)

    @property
    def enabled(self) -> tuple[PlanStep, ...]:
        """The steps to do."""
        return tuple(step for step in self.steps if step.enabled)

    def step(self, number: int) -> PlanStep:
        """The step with that number."""
        return next(step for step in self.steps if step.number == number)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON; paths relative to its root."""
        intent = self.intent
        return {
            "goal": intent.goal,
            "constraints": list(intent.constraints),
            "capabilities": [each.value for each in intent.capabilities],
            "libraries": list(intent.libraries),
            "complexity": intent.complexity.value,
            "intent_confidence": intent.confidence.to_json(),
            "confidence": self.confidence.to_json(),
            "priority": self.priority.value,
            "deadline": self.deadline,
            "steps": [step.to_json(self.root) for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class StepKind:
    """What a step can be.

    capability: What it needs of an arm.
    about: What it does, for the prompt and for lists.
    edits: It ends in an edit; the others end in a report.
    makes: It also leaves new files, which later steps may read.
    """

    name: str
    capability: Capability
    about: str
    edits: bool = True
    makes: bool = False


_WITHOUT_EDIT = (
    StepKind("find", Capability.SEARCH, "find code of the project, and remembered solutions, for later steps", False),
    StepKind("check", Capability.VALIDATION, "run the project's tests on what the steps so far changed", False),
    StepKind("run", Capability.EXECUTION, "run the instruction as a command in the sandbox, in the project", False),
    StepKind("compute", Capability.DATA, "find something out of data, or make tables and pictures of it", False, True),
    StepKind("review", Capability.REVIEW, "review the file as the steps so far left it", False),
    StepKind("guard", Capability.SAFETY, "look for secrets, dangerous calls and instructions to a model", False),
)

STEP_KINDS: Mapping[str, StepKind] = MappingProxyType(
    {
        **{spec.name: StepKind(spec.name, spec.capability, spec.description) for spec in map(spec_of, STEPS)},
        **{kind.name: kind for kind in _WITHOUT_EDIT},
    }
)
"""What a step can be: an action that ends in an edit, or a report that needs no model."""


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """How a task is to be done.

    plan: A plan as text, edited by the user; "" lets the model make one.
    plan_only: The answer is the plan.
    task: The id of an earlier task to resume; its finished steps are not repeated.
    after: The ids of earlier tasks whose results are context.
    files: Files that the task is about besides the request's own, absolute.
    libraries: Packages that the task requires.
    priority: Whose calls go first; None for what the plan says, or normal.
    deadline: Seconds after which no further step starts and no call continues; None for what the plan says, or none.
    """

    plan: str = ""
    plan_only: bool = False
    task: str = ""
    after: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    priority: TaskPriority | None = None
    deadline: float | None = None


def plan_path(path: Path, root: Path) -> str:
    """A path as a plan shows it: relative to the root with slashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def dependents(steps: Sequence[PlanStep], failed: int) -> frozenset[int]:
    """The numbers of the steps that need a failed one, directly or through others."""
    lost = {failed}
    while more := {step.number for step in steps if step.number not in lost and not lost.isdisjoint(step.needs)}:
        lost |= more
    return frozenset(lost - {failed})
