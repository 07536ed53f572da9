"""An answer's edits on the current documents: rebased and minimized.

A plan is made from the live documents without an await, so it is valid until the next message is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from stet_ls.engine.api.answer import Answer, Edit, FileMove, NewFile
from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.open_documents import Documents, Snapshot
from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.validators.source import Source, Span, Splice


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The new text of one document. `before` is the exact version that the splices apply to."""

    before: Snapshot
    after: Source
    splices: tuple[Splice, ...]
    made_by: tuple[tuple[Span, tuple[int, ...]], ...] = ()
    """Where each step of a task changed the text before."""

    def steps_of(self, splice: Splice) -> tuple[int, ...]:
        """The steps of a task that made a splice."""
        near = (
            steps for span, steps in self.made_by if span.start <= splice.span.end and splice.span.start <= span.end
        )
        return tuple(sorted({step for steps in near for step in steps}))


@dataclass(frozen=True, slots=True)
class EditPlan:
    """All changes of one edit. `rebased` is true if the target's text is no longer the one that was judged.

    `new_files` are texts; LSP cannot create the `binary_files`, which are written once the edit is applied. The `moves`
    come after the changes.
    """

    changes: tuple[DocumentChange, ...]
    new_files: tuple[NewFile, ...]
    rebased: bool = False
    binary_files: tuple[NewFile, ...] = ()
    moves: tuple[FileMove, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to apply."""
        return not (self.changes or self.new_files or self.binary_files or self.moves)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the changed files, as users know them."""
        return tuple(
            dict.fromkeys(
                [name_of(change.before) for change in self.changes]
                + [file.path.name for file in (*self.new_files, *self.binary_files)]
                + [move.path.name for move in self.moves]
            )
        )

    def same_texts(self, other: EditPlan) -> bool:
        """Whether both plans have the same texts before and after."""
        return self._texts() == other._texts()

    def diff(self) -> str:
        """The plan as a unified diff."""
        pieces: list[str] = []
        for change in self.changes:
            name = name_of(change.before)
            pieces += _diff(change.before.source, change.after, f"a/{name}", f"b/{name}")
        for file in self.new_files:
            pieces += _diff(Source(""), Source(file.text), "/dev/null", f"b/{file.path.name}")
        pieces += (f"rename from {move.path.name}\nrename to {move.to.name}\n" for move in self.moves)
        pieces += (f"Binary files /dev/null and b/{file.path.name} differ\n" for file in self.binary_files)
        return "".join(pieces)

    def _texts(self) -> list[tuple[str, str, str]]:
        return [(change.before.uri, change.before.source.text, change.after.text) for change in self.changes]


class StaleError(Exception):
    """The documents have changed since the answer was made. The exception's text is the message for the user."""


@dataclass(frozen=True, slots=True)
class EditOrigin:
    """The document that a job was started on: its snapshot, and the track that has followed it since."""

    snapshot: Snapshot
    track: PositionTracker


def make_plan(answer: Answer, origin: EditOrigin, documents: Documents) -> EditPlan:
    """Applies the answer to the live documents; StaleError if the text that it was made for has changed."""
    live = _live(origin, documents)
    rebased = live.source.text != origin.snapshot.source.text
    own = [edit for edit in answer.edits if is_target(edit.path, origin.snapshot)]
    splices = _rebase(own, answer.guard, origin) if rebased else [Splice(edit.span, edit.new_text) for edit in own]
    changes = [_change(live, splices, [edit.steps for edit in own])] if own else []
    others = dict.fromkeys(edit.path for edit in answer.edits if not is_target(edit.path, origin.snapshot))
    for path in others:
        if path is not None:
            changes.append(_other(path, [edit for edit in answer.edits if edit.path == path], documents))
    for file in answer.new_files:
        if file.path.exists():
            raise StaleError(f"Edit not applied: {file.path.name} was created meanwhile. Run the action again.")
    for move in answer.moves:
        if move.to.exists():
            raise StaleError(f"Edit not applied: {move.to.name} was created meanwhile. Run the action again.")
    texts, binary = _by_content(answer.new_files)
    kept = tuple(change for change in changes if change.splices)
    return EditPlan(kept, texts, rebased and bool(own), binary, answer.moves)


def unrebased_edits(answer: Answer) -> EditPlan:
    """The edits on the exact texts that they were made and judged on, wherever they are applied."""
    changes = []
    for path in dict.fromkeys(edit.path for edit in answer.edits):
        edits = [edit for edit in answer.edits if edit.path == path]
        uri = "untitled:document" if path is None else path.as_uri()
        after = edits[0].base.splice([Splice(edit.span, edit.new_text) for edit in edits])
        changes.append(DocumentChange(Snapshot(uri, None, answer.language, edits[0].base, path), after, ()))
    texts, binary = _by_content(answer.new_files)
    return EditPlan(tuple(changes), texts, binary_files=binary, moves=answer.moves)


def _by_content(files: Iterable[NewFile]) -> tuple[tuple[NewFile, ...], tuple[NewFile, ...]]:
    """The files that are text, and the others."""
    files = tuple(files)
    return tuple(file for file in files if file.data is None), tuple(file for file in files if file.data is not None)


def write_binary(files: Iterable[NewFile]) -> str:
    """Creates files that are not text; returns the problem of the first that cannot be, "" if there is none."""
    for file in files:
        assert file.data is not None
        try:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            with file.path.open("xb") as stream:
                stream.write(file.data)
        except OSError as error:
            return f"cannot create {file.path.name}: {error.strerror}"
    return ""


def new_document(file: NewFile, language: str) -> DocumentChange:
    """A new file as a change of an empty document."""
    before = Snapshot(file.path.as_uri(), None, language, Source(""), file.path)
    return _change(before, [Splice(Span(0, 0), file.text)])


def is_target(path: Path | None, snapshot: Snapshot) -> bool:
    """Whether an edit of that path belongs to the job's own document."""
    return path is None or path == snapshot.path


def name_of(snapshot: Snapshot) -> str:
    """The name of the document for users."""
    return snapshot.path.name if snapshot.path is not None else snapshot.uri.rpartition("/")[2].rpartition(":")[2]


def _live(origin: EditOrigin, documents: Documents) -> Snapshot:
    name = name_of(origin.snapshot)
    if origin.track.closed:
        raise StaleError(f"Edit not applied: {name} was closed meanwhile.")
    live = documents.snapshot(origin.snapshot.uri)
    if live is None:
        raise StaleError(f"Edit not applied: {name} no longer exists.")
    if live.version is None and live.source.text != origin.snapshot.source.text:
        raise StaleError(f"Edit not applied: {name} changed on disk meanwhile. Run the action again.")
    return live


def _rebase(edits: Iterable[Edit], guard: Span | None, origin: EditOrigin) -> list[Splice]:
    touched = StaleError(
        f"Edit not applied: you changed {name_of(origin.snapshot)} in the same place. Run the action again."
    )
    if guard is not None and origin.track.rebase(guard) is None:
        raise touched
    splices = []
    for edit in edits:
        span = origin.track.rebase(edit.span)
        if span is None:
            raise touched
        splices.append(Splice(span, edit.new_text))
    return splices


def _other(path: Path, edits: list[Edit], documents: Documents) -> DocumentChange:
    live = documents.snapshot(path.as_uri())
    if live is None or live.source.text != edits[0].base.text:
        raise StaleError(f"Edit not applied: {path.name} changed meanwhile. Run the action again.")
    return _change(live, [Splice(edit.span, edit.new_text) for edit in edits], [edit.steps for edit in edits])


def _change(live: Snapshot, splices: list[Splice], steps: Sequence[tuple[int, ...]] = ()) -> DocumentChange:
    after = live.source.splice(splices)
    made_by = tuple((splice.span, each) for splice, each in zip(splices, steps, strict=False) if each)
    return DocumentChange(live, after, minimal(live.source, after), made_by)


def _diff(before: Source, after: Source, old: str, new: str) -> list[str]:
    lines = unified_diff(_lines(before), _lines(after), old, new)
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]


def _lines(source: Source) -> list[str]:
    lines = [source.line_text(line) + "\n" for line in range(source.line_count)]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]
