"""Chooses the arm of each step: by capability, health, measured success and cost, and keeps the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from stet_ls.engine.actions.arms.arm import Arm, ArmNeeds
from stet_ls.engine.actions.arms.measured import ArmRecord, measured_arms, speed, worse
from stet_ls.engine.api.arms import ArmHealth, ArmSpec, ArmState, Capability, Route
from stet_ls.engine.api.plan import Plan, PlanStep, StepEstimate
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import LedgerFile

_CAPABILITY, _AVAILABILITY, _SUCCESS, _COST = 0.4, 0.2, 0.3, 0.1
"""Weights of the parts of a score; half of the cost is the tier, half the seconds of a step."""
_AVAILABLE = {ArmState.HEALTHY: 1.0, ArmState.DEGRADED: 0.5, ArmState.DOWN: 0.0}
_TIERS = 5
_SECONDARY = 0.8
"""How well an arm fits what is not the first of its capabilities."""
_PROMPT, _REPLY = 1500, 400
"""Tokens of a usual call of a step."""


class Router:
    """Routes the steps of one task by what was looked up before its first step."""

    def __init__(self, job: Job, arms: Mapping[str, Arm]) -> None:
        self._job, self._arms = job, arms
        self._health: dict[str, ArmHealth] = {}
        self._records: Mapping[str, ArmRecord] = {}

    async def prepare(self) -> None:
        """Looks up the health and the record of all arms."""
        self._health, self._records = await looked_up(self._job, self._job.ledger, self._arms)

    def route(self, step: PlanStep) -> Route | str:
        """The arm for a step, or why there is none."""
        able = [arm.spec for arm in self._arms.values() if step.capability in arm.spec.capabilities]
        if step.arm:
            able = [spec for spec in able if spec.name == step.arm]
        if not able:
            which = f"the arm {step.arm!r} cannot do" if step.arm else "no arm can do"
            return f"{which} {step.capability}"
        routes = sorted((self._scored(spec, step.capability) for spec in able), key=lambda each: -each.score)
        best = routes[0]
        if (health := self._health.get(best.arm, ArmHealth())).state is ArmState.DOWN:
            return f"`{best.arm}` cannot work: {health.reason}"
        others = ", ".join(f"`{each.arm}` {each.score:.2f}" for each in routes[1:])
        return replace(best, reason=f"{best.reason}{f'; before {others}' if others else ''}")

    def estimate(self, route: Route) -> StepEstimate:
        """What a step may take, as its arm's steps took so far, or by the model's measured speed."""
        spec = self._arms[route.arm].spec
        measured = self._records.get(route.arm, ArmRecord()).seconds
        if measured is not None:
            return StepEstimate(spec.calls, measured)
        call = self._job.profile.seconds_for(_PROMPT, _REPLY) if spec.calls else None
        return StepEstimate(spec.calls, spec.seconds if call is None else spec.calls * call)

    def _scored(self, spec: ArmSpec, capability: Capability) -> Route:
        fit = 1.0 if spec.capabilities[0] is capability else _SECONDARY
        health = self._health.get(spec.name, ArmHealth())
        record = self._records.get(spec.name, ArmRecord())
        cheap = ((_TIERS - spec.cost) / (_TIERS - 1) + speed(record, spec.seconds)) / 2
        score = _CAPABILITY * fit + _AVAILABILITY * _AVAILABLE[health.state]
        score += _SUCCESS * record.success + _COST * cheap
        state = health.state.value if not health.reason else f"{health.state} ({health.reason})"
        done = "no steps yet"
        if record.seconds is not None:
            done = f"{record.use.done} of {record.use.tried} steps done, {record.seconds:.1f} s each"
        reason = f"`{spec.name}` {score:.2f}: {capability}, {state}, {done}, cost {spec.cost} of {_TIERS}"
        return Route(spec.name, round(score, 3), reason)


async def route_plan(job: Job, plan: Plan, arms: Mapping[str, Arm]) -> tuple[Plan, dict[int, Route | str]]:
    """The plan with estimates, and the route of each step by its number."""
    router = Router(job, arms)
    await router.prepare()
    routes = {step.number: router.route(step) for step in plan.steps}
    steps = []
    for step in plan.steps:
        route = routes[step.number]
        steps.append(step if isinstance(route, str) else replace(step, estimate=router.estimate(route)))
    return replace(plan, steps=tuple(steps)), routes


async def looked_up(
    needs: ArmNeeds, ledger: LedgerFile | None, arms: Mapping[str, Arm]
) -> tuple[dict[str, ArmHealth], Mapping[str, ArmRecord]]:
    """The health and the record of each arm. Arms that need the same, such as the model, share one look at it."""
    looks = list({arm.health for arm in arms.values()})
    found = dict(zip(looks, await asyncio.gather(*(look(needs) for look in looks)), strict=True))
    records = {} if ledger is None else await asyncio.to_thread(measured_arms, ledger, arms)
    moment = datetime.now(UTC)
    health = {
        name: worse(found[arm.health], records.get(name, ArmRecord()).health(moment)) for name, arm in arms.items()
    }
    return health, records
