"""The arms that ask a model: coder and tester run the action of their step, the reviewer reads what was changed."""

from __future__ import annotations

import asyncio

from stet_ls.engine.actions.action import built_in
from stet_ls.engine.actions.arms.arm import ArmNeeds, StepRun
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import ArmHealth, ArmState

_REVIEW = "analyze"
"""The action that reads code and finds what is wrong with it."""


async def run_action(run: StepRun) -> Answer:
    """The answer of the action that the step names."""
    return await built_in(run.step.action).run(run.job)


async def review(run: StepRun) -> Answer:
    """What tools and the model find in the file as the steps so far left it."""
    return await built_in(_REVIEW).run(run.job)


async def model_health(needs: ArmNeeds) -> ArmHealth:
    """Whether a model would answer, as far as that is known at once: routing waits for no slow endpoint."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            known = await needs.models.health()
    except TimeoutError:
        return ArmHealth()
    state = str(known["status"])
    return _STATES.get(state, ArmHealth(ArmState.DEGRADED, f"model {state}"))


_TIMEOUT = 0.03
_STATES = {
    "ready": ArmHealth(),
    "asleep": ArmHealth(),
    "absent": ArmHealth(ArmState.DOWN, "no model"),
    "off": ArmHealth(ArmState.DOWN, "no model"),
}
