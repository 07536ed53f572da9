"""The arms by name: the built-in ones, one row each, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from stet_ls.engine.actions.arms import action_arms, analyst, executor, guardian, judge, retriever
from stet_ls.engine.actions.arms.arm import Arm, StepInput, StepOutput
from stet_ls.engine.actions.arms.packages import packaged
from stet_ls.engine.api.arms import ArmSpec, Capability

_IN, _OUT = StepInput.model_json_schema(), StepOutput.model_json_schema()

_ROWS = (
    Arm(
        ArmSpec(
            "coder", "Writes and changes code, judged as any edit.", (Capability.CODE,), _IN, _OUT,
            cost=4, seconds=20.0, calls=2,
        ),
        action_arms.run_action,
        action_arms.model_health,
    ),
    Arm(
        ArmSpec(
            "tester", "Writes tests that are run and that find planted errors.", (Capability.TESTS,), _IN, _OUT,
            cost=4, seconds=30.0, calls=2,
        ),
        action_arms.run_action,
        action_arms.model_health,
    ),
    Arm(
        ArmSpec(
            "executor", "Runs a command in the sandbox, on the project as the steps left it.",
            (Capability.EXECUTION,), _IN, _OUT, cost=2, seconds=5.0, at_once=2,
        ),
        executor.run_command,
        executor.sandbox_health,
    ),
    Arm(
        ArmSpec(
            "analyst", "Writes programs that read data and make tables and pictures, and runs them in the sandbox.",
            (Capability.DATA,), _IN, _OUT, cost=4, seconds=40.0, calls=2, at_once=2,
        ),
        analyst.compute,
        executor.sandbox_health,
    ),
    Arm(
        ArmSpec(
            "judge", "Runs the examples and the project's tests on all changes together.",
            (Capability.VALIDATION,), _IN, _OUT, cost=1, seconds=10.0, at_once=1,
        ),
        judge.check,
        executor.sandbox_health,
    ),
    Arm(
        ArmSpec(
            "reviewer", "Reads changed code with the findings of tools.", (Capability.REVIEW, Capability.VALIDATION),
            _IN, _OUT, cost=3, seconds=15.0, calls=1,
        ),
        action_arms.review,
        action_arms.model_health,
    ),
    Arm(
        ArmSpec(
            "retriever", "Finds definitions of the workspace and remembered solutions.", (Capability.SEARCH,),
            _IN, _OUT, cost=1, seconds=0.5,
        ),
        retriever.find,
        retriever.index_health,
    ),
    Arm(
        ArmSpec(
            "guardian", "Looks for secrets, dangerous calls and words for a model in what was added.",
            (Capability.SAFETY,), _IN, _OUT, cost=1, seconds=0.5,
        ),
        guardian.guard,
    ),
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
