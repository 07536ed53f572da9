"""The plan of a task: from a text of a model or a user to steps that are checked, or the first problem of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.planning import dependencies
from stet_ls.engine.actions.planning.libraries import library_problem
from stet_ls.engine.actions.planning.plan_text import PlanText, StepText, read_text
from stet_ls.engine.actions.planning.project import Project
from stet_ls.engine.actions.planning.schedule import schedule_of
from stet_ls.engine.api.actions import spec_of
from stet_ls.engine.api.evidence import Check, JudgedEdits
from stet_ls.engine.api.plan import (
    MOST_STEPS,
    STEP_KINDS,
    Criterion,
    CriterionKind,
    Plan,
    PlanConfidence,
    PlanStep,
    RequestIntent,
)
from stet_ls.engine.loop import UnusableReply
from stet_ls.engine.plurals import plural
from stet_ls.engine.prompt.task_spec import TaskSpec
from stet_ls.engine.reply.parsing.repetition import loop_start
from stet_ls.engine.reply.parsing.reply_spec import REPEATED
from stet_ls.validators.containment import is_inside

TASK = TaskSpec(
    goal="Plan the change, step by step. Do not write it.",
    reply_kind="plan",
    rules=(
        "As few steps as will do; one is often enough.",
        "Every step changes one function, method or class, or adds a new one.",
        "Name only files that are listed, or a new one beside them.",
        "A step may rely on the steps before it.",
    ),
)

_CELLS = 3
"""Cells after the action: file, name and instruction; the last may contain a bar."""
_LEAST_CRITERIA, _MOST_CRITERIA = 2, 3
_NEW = frozenset({"", "new", "-", "none", "n/a"})
_JUDGES = frozenset(check.value for check in Check)


@dataclass(frozen=True, slots=True)
class PlanRules:
    """What a plan is checked against: the project, the packages that the user allows, and the names of the arms."""

    about: Project
    intent: RequestIntent
    allowed: frozenset[str] = frozenset()
    arms: frozenset[str] = frozenset()


def read_plan(text: str, rules: PlanRules) -> Plan | UnusableReply:
    """The plan in a model's reply, of at most `MOST_STEPS`; UnusableReply with the first problem, for the next try."""
    if loop_start(text) is not None:
        return UnusableReply(REPEATED)
    written = read_text(text)
    if any(len(each.cells) > _CELLS and len(set(each.cells)) < len(each.cells) for each in written.steps):
        return UnusableReply(REPEATED)
    if written.question and not written.steps:
        return Plan(replace(rules.intent, question=written.question), rules.about.root, ())
    if not written.steps:
        return UnusableReply("The reply has no line of the form: action | file | name | what to do.")
    plan = checked_plan(written, rules)
    if isinstance(plan, UnusableReply):
        return plan
    plan = replace(plan, confidence=_of_model(plan))
    known: dict[tuple[object, ...], PlanStep] = {}
    for step in plan.steps:
        known.setdefault((step.action, step.path, step.unit, step.instruction), step)
    if len(known) == len(plan.steps) <= MOST_STEPS:
        return plan
    kept = list(known.values())[:MOST_STEPS]
    numbers = {step.number: at for at, step in enumerate(kept, 1)}
    return replace(plan, steps=tuple(_renumbered(step, numbers) for step in kept))


def read_edited(text: str, rules: PlanRules) -> Plan | UnusableReply:
    """The plan in a document that a user edited; every step counts, and a problem names its line."""
    written = read_text(text)
    if written.unread:
        return UnusableReply(f"Line {written.unread[0]} is no step: a step begins with one of {', '.join(STEP_KINDS)}.")
    if not written.steps:
        return UnusableReply("The plan has no steps: a step is a line `- [x] 1. action | file | name | what to do`.")
    if len(written.steps) > MOST_STEPS:
        return UnusableReply(f"The plan has {len(written.steps)} steps; at most {MOST_STEPS} are possible.")
    try:
        schedule_of(written)
    except ValueError as error:
        return UnusableReply(str(error))
    plan = checked_plan(written, rules)
    return plan if isinstance(plan, UnusableReply) else replace(plan, confidence=_BY_USER)


