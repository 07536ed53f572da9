"""The text of a plan: what a model replies, and the Markdown document that a user edits, in one form.

1. debug | prices.py | discount | take a fraction        - [x] 1. debug | prices.py | discount | take a fraction
   accept: example discount(10, 0.5) == 5                  - accept: example discount(10, 0.5) == 5
   needs: none                                              - needs: none
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.api.plan import STEP_KINDS, CriterionKind, Plan, TaskPriority, plan_path

_STEP = re.compile(
    r"^[\s>*-]*(?:\[(?P<tick>[ xX])\]\s*)?(?:(?:step\s*)?(?P<number>\d{1,2})\s*[.):]\s*)?(?P<action>[*`]*[a-z]+[*`]*)"
    r"\s*\|(?P<rest>.+)$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^[\s>*-]*(?P<key>[a-z]+)\s*:\s*(?P<value>.+)$", re.IGNORECASE)
_GOAL = re.compile(r"^#\s*Plan:\s*(?P<goal>.+)$", re.MULTILINE)
_NOTHING = "-"
"""What stands for no file, and for no unit."""
_NONE_WORDS = frozenset({"", "none", "-", "nothing", "no"})


@dataclass(frozen=True, slots=True)
class StepText:
    """A step as it is written: nothing of it is checked yet. `line` counts from 1; `number` is None if not written.

    `needs` is None if nothing is written about it.
    """

    action: str
    cells: tuple[str, ...]
    line: int
    number: int | None = None
    enabled: bool = True
    needs: tuple[int, ...] | None = None
    criteria: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    arm: str = ""


@dataclass(frozen=True, slots=True)
class PlanText:
    """A plan as it is written: its steps in their order, and what precedes them."""

    steps: tuple[StepText, ...] = ()
    goal: str = ""
    question: str = ""
    libraries: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    priority: str = ""
    deadline: str = ""
    unread: tuple[int, ...] = field(default=())
    """Lines that look like steps and are none, from 1."""


def read_text(text: str) -> PlanText:
    """The steps and fields of a text; other lines are ignored."""
    steps: list[dict[str, object]] = []
    head: dict[str, list[str]] = {"ask": [], "libraries": [], "constraint": [], "priority": [], "deadline": []}
    goal = _GOAL.search(text)
    unread = []
    for line, words in enumerate(text.splitlines(), 1):
        match = _STEP.match(words)
        if match is not None:
            action = match["action"].strip("*`").lower()
            if action in STEP_KINDS:
                cells = tuple(cell.strip().strip("`*").strip() for cell in match["rest"].split("|"))
                number = None if match["number"] is None else int(match["number"])
                enabled = match["tick"] != " "
                steps.append({"action": action, "cells": cells, "line": line, "number": number, "enabled": enabled})
            elif match["number"] or match["tick"]:
                unread.append(line)
        elif (found := _FIELD.match(words)) is not None:
            key, value = found["key"].lower(), found["value"].strip()
            if steps and key in _STEP_FIELDS:
                steps[-1] |= _STEP_FIELDS[key](steps[-1], value)
            elif not steps and key in head and value.lower() not in _NONE_WORDS:
                head[key].append(value)
    libraries = tuple(name for value in head["libraries"] for name in _listed(value))
    return PlanText(
        tuple(StepText(**each) for each in steps),  # type: ignore[arg-type]
        goal["goal"].strip() if goal else "",
        next(iter(head["ask"]), ""),
        libraries,
        tuple(head["constraint"]),
        next(iter(head["priority"]), "").lower(),
        next(iter(head["deadline"]), ""),
        tuple(unread),
    )


def write_text(plan: Plan, reasons: Sequence[str] = ()) -> str:
    """The plan as a Markdown document that `read_text` reads; `reasons` are those of the routes, one for each step."""
    intent = plan.intent
    lines = [f"# Plan: {intent.goal}", ""]
    lines += [f"understood: {intent.confidence}", f"confidence: {plan.confidence}"]
    lines += [f"constraint: {each}" for each in intent.constraints]
    lines += [f"libraries: {', '.join(intent.libraries)}"] if intent.libraries else []
    lines += [f"priority: {plan.priority}"] if plan.priority is not TaskPriority.NORMAL else []
    lines += [f"deadline: {plan.deadline:g} s"] if plan.deadline is not None else []
    lines += [""] if len(lines) > 2 else []
    for at, step in enumerate(plan.steps):
        name = step.unit or step.new or ("new" if STEP_KINDS[step.action].edits else _NOTHING)
        file = _NOTHING if step.path == plan.root else plan_path(step.path, plan.root)
        lines.append(
            f"- [{'x' if step.enabled else ' '}] {step.number}. {step.action} | {file} | {name} | {step.instruction}"
        )
        lines += [f"  - accept: {each}" for each in step.criteria] or [f"  - unchecked: {UNCHECKED}"]
        lines.append(f"  - needs: {', '.join(map(str, step.needs)) or 'none'}")
        lines += [f"  - files: {', '.join(plan_path(each, plan.root) for each in step.files)}"] if step.files else []
        lines += [f"  - arm: {step.arm}"] if step.arm else []
        if step.estimate is not None:
            lines.append(f"  - estimate: {step.estimate.calls} calls, {step.estimate.seconds:.0f} s")
        lines += [f"  - route: {reasons[at]}"] if at < len(reasons) else []
    return "\n".join([*lines, "", _HOW, ""])


UNCHECKED = "no acceptance criterion"
"""What is said of a step that ends in a report, and of which the plan says nothing that a machine can check."""

_HOW = (
    "> Untick a step to leave it out, change its words, or move it. `understood`, `confidence`,\n"
    "> `unchecked`, `estimate` and `route` are for information.\n"
    f"> Steps: {', '.join(STEP_KINDS)}. Acceptance: {', '.join(CriterionKind)}."
)


def _accept(step: dict[str, object], value: str) -> dict[str, object]:
    kind, _, text = value.partition(" ")
    before = step.get("criteria", ())
    assert isinstance(before, tuple)
    return {"criteria": (*before, (kind.lower().strip("`:"), text.strip().strip("`")))}


_STEP_FIELDS: Mapping[str, Callable[[dict[str, object], str], dict[str, object]]] = {
    "needs": lambda _, value: {"needs": tuple(map(int, re.findall(r"\d+", value)))},
    "accept": _accept,
    "files": lambda _, value: {"files": _listed(value)},
    "arm": lambda _, value: {"arm": value.strip("`").lower()},
}


def _listed(value: str) -> tuple[str, ...]:
    return tuple(name for each in value.split(",") if (name := each.strip().strip("`")).lower() not in _NONE_WORDS)
