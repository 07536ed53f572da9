"""Which steps of a plan need which: as written, or as their files and words show; and whether that can be done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.api.plan import STEP_KINDS, PlanStep


def with_needs(
    steps: Sequence[PlanStep], written: Mapping[int, tuple[int, ...] | None], about: Project
) -> list[PlanStep]:
    """The steps with what they need: what is `written` of a step by number, else what can be read from the step."""
    done: list[PlanStep] = []
    for step in steps:
        known = written.get(step.number)
        needs = known if known is not None else tuple(e.number for e in done if _follows(step, e, about))
        # Two steps that change one file never run side by side, whatever is written.
        same = tuple(each.number for each in done if each.path == step.path and _edits(each) and _edits(step))
        done.append(replace(step, needs=tuple(dict.fromkeys((*needs, *same)))))
    return done


def problem(steps: Sequence[PlanStep]) -> str:
    """The sentence about a dependency that cannot be met; "" if all can."""
    numbers = [step.number for step in steps]
    for step in steps:
        if unknown := [each for each in step.needs if each not in numbers]:
            return f"Step {step.number} needs step {unknown[0]}, which does not exist."
        if step.number in step.needs:
            return f"Step {step.number} needs itself."
    left = {step.number: set(step.needs) for step in steps}
    while free := [number for number, needs in left.items() if not needs & left.keys()]:
        for number in free:
            del left[number]
    if left:
        circle = _circle({number: needs & left.keys() for number, needs in left.items()})
        return f"Circular dependency: {' needs '.join(f'step {each}' for each in circle)}."
    return ""


def _circle(left: Mapping[int, set[int]]) -> list[int]:
    """The numbers of a circle, the first of them repeated at its end."""
    path = [min(left)]
    while (after := min(left[path[-1]])) not in path:
        path.append(after)
    return [*path[path.index(after) :], after]


def _edits(step: PlanStep) -> bool:
    return STEP_KINDS[step.action].edits


def _leaves_files(step: PlanStep) -> bool:
    return _edits(step) or STEP_KINDS[step.action].makes


def _follows(step: PlanStep, earlier: PlanStep, about: Project) -> bool:
    """Whether a step uses what an earlier one changes: the same file, a name that it mentions, a file that it imports.

    A report depends on all edits and files before it, and what comes after a search may use it.
    """
    if not _edits(step):
        return _leaves_files(earlier)
    if not _edits(earlier):
        return True
    if step.path == earlier.path:
        return True
    name = (earlier.unit or earlier.new).rpartition(".")[2]
    words = f"{step.instruction} {step.unit}"
    if (name and re.search(rf"\b{re.escape(name)}\b", words)) or earlier.path.name in words:
        return True
    return _mentions(about.files.get(about.name_of(step.path), ""), earlier.path)


def _mentions(text: str, path: Path) -> bool:
    """Whether a text imports a file, by a line of an import that has its stem."""
    stem = path.stem if path.stem != "__init__" else path.parent.name
    imports = re.compile(rf"\b(?:import|from|require|use|include)\b.*\b{re.escape(stem)}\b")
    return any(stem in line and imports.search(line) is not None for line in text.splitlines())
