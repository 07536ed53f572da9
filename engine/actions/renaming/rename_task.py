"""A rename as a task: by rule, over all files of the project, judged by its tests before and after.

stet run task shop/prices.py --instruction "rename total to sum_of"
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.multi_file.whole_evidence import WholeChange, whole_evidence
from stet_ls.engine.actions.renaming.language_table import RENAMERS, Renamer
from stet_ls.engine.actions.renaming.requested import MoveRequest, NameRequest
from stet_ls.engine.api.answer import Answer, FileMove, line_edits
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Request
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.plurals import plural
from stet_ls.engine.workspace.source_files import SourceWalk
from stet_ls.validators.languages import language_of
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

_LARGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class _Renamed:
    """What a rename does: the texts of the project and the new ones, and the file that moves."""

    language: str
    texts: Mapping[str, str]
    after: Mapping[str, str]
    move: tuple[str, str] | None = None
    left: Mapping[str, int] = field(default_factory=dict)


async def rename_task(job: Job, asked: NameRequest | MoveRequest) -> Answer | None:
    """The answer to a rename; None if it is none that is done by rule, such as that of a method."""
    request = job.request
    assert request.path is not None, "a task needs a place"
    path = request.path.absolute()
    root = request.workspace.root_of(path) or path.parent
    with job.stage("rename"):
        try:
            done = await asyncio.to_thread(_renamed, job, root, asked)
        except ValueError as problem:
            return refusal(job, f"Rename: {problem}.")
    if done is None:
        return None
    change = _change(root, done, request)
    evidence = await whole_evidence(job, change)
    return finish_answer(job, _answer(job, root, asked, done, evidence))


def _renamed(job: Job, root: Path, asked: NameRequest | MoveRequest) -> _Renamed | None:
    """Raises ValueError with the reason if the rename is not possible. Reads the project: not for an event loop."""
    everything = _texts(job, root)
    for language, renamer in RENAMERS.items():
        texts = {path: text for path, text in everything.items() if language_of(path) == language}
        found = (
            _move(root, texts, renamer, asked, job.request, language)
            if isinstance(asked, MoveRequest)
            else _name(root, texts, renamer, asked, job.request, language)
        )
        if found is not None:
            return found
    return None


def _texts(job: Job, root: Path) -> dict[str, str]:
    """The texts of the project's source files, unsaved ones as in the editor."""
    walk = SourceWalk(root, ignore=tuple(job.settings.privacy.ignore))
    texts: dict[str, str] = {}
    for found in walk.files():
        try:
            texts[found.path] = read_regular(root / found.path, most=_LARGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    if walk.bounds or walk.late:
        raise ValueError(f"{root.name} is too large to find every use ({walk.bounds or 'reading it takes too long'})")
    request = job.request
    for buffer in request.workspace.buffers:
        if buffer.path.is_relative_to(root) and (name := buffer.path.relative_to(root).as_posix()) in texts:
            texts[name] = buffer.text
    if request.path is not None and (name := request.path.absolute().relative_to(root).as_posix()) in texts:
        texts[name] = request.source.text
    return texts


def _name(
    root: Path, texts: Mapping[str, str], renamer: Renamer, asked: NameRequest, request: Request, language: str
) -> _Renamed | None:
    places = renamer.definers(texts, asked.old)
    if asked.file:
        places = [path for path in places if path == asked.file or path.endswith(f"/{asked.file}")]
    own = request.path.absolute().relative_to(root).as_posix() if request.path is not None else ""
    places = [own] if own in places else places
    if len(places) > 1:
        listed = ", ".join(places[:4])
        raise ValueError(
            f"`{asked.old}` is defined in {listed}: say which (`rename {asked.old} in FILE to {asked.new}`)"
        )
    if not places:
        return None
    after = renamer.rename(texts, places[0], asked.old, asked.new)
    return _Renamed(language, texts, after, left=_mentions(after, asked.old))


def _move(
    root: Path, texts: Mapping[str, str], renamer: Renamer, asked: MoveRequest, request: Request, language: str
) -> _Renamed | None:
    folder = PurePosixPath(request.path.absolute().relative_to(root).as_posix()).parent if request.path else root
    places = [path for path in texts if path == asked.old or PurePosixPath(path).name == asked.old]
    if asked.old not in places and (near := str(PurePosixPath(folder) / asked.old)) in places:
        places = [near]
    if len(places) != 1:
        if not places:
            return None
        raise ValueError(f"there are several files called {asked.old}: {', '.join(places[:4])}; name one by its path")
    old = places[0]
    new = asked.new if "/" in asked.new else str(PurePosixPath(old).with_name(asked.new))
    if ".." in PurePosixPath(new).parts or PurePosixPath(new).is_absolute():
        raise ValueError(f"{new} is outside of the project")
    if (root / new).exists():
        raise ValueError(f"{new} exists already")
    return _Renamed(language, texts, renamer.move(texts, old, new), (old, new))


def _mentions(after: Mapping[str, str], name: str) -> dict[str, int]:
    """How often the files that change still say the old name: in comments, strings, or for other things."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    counts = {path: len(word.findall(text)) for path, text in after.items()}
    return {path: count for path, count in counts.items() if count}


def _change(root: Path, done: _Renamed, request: Request) -> WholeChange:
    before: dict[str, str | None] = {path: done.texts[path] for path in done.after}
    after: dict[str, str | None] = dict(done.after)
    if done.move is not None:
        old, new = done.move
        before |= {old: done.texts[old], new: None}
        after |= {new: done.after.get(old, done.texts[old]), old: None}
    unsaved = {buffer.path: buffer.text for buffer in request.workspace.buffers}
    return WholeChange(root, done.language, before, after, by_rule=True, unsaved=unsaved)


def _answer(
    job: Job, root: Path, asked: NameRequest | MoveRequest, done: _Renamed, evidence: tuple[object, ...]
) -> Answer:
    edits = tuple(
        edit for path, text in done.after.items() for edit in line_edits(root / path, Source(done.texts[path]), text)
    )
    uses = plural(len(done.after), "file")
    notes = [f"{path} still says `{asked.old}` {count}×" for path, count in done.left.items()]
    moves = () if done.move is None else (FileMove(root / done.move[0], root / done.move[1]),)
    what = f"{done.move[0]} to {done.move[1]}" if done.move else f"`{asked.old}` to `{asked.new}`"
    did = f"{'Moved' if done.move else 'Renamed'} {what} in {uses}"
    refuted = any(getattr(item, "verdict", None) is Ruling.FAIL for item in evidence)
    return Answer(
        success=True,
        action=job.request.action,
        language=done.language,
        summary=Summary(f"Tried: {did[0].lower()}{did[1:]}" if refuted else did, notes=tuple(notes)),
        edits=edits,
        moves=moves,
        explanation="\n".join(f"- {path}" for path in done.after),
        evidence=evidence,  # type: ignore[arg-type]
    )
