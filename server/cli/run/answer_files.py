"""What an answer does to files: shown as patches, or written."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from stet_ls.engine.api.answer import Answer, Edit
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs import files
from stet_ls.server.cli.inputs.command_target import CommandTarget
from stet_ls.server.cli.terminal import render
from stet_ls.validators.source import Source, Splice


def diffs(answer: Answer) -> Iterator[str]:
    """A patch for each file."""
    moved = {move.path: shown_path(move.to) for move in answer.moves}
    grouped = _by_path(answer.edits)
    for path, edits in grouped.items():
        name = "stdin" if path is None else shown_path(path)
        if path in moved:
            yield render.rename_diff(name, moved[path], edits[0].base.text, _spliced(edits).text)
        else:
            yield render.unified_diff(edits[0].base.text, _spliced(edits).text, name)
    for path, to in moved.items():
        if path not in grouped:
            yield render.rename_diff(shown_path(path), to)
    for file in answer.new_files:
        if file.data is None:
            yield render.unified_diff(None, file.text, shown_path(file.path))


def changes_of(target: CommandTarget, answer: Answer) -> list[files.FileChange]:
    """The new texts of existing files. UsageError if one changed while the job ran."""
    changes = []
    for path, edits in _by_path(answer.edits).items():
        document = target.document if target.document and path == target.document.path.absolute() else None
        if document is None:
            assert path is not None, "only standard input has no path, and it is never applied"
            document = files.read_document(path)
        if document.source != edits[0].base:
            raise UsageError(f"{path} changed while the job ran; nothing was written")
        changes.append(files.FileChange(document, _spliced(edits).text))
    return changes


def write_answer(target: CommandTarget, answer: Answer) -> list[Path]:
    """Writes all files or none, and returns their paths. UsageError if one changed while the job ran."""
    changes = changes_of(target, answer)
    files.write(changes, answer.new_files, answer.moves)
    moved = {move.path: move.to for move in answer.moves}
    changed = [change.document.path.absolute() for change in changes]
    made = [*(file.path for file in answer.new_files), *(move.to for move in answer.moves if move.path not in changed)]
    return [*(moved.get(path, path) for path in changed), *made]


def _by_path(edits: Iterable[Edit]) -> Mapping[Path | None, list[Edit]]:
    """The edits of each file, in the order in which the files first occur."""
    grouped: dict[Path | None, list[Edit]] = defaultdict(list)
    for edit in edits:
        grouped[edit.path].append(edit)
    return grouped


def _spliced(edits: Iterable[Edit]) -> Source:
    """The text of one file after its edits."""
    edits = list(edits)
    return edits[0].base.splice(Splice(edit.span, edit.new_text) for edit in edits)


def shown_path(path: Path) -> str:
    """A path as a user types it from here, and as `git apply` takes it: without `..`."""
    here, path = Path.cwd(), Path(os.path.normpath(path.absolute()))
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()
