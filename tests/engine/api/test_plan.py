"""A plan as data: which steps depend on which, and what it is as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from stet_ls.engine.api.actions import STEPS
from stet_ls.engine.api.arms import Capability
from stet_ls.engine.api.plan import (
    STEP_KINDS,
    Criterion,
    CriterionKind,
    Plan,
    PlanStep,
    RequestIntent,
    StepEstimate,
    dependents,
)

ROOT = Path("/p")


def step(number: int, *needs: int, **fields: object) -> PlanStep:
    return PlanStep(number, "debug", ROOT / "a.py", "", "mend it", needs=needs, **fields)  # type: ignore[arg-type]


def test_only_steps_that_need_a_failed_one_depend_on_it() -> None:
    steps = [step(1), step(2, 1), step(3), step(4, 2, 3), step(5, 3)]
    assert dependents(steps, 1) == {2, 4}
    assert dependents(steps, 3) == {4, 5}
    assert dependents(steps, 5) == set()


def test_every_action_of_a_step_says_what_it_needs() -> None:
    assert set(STEPS) < set(STEP_KINDS)
    assert STEP_KINDS["test"].capability is Capability.TESTS
    assert not STEP_KINDS["check"].edits


def test_a_plan_as_json_names_files_relative_to_its_root() -> None:
    criterion = Criterion(CriterionKind.EXAMPLE, "f(1) == 2")
    plan = Plan(
        RequestIntent("mend"), ROOT, (step(1, criteria=(criterion,), estimate=StepEstimate(2, 1.25), enabled=False),)
    )
    data = json.loads(json.dumps(plan.to_json()))
    assert data["steps"][0]["file"] == "a.py"
    assert data["steps"][0]["criteria"] == [{"kind": "example", "text": "f(1) == 2"}]
    assert data["steps"][0]["estimate"] == {"calls": 2, "seconds": 1.2}
    assert plan.enabled == ()