_BY_USER = PlanConfidence(1.0, 1.0, "the user's plan")
_BY_RULE = PlanConfidence(0.9, 1.0, "rules: one step")


def _of_model(plan: Plan) -> PlanConfidence:
    """Wide: nothing checks that a model's steps do what is wanted. The more they change what is there, the surer."""
    edits = [step for step in plan.steps if STEP_KINDS[step.action].edits]
    known = sum(bool(step.unit) for step in edits)
    low = 0.2 + 0.2 * known / len(edits) if edits else 0.4
    return PlanConfidence(
        round(low, 2), 0.9, f"the model's plan; {known} of {plural(len(edits), 'edit')} of known code"
    )


def checked_plan(written: PlanText, rules: PlanRules) -> Plan | UnusableReply:
    """The plan that a text means, in the order of its lines, or the problem of the first wrong line.

    A user may have reordered the lines: what a step needs is written by the numbers in the text, and the steps get
    new ones.
    """
    intent = replace(
        rules.intent,
        libraries=tuple(dict.fromkeys((*rules.intent.libraries, *written.libraries))),
        constraints=tuple(dict.fromkeys((*rules.intent.constraints, *written.constraints))),
    )
    if why := library_problem(intent.libraries, rules.about.root, rules.allowed):
        return UnusableReply(why)
    numbers: dict[int, int] = {}
    for at, each in enumerate(written.steps, 1):
        if each.number is not None and each.number in numbers:
            return UnusableReply(f"Line {each.line}: there are two steps with the number {each.number}.")
        numbers[at if each.number is None else each.number] = at
    steps: list[PlanStep] = []
    for at, each in enumerate(written.steps, 1):
        step = _step(at, each, rules, steps)
        if isinstance(step, UnusableReply):
            return step
        steps.append(step)
    needs: dict[int, tuple[int, ...] | None] = {}
    for at, each in enumerate(written.steps, 1):
        if each.needs is None:
            continue
        if unknown := [number for number in each.needs if number not in numbers]:
            return UnusableReply(f"Step {each.number or at} needs step {unknown[0]}, which does not exist.")
        needs[at] = tuple(numbers[number] for number in each.needs)
    steps = dependencies.with_needs(steps, needs, rules.about)
    if why := dependencies.problem(steps):
        return UnusableReply(why)
    return next((UnusableReply(why) for step in steps if (why := _second(step, steps, rules.about))), None) or Plan(
        intent, rules.about.root, tuple(steps)
    )


def single_step_plan(action: str, file: str, unit: str, words: str, rules: PlanRules) -> Plan:
    """The plan of a request that is one action on a known unit."""
    step = PlanStep(1, action, rules.about.root / file, unit, words)
    return Plan(rules.intent, rules.about.root, (with_criteria(step),), confidence=_BY_RULE)


def with_criteria(step: PlanStep) -> PlanStep:
    """The step with two or three criteria: where the plan says fewer, that no judge of its action refutes the step.

    Steps without an edit end in a report, of which no judge knows whether it is right.
    """
    judged_as = spec_of(step.action).judged_as if STEP_KINDS[step.action].edits else ()
    checks = [Check.DIFFERENTIAL] if JudgedEdits.SAME_BEHAVIOR in judged_as else []
    runs = JudgedEdits.RUNS in judged_as or (bool(judged_as) and spec_of(step.action).writes_tests)
    checks += [Check.TESTS] if runs or step.action == "check" else []
    checks += [Check.NAMES, Check.SYNTAX] if JudgedEdits.CODE in judged_as else []
    usual = [Criterion(CriterionKind.JUDGE, check.value) for check in checks]
    more = [each for each in usual if each not in step.criteria] if len(step.criteria) < _LEAST_CRITERIA else []
    return replace(step, criteria=(*step.criteria, *more)[: max(_MOST_CRITERIA, len(step.criteria))])


