"""The arms by name: the built-in ones, one row each, and those of installed packages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from stet_ls.engine.actions.arms import action_arms, analyst, executor, guardian, judge, retriever
from stet_ls.engine.actions.arms.arm import Arm, ArmNeeds, StepInput, StepOutput, StepRun, healthy
from stet_ls.engine.actions.arms.packages import packaged
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import ArmHealth, ArmSpec, Capability

_IN, _OUT = StepInput.model_json_schema(), StepOutput.model_json_schema()


def _arm(
    name: str,
    description: str,
    *capabilities: Capability,
    run: Callable[[StepRun], Awaitable[Answer]],
    health: Callable[[ArmNeeds], Awaitable[ArmHealth]] = healthy,
    cost: int,
    seconds: float,
    calls: int = 0,
    at_once: int = 4,
) -> Arm:
    spec = ArmSpec(name, description, capabilities, _IN, _OUT, cost, seconds, calls, at_once)
    return Arm(spec, run, health)


_ROWS = (
    _arm("coder", "Writes and changes code, judged as any edit.", Capability.CODE,
         run=action_arms.run_action, health=action_arms.model_health, cost=4, seconds=20.0, calls=2),
    _arm("tester", "Writes tests that are run and that find planted errors.", Capability.TESTS,
         run=action_arms.run_action, health=action_arms.model_health, cost=4, seconds=30.0, calls=2),
    _arm("executor", "Runs a command in the sandbox, on the project as the steps left it.", Capability.EXECUTION,
         run=executor.run_command, health=executor.sandbox_health, cost=2, seconds=5.0, at_once=2),
    _arm("analyst", "Writes programs that read data and make tables and pictures, and runs them in the sandbox.",
         Capability.DATA,
         run=analyst.compute, health=executor.sandbox_health, cost=4, seconds=40.0, calls=2, at_once=2),
    _arm("judge", "Runs the examples and the project's tests on all changes together.", Capability.VALIDATION,
         run=judge.check, health=executor.sandbox_health, cost=1, seconds=10.0, at_once=1),
    _arm("reviewer", "Reads changed code with the findings of tools.", Capability.REVIEW, Capability.VALIDATION,
         run=action_arms.review, health=action_arms.model_health, cost=3, seconds=15.0, calls=1),
    _arm("retriever", "Finds definitions of the workspace and remembered solutions.", Capability.SEARCH,
         run=retriever.find, health=retriever.index_health, cost=1, seconds=0.5),
    _arm("guardian", "Looks for secrets, dangerous calls and words for a model in what was added.", Capability.SAFETY,
         run=guardian.guard, cost=1, seconds=0.5),
)  # fmt: skip

BUILT_IN: Mapping[str, Arm] = MappingProxyType({arm.spec.name: arm for arm in _ROWS})
"""The built-in arms."""


@dataclass(frozen=True, slots=True)
class Arms:
    """All arms by name, and a sentence for each that is left out."""

    by_name: Mapping[str, Arm]
    problems: tuple[str, ...] = ()


@cache
def all_arms() -> Arms:
    """The built-in arms and those of packages. Imports third-party packages at first use."""
    found = packaged(frozenset(BUILT_IN))
    return Arms({**BUILT_IN, **{arm.spec.name: arm for arm in found.arms}}, found.problems)
