"""Some files or steps of an answer as an answer of its own, which has to be judged again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.multi_file.whole_evidence import WholeChange, tests_of_whole, whole_evidence
from stet_ls.engine.api.answer import Answer, Edit, FileMove, NewFile, edited_text, edits_by_path
from stet_ls.engine.api.evidence import EvidenceTier, Ruling
from stet_ls.engine.api.request import Request
from stet_ls.engine.api.summary import Caution
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.plurals import plural
from stet_ls.validators.project_files import read_regular

_SEVERAL = 2
_LARGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class ChosenParts:
    """The files, by name or path, and the steps to take; empty for all."""

    files: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """True if it leaves something out."""
        return bool(self.files or self.steps)


def chosen_part(answer: Answer, choice: ChosenParts) -> Answer:
    """The part of an answer without the evidence for the whole.

    Raises UsageError for a file or a step that the answer does not change.
    """
    paths = dict.fromkeys(_paths(answer))
    for name in choice.files:
        if not any(_is_named(path, name) for path in paths):
            listed = ", ".join(path.name for path in paths if path)
            raise UsageError(f"the edit does not change {name}; it changes {listed}")
    made_by = [*(edit.steps for edit in answer.edits), *(file.steps for file in answer.new_files)]
    known = sorted({step for steps in made_by for step in steps})
    for step in choice.steps:
        if step not in known:
            listed = ", ".join(map(str, known)) or "none"
            raise UsageError(f"no edit is of step {step}; there are edits of the steps {listed}")
    edits = tuple(edit for edit in answer.edits if _is_chosen(edit.path, edit.steps, choice))
    files = tuple(file for file in answer.new_files if _is_chosen(file.path, file.steps, choice))
    moves = tuple(move for move in answer.moves if _is_chosen(move.path, (), choice))
    total = len(answer.edits) + len(answer.new_files) + len(answer.moves)
    left = total - len(edits) - len(files) - len(moves)
    notes = (*answer.summary.notes, f"a part: {plural(left, 'change')} left out") if left else answer.summary.notes
    names = tuple(name for name in answer.summary.new_files if any(_is_named(file.path, name) for file in files))
    return replace(
        answer,
        edits=edits,
        new_files=files,
        moves=moves,
        files=tuple(each for each in answer.files if any(file.path == each.path for file in files)),
        code="",
        evidence=(),
        confidence=0.0,
        summary=replace(answer.summary, caution=Caution.NONE, gains=(), notes=notes, new_files=names),
        # The record and the memory know the whole edit by this trace.
        metadata=replace(answer.metadata, trace="", reasons=(), calibration="", evidence_tier=EvidenceTier.PARSED),
    )


async def judged_part(job: Job, part: Answer) -> Answer:
    """The part with evidence of its own: syntax, names, and the project's tests before and after."""
    change = change_of(job.request, part)
    evidence = await whole_evidence(job, change) if change is not None else ()
    return replace(part, evidence=evidence)


async def with_whole_evidence(job: Job, answer: Answer) -> Answer:
    """The answer with the project's tests before and after all of it, if it changes more than one file."""
    change = change_of(job.request, answer) if answer.success else None
    if change is None or len(change.after) < _SEVERAL:
        return answer
    tests = await tests_of_whole(job, change)
    return answer if tests.verdict is Ruling.SKIPPED else replace(answer, evidence=(*answer.evidence, tests))


def change_of(request: Request, part: Answer) -> WholeChange | None:
    """What an answer changes below the project's root; None if it changes nothing there."""
    path = request.path.absolute() if request.path is not None else Path.cwd() / "x"
    root = request.workspace.root_of(path) or path.parent
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    moved = {move.path: move.to for move in part.moves}
    for file, (old, new) in _texts(part).items():
        if not file.is_relative_to(root):
            continue
        name = file.relative_to(root).as_posix()
        before[name], after[name] = old, new
        if file in moved and moved[file].is_relative_to(root):
            to = moved[file].relative_to(root).as_posix()
            before[to], after[to], after[name] = None, new, None
    unsaved = {buffer.path: buffer.text for buffer in request.workspace.buffers}
    return WholeChange(root, part.language, before, after, unsaved=unsaved) if after else None


def _texts(part: Answer) -> Mapping[Path, tuple[str | None, str]]:
    found: dict[Path, tuple[str | None, str]] = {}
    for path, own in edits_by_path(part.edits).items():
        if path is not None:
            found[path.absolute()] = own[0].base.text, edited_text(own).text
    for move in part.moves:
        if move.path not in found:
            text = read_regular(move.path, most=_LARGEST).decode("utf-8", "surrogateescape")
            found[move.path] = text, text
    found |= {file.path: (None, file.text) for file in part.new_files if file.data is None}
    return found


def _is_chosen(path: Path | None, steps: Collection[int], choice: ChosenParts) -> bool:
    """A change of several steps is taken only with all of them."""
    in_files = not choice.files or any(_is_named(path, name) for name in choice.files)
    return in_files and (not choice.steps or (bool(steps) and set(steps) <= set(choice.steps)))


def _is_named(path: Path | None, name: str) -> bool:
    return path is not None and (path.name == name or path == Path(name) or path.as_posix().endswith(f"/{name}"))


def _paths(answer: Answer) -> Iterator[Path | None]:
    things: tuple[Edit | NewFile | FileMove, ...] = (*answer.edits, *answer.new_files, *answer.moves)
    yield from (each.path for each in things)