def _step(number: int, each: StepText, rules: PlanRules, earlier: Sequence[PlanStep]) -> PlanStep | UnusableReply:
    about, cells = rules.about, list(each.cells)
    if len(cells) < 2 or not cells[-1]:
        return UnusableReply(f"The step {each.action!r} names no file or no instruction.")
    file, unit, what = cells[0], cells[1] if len(cells) > 2 else "", cells[-1]
    kind = STEP_KINDS[each.action]
    path = about.place(file) if file not in _NEW or kind.edits else about.root
    if path is None and kind.makes:
        path = about.data(file)
    if path is None:
        return UnusableReply(
            f"The plan names {file!r}, which is not a file of this project, nor a place for a new one."
        )
    files = _files(each.files, about)
    if isinstance(files, UnusableReply):
        return files
    criteria = _criteria(each, about)
    if isinstance(criteria, UnusableReply):
        return criteria
    if each.arm and each.arm not in rules.arms:
        return UnusableReply(
            f"Line {each.line}: there is no arm {each.arm!r}; there are {', '.join(sorted(rules.arms))}."
        )
    step = PlanStep(
        number, each.action, path, "", what, files=files, criteria=criteria, arm=each.arm, enabled=each.enabled
    )
    added = frozenset(other.new for other in earlier if other.path == path)
    found = _with_unit(step, unit, file, about, added)
    return found if isinstance(found, UnusableReply) else with_criteria(found)


def _with_unit(
    step: PlanStep, unit: str, file: str, about: Project, added: Collection[str]
) -> PlanStep | UnusableReply:
    """The step with its unit: one of the file, or one that an earlier step adds to it."""
    if not STEP_KINDS[step.action].edits:
        return replace(step, unit="" if unit.lower() in _NEW else unit)
    relative = about.name_of(step.path)
    unit = unit.partition("(")[0].removeprefix("def ").removeprefix("class ").strip()
    named = [name for name in about.defined(relative) if name == unit or name.rpartition(".")[2] == unit]
    if len(named) == 1:
        return replace(step, unit=named[0])
    if spec_of(step.action).adds_code:
        new = "" if unit.lower() in _NEW else unit
        what = step.instruction
        return replace(step, instruction=what if new in what else f"{what} (`{new}`)", new=new)
    if relative in about.files and unit.lower() in _NEW:
        return step
    if unit in added:
        return replace(step, unit=unit)
    return UnusableReply(f"The plan says to {step.action} {unit!r}, which {file} does not define.")


def _files(names: Sequence[str], about: Project) -> tuple[Path, ...] | UnusableReply:
    """Further files of a step. Any of the workspace may be read, none outside of it."""
    paths = []
    for name in names:
        path = about.place(name) or about.root / name
        if Path(name).is_absolute() or not is_inside(path, about.root) or ".." in Path(name).parts:
            return UnusableReply(f"The plan names {name!r}, which is outside of the workspace {about.root.name}.")
        paths.append(path)
    return tuple(paths)


def _criteria(each: StepText, about: Project) -> tuple[Criterion, ...] | UnusableReply:
    """What a machine can check. A kind that does not exist is a problem: words alone prove nothing."""
    criteria = []
    for kind, text in each.criteria:
        if kind not in set(CriterionKind) or not text:
            kinds = ", ".join(CriterionKind)
            return UnusableReply(
                f"Line {each.line}: {kind!r} is no acceptance criterion that can be checked; use {kinds}."
            )
        if kind == CriterionKind.JUDGE and text not in _JUDGES:
            return UnusableReply(
                f"Line {each.line}: there is no judge {text!r}; there are {', '.join(sorted(_JUDGES))}."
            )
        file = text.partition("::")[0]
        if kind == CriterionKind.TEST and (Path(file).is_absolute() or not is_inside(about.root / file, about.root)):
            return UnusableReply(f"Line {each.line}: the test {text!r} is outside of the workspace.")
        criteria.append(Criterion(CriterionKind(kind), text))
    return tuple(criteria)


def _second(step: PlanStep, plan: Collection[PlanStep], about: Project) -> str:
    """The problem with a new file for a name that another file defines; "" if the plan changes that file too."""
    if not step.new or about.name_of(step.path) in about.files:
        return ""
    for file in about.defining({step.new}):
        if step.new in about.defined(file) and not any(each.path == about.root / file for each in plan):
            return f"The plan puts {step.new!r} into the new file {step.path.name}, but {file} already defines it."
    return ""


def _renumbered(step: PlanStep, numbers: dict[int, int]) -> PlanStep:
    needs = tuple(numbers[each] for each in step.needs if each in numbers)
    return replace(step, number=numbers[step.number], needs=needs)
