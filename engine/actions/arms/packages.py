"""Arms of installed packages: the entry points of the group `stet.arms`, each loaded separately.

class Translate(BaseModel):             # what the arm gets: any fields of StepInput
    file: str
    files: dict[str, str]

async def run(step: Translate) -> StepOutput: ...

ARM = CustomArm("translator", "Translates messages.", (Capability.CODE,), Translate, StepOutput, run)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel, ValidationError

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.arms.arm import Arm, StepInput, StepOutput, StepRun
from stet_ls.engine.api.answer import Answer, Edit, NewFile
from stet_ls.engine.api.arms import ArmSpec, Capability
from stet_ls.engine.api.evidence import Evidence, JudgedEdits
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judges_for
from stet_ls.engine.loop import Draft, UnusableReply, judge_draft
from stet_ls.validators.containment import is_inside
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source

log = logging.getLogger(__name__)

GROUP = "stet.arms"
_SECONDS = 120.0
"""The most seconds of one step of a package's arm."""


@dataclass(frozen=True, slots=True)
class CustomArm:
    """An arm of a package. `run` is a coroutine function from a model of `input` to one of `output`.

    `input` has fields of `StepInput`, `output` is `StepOutput` or derives from it. The package's own code runs as
    Stet's does; the texts that it returns are judged as any edit.
    """

    name: str
    description: str
    capabilities: tuple[Capability, ...]
    input: type[BaseModel]
    output: type[BaseModel]
    run: Callable[[Any], Awaitable[Any]]
    cost: int = 3
    seconds: float = 10.0
    calls: int = 0
    at_once: int = 1
    version: str = "1"


@dataclass(frozen=True, slots=True)
class PackagedArms:
    """The arms of packages, and a sentence for each that is skipped."""

    arms: tuple[Arm, ...] = ()
    problems: tuple[str, ...] = ()


def packaged(taken: Collection[str]) -> PackagedArms:
    """The installed arms; none may have a name that is `taken`."""
    return load(entry_points(group=GROUP), taken)


def load(points: Iterable[EntryPoint], taken: Collection[str]) -> PackagedArms:
    """The arms of some entry points. One that raises, or is no arm, is reported and skipped."""
    arms: dict[str, Arm] = {}
    problems = []
    for point in points:
        package = point.dist.name if point.dist is not None else "an unknown package"
        try:
            arm = _checked(point.load(), package)
            if arm.spec.name in taken or arm.spec.name in arms:
                raise ValueError(f"name: an arm named {arm.spec.name!r} already exists")
        except (Exception, SystemExit) as error:  # third-party code
            log.warning("the arm %s is skipped", point.name, exc_info=error)
            problems.append(f"the arm {point.name!r} of {package} is skipped ({point.value}): {error}".split("\n")[0])
        else:
            arms[arm.spec.name] = arm
    return PackagedArms(tuple(arms.values()), tuple(problems))


def _checked(found: object, package: str) -> Arm:
    """The arm of an entry point. Raises ValueError if it is none."""
    if not isinstance(found, CustomArm):
        raise ValueError(f"expected a CustomArm, found {type(found).__name__}")
    if not found.capabilities or not all(isinstance(each, Capability) for each in found.capabilities):
        raise ValueError("capabilities: expected at least one Capability")
    if not 1 <= found.cost <= 5:
        raise ValueError("cost: expected a number from 1 to 5")
    spec = ArmSpec(
        found.name, found.description, tuple(found.capabilities), found.input.model_json_schema(),
        found.output.model_json_schema(), found.cost, found.seconds, found.calls, found.at_once, found.version,
    )  # fmt: skip

    async def run(step: StepRun) -> Answer:
        return await _run(found, step)

    return Arm(spec, run, source=f"the package {package}")


async def _run(arm: CustomArm, run: StepRun) -> Answer:
    """One step of a package's arm; what goes wrong in it fails the step alone."""
    try:
        asked = arm.input.model_validate(_input(run).model_dump())
        async with asyncio.timeout(_SECONDS):
            reply = await arm.run(asked)
        output = StepOutput.model_validate(arm.output.model_validate(reply).model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return refusal(run.job, f"Task: the arm {arm.name!r} does not keep its schema: {where}: {first['msg']}.")
    except TimeoutError:
        return refusal(run.job, f"Task: the arm {arm.name!r} took longer than {_SECONDS:.0f} s.")
    except Exception as error:  # third-party code
        log.warning("the arm %s failed", arm.name, exc_info=error)
        return refusal(run.job, f"Task: the arm {arm.name!r} failed: {type(error).__name__}: {error}")
    return await _answer(arm, run, output)


def _input(run: StepRun) -> StepInput:
    step, root = run.step, run.plan.root
    texts = {path: run.overlay.text(path) for path in (step.path, *step.files)}
    name = step.path.relative_to(root).as_posix() if step.path.is_relative_to(root) else step.path.name
    return StepInput(
        action=step.action,
        instruction=step.instruction,
        file=name,
        unit=step.unit,
        language=run.job.request.language,
        files={path.relative_to(root).as_posix(): text for path, text in texts.items() if text is not None},
        constraints=run.job.request.constraints,
        context=dict(run.notes),
    )


async def _answer(arm: CustomArm, run: StepRun, output: StepOutput) -> Answer:
    """The output as an answer; each new text is judged, and one that cannot be offered fails the step."""
    job, root = run.job, run.plan.root
    edits, files, evidence = list[Edit](), list[NewFile](), list[Evidence]()
    for name, text in output.files.items():
        path = root / name
        if not is_inside(path, root):
            return refusal(job, f"Task: the arm {arm.name!r} tried to write {name!r}, outside of the workspace.")
        old = run.overlay.text(path)
        before, after = Source(old or ""), Source(text)
        case = Case(job.request.action, language_of(path), path, before, after, tools=job.tools)
        judged = await judge_draft(job, Draft(None, case), judges_for(JudgedEdits.EVERY_EDIT, JudgedEdits.CODE), {})
        if isinstance(judged, UnusableReply):
            return refusal(job, f"Task: the arm {arm.name!r}: {judged.problem}")
        if not judged.offerable:
            why = judged.refuted_by
            return refusal(job, f"Task: the arm {arm.name!r}: {name}: {why.detail if why else 'refuted'}")
        evidence += judged.evidence
        if old is None:
            files.append(NewFile(path, text))
        else:
            edits.append(Edit(path, before, before.whole, text))
    request = job.request
    summary = Summary(output.summary or f"Did the step with `{arm.name}`")
    return finish_answer(
        job,
        Answer(
            True, request.action, request.language, summary, tuple(edits), tuple(files), markdown=output.report,
            evidence=tuple(evidence),
        ),
    )  # fmt: skip
