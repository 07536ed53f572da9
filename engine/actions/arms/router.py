"""Chooses the arm of each step: by capability, health, measured success and cost, and keeps the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from stet_ls.engine.actions.arms.arm import Arm
from stet_ls.engine.api.arms import ArmHealth, ArmSpec, ArmState, Capability, Route
from stet_ls.engine.api.plan import STEP_KINDS, Plan, PlanStep, StepEstimate
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import ArmUse, LedgerEntry, LedgerFile, days_ago

_CAPABILITY, _AVAILABILITY, _SUCCESS, _COST = 0.4, 0.2, 0.3, 0.1
"""Weights of the parts of a score."""
_AVAILABLE = {ArmState.HEALTHY: 1.0, ArmState.DEGRADED: 0.5, ArmState.DOWN: 0.0}
_TIERS = 5
_SECONDARY = 0.8
"""How well an arm fits what is not the first of its capabilities."""
_DAYS = 30
_DONE = ("offered",)
_PROMPT, _REPLY = 1500, 400
"""Tokens of a usual call of a step."""


class Router:
    """Routes the steps of one task. Each arm's health is looked up once."""

    def __init__(self, job: Job, arms: Mapping[str, Arm]) -> None:
        self._job, self._arms = job, arms
        self._health: dict[str, ArmHealth] = {}
        self._used: Mapping[str, ArmUse] = {}

    async def prepare(self) -> None:
        """Looks up the health and the record of all arms."""
        names = list(self._arms)
        found = await asyncio.gather(*(self._arms[name].health(self._job) for name in names))
        self._health = dict(zip(names, found, strict=True))
        if self._job.ledger is not None:
            self._used = await asyncio.to_thread(measured_arms, self._job.ledger, self._arms)

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

    def estimate(self, step: PlanStep, route: Route) -> StepEstimate:
        """What the step may take, as its arm's steps took so far, or by the model's measured speed."""
        spec = self._arms[route.arm].spec
        used = self._used.get(route.arm, ArmUse())
        if used.tried:
            return StepEstimate(spec.calls, used.seconds / used.tried)
        call = self._job.profile.seconds_for(_PROMPT, _REPLY) if spec.calls else None
        return StepEstimate(spec.calls, spec.seconds if call is None else spec.calls * call)

    def _scored(self, spec: ArmSpec, capability: Capability) -> Route:
        fit = 1.0 if spec.capabilities[0] is capability else _SECONDARY
        health = self._health.get(spec.name, ArmHealth())
        used = self._used.get(spec.name, ArmUse())
        success = (used.done + 1) / (used.tried + 2)  # Laplace's rule: an arm without a record is worth one half
        cheap = (_TIERS - spec.cost) / (_TIERS - 1)
        score = _CAPABILITY * fit + _AVAILABILITY * _AVAILABLE[health.state] + _SUCCESS * success + _COST * cheap
        state = health.state.value if not health.reason else f"{health.state} ({health.reason})"
        record = f"{used.done} of {used.tried} steps done" if used.tried else "no steps yet"
        reason = f"`{spec.name}` {score:.2f}: {capability}, {state}, {record}, cost {spec.cost} of {_TIERS}"
        return Route(spec.name, round(score, 3), reason)


async def route_plan(job: Job, plan: Plan, arms: Mapping[str, Arm]) -> tuple[Plan, dict[int, Route | str]]:
    """The plan with estimates, and the route of each step by its number."""
    router = Router(job, arms)
    await router.prepare()
    routes = {step.number: router.route(step) for step in plan.steps}
    steps = []
    for step in plan.steps:
        route = routes[step.number]
        steps.append(step if isinstance(route, str) else replace(step, estimate=router.estimate(step, route)))
    return replace(plan, steps=tuple(steps)), routes


def measured_arms(ledger: LedgerFile, arms: Mapping[str, Arm]) -> dict[str, ArmUse]:
    """What each arm did in the last days: as a step of a task, or as a job of its own. Reads files."""
    used: dict[str, ArmUse] = {}
    for entry in ledger.entries(since=days_ago(_DAYS)):
        for name, use in _uses(entry, arms):
            used[name] = used.get(name, ArmUse()).plus(use)
    return used


def _uses(entry: LedgerEntry, arms: Mapping[str, Arm]) -> list[tuple[str, ArmUse]]:
    if entry.arms:
        return [
            (name, ArmUse(int(row.get("tried", 0)), int(row.get("done", 0)), float(row.get("seconds", 0.0))))
            for name, row in entry.arms.items()
        ]
    kind = STEP_KINDS.get(entry.action)
    if kind is None:
        return []
    use = ArmUse(1, int(entry.ended in _DONE), entry.seconds)
    return [(name, use) for name, arm in arms.items() if arm.spec.capabilities[0] is kind.capability]
