"""The plan of a task: the files it may name, the prompt for it, and the parser of the model's lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.api.actions import STEPS, spec_of
from stet_ls.engine.api.request import Request
from stet_ls.engine.loop import Unusable
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.prompt.task_spec import TaskSpec
from stet_ls.engine.reply.parsing.repetition import loop_start
from stet_ls.engine.reply.parsing.reply_spec import REPEATED
from stet_ls.engine.workspace.neighbours import neighbours
from stet_ls.engine.workspace.visible_files import may_show
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

MOST_STEPS = 6

TASK = TaskSpec(
    goal="Plan the change, step by step. Do not write it.",
    wants="plan",
    rules=(
        "As few steps as will do; one is often enough.",
        "Every step changes one function, method or class, or adds a new one.",
        "Name only files that are listed, or a new one beside them.",
        "A step may rely on the steps before it.",
    ),
)

_MOST_FILES, _MOST_NAMES = 40, 12
_CELLS = 3
"""Cells after the action: file, name and instruction; the last may contain a bar."""
_NEW = frozenset({"", "new", "-", "none", "n/a"})
_LINE = re.compile(r"^[\s>*-]*(?:(?:step\s*)?\d{1,2}\s*[.):]\s*)?(?P<action>[*`]*[a-z]+[*`]*)\s*\|(?P<rest>.+)$", re.I)


@dataclass(frozen=True, slots=True)
class TaskStep:
    """One step: an action on a unit of a file; `unit` is "" if the step adds a new one, whose name may be in `new`."""

    action: str
    path: Path
    unit: str
    instruction: str
    new: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.action} {f'`{self.unit}` in ' if self.unit else ''}{self.path.name}"


@dataclass(frozen=True, slots=True)
class Project:
    """The files that a plan may name, with their texts, by their path relative to their common folder."""

    root: Path
    files: Mapping[str, str]

    def listing(self, language: str) -> str:
        """One line per file: its path and its definitions."""
        lines = []
        for name, text in self.files.items():
            defined = [unit.qualified for unit in units(Source(text), language)][:_MOST_NAMES]
            lines.append(f"{name}: {', '.join(defined)}" if defined else name)
        return "\n".join(lines)


def project(request: Request, own: Sequence[str] = ()) -> Project:
    """The document and its neighbors; `own` are patterns of hidden files. Reads files: not for an event loop."""
    assert request.path is not None, "a task needs a place"
    path = request.path.absolute()
    roots = [root for root in request.workspace.roots if path.is_relative_to(root)]
    root = roots[0] if roots else path.parent
    files = {path.relative_to(root).as_posix(): request.source.text}
    hidden = IgnoredFiles(request.workspace, tuple(own))
    for other, data in neighbours(request):
        if len(files) >= _MOST_FILES:
            break
        if other.is_relative_to(root) and may_show(request, other, hidden):
            files[other.relative_to(root).as_posix()] = data.decode("utf-8", "replace")
    return Project(root, files)


def read_plan(text: str, about: Project, language: str) -> tuple[TaskStep, ...] | Unusable:
    """The steps in a reply, at most `MOST_STEPS`; Unusable if one is invalid, with the problem of the first."""
    if loop_start(text) is not None:
        return Unusable(REPEATED)
    steps: list[TaskStep] = []
    for action, cells in _rows(text):
        if len(cells) > _CELLS and len(set(cells)) < len(cells):
            return Unusable(REPEATED)
        step = _step(action, cells, about, language)
        if isinstance(step, Unusable):
            return step
        steps.append(step)
    if not steps:
        return Unusable("The reply has no line of the form: action | file | name | what to do.")
    plan = tuple(dict.fromkeys(steps))[:MOST_STEPS]
    return next((Unusable(why) for step in plan if (why := _second(step, plan, about, language))), plan)


def _second(step: TaskStep, plan: Sequence[TaskStep], about: Project, language: str) -> str:
    """The problem with a new file for a name that another file defines; "" if the plan changes that file too."""
    if not step.new or step.path.relative_to(about.root).as_posix() in about.files:
        return ""
    for file, text in about.files.items():
        defines = any(unit.qualified == step.new for unit in units(Source(text), language))
        if defines and not any(each.path == about.root / file for each in plan):
            return f"The plan puts {step.new!r} into the new file {step.path.name}, but {file} already defines it."
    return ""


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None and (action := match["action"].strip("*`").lower()) in STEPS:
            yield action, [cell.strip().strip("`*").strip() for cell in match["rest"].split("|")]


def _step(action: str, cells: list[str], about: Project, language: str) -> TaskStep | Unusable:
    if len(cells) < 2 or not cells[-1]:
        return Unusable(f"The step {action!r} says no file or not what to do.")
    file, unit, what = cells[0], cells[1] if len(cells) > 2 else "", cells[-1]
    path = _path(file, about, language)
    if path is None:
        return Unusable(f"The plan names {file!r}, which is not a file of this project, nor a place for a new one.")
    relative = path.relative_to(about.root).as_posix()
    known = {each.qualified for each in units(Source(about.files.get(relative, "")), language)}
    unit = unit.partition("(")[0].removeprefix("def ").removeprefix("class ").strip()
    named = [name for name in known if name == unit or name.rpartition(".")[2] == unit]
    if len(named) == 1:
        return TaskStep(action, path, named[0], what)
    if spec_of(action).adds_code:
        new = "" if unit.lower() in _NEW else unit
        return TaskStep(action, path, "", what if new in what else f"{what} (`{new}`)", new)
    if relative in about.files and unit.lower() in _NEW:
        return TaskStep(action, path, "", what)
    return Unusable(f"The plan says to {action} {unit!r}, which {file} does not define.")


def _path(file: str, about: Project, language: str) -> Path | None:
    """The path of a file in the plan: a listed file, by path or unique name, or a new one in a listed file's folder."""
    if file in about.files:
        return about.root / file
    same = [name for name in about.files if Path(name).name == file]
    if len(same) == 1:
        return about.root / same[0]
    new = Path(file)
    folders = {Path(name).parent for name in about.files}
    outside = new.is_absolute() or any(part.startswith(".") for part in new.parts)
    # A link could lead out of the project, and an existing file must not be overwritten.
    place = about.root / new
    if outside or new.parent not in folders or language_of(place) != language or place.exists() or place.is_symlink():
        return None
    return place
