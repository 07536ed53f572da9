"""What an answer does to files: shown as patches, or written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.api.answer import Answer, edited_text, edits_by_path
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs import files
from stet_ls.server.cli.inputs.command_target import CommandTarget
from stet_ls.server.cli.terminal import render


def diffs(answer: Answer) -> Iterator[str]:
    """A patch for each file."""
    moved = {move.path: shown_path(move.to) for move in answer.moves}
    grouped = edits_by_path(answer.edits)
    for path, edits in grouped.items():
        name = "stdin" if path is None else shown_path(path)
        if path in moved:
            yield render.rename_diff(name, moved[path], edits[0].base.text, edited_text(edits).text)
        else:
            yield render.unified_diff(edits[0].base.text, edited_text(edits).text, name)
    for path, to in moved.items():
        if path not in grouped:
            yield render.rename_diff(shown_path(path), to)
    for file in answer.new_files:
        if file.data is None:
            yield render.unified_diff(None, file.text, shown_path(file.path))


def changes_of(target: CommandTarget, answer: Answer) -> list[files.FileChange]:
    """The new texts of existing files. UsageError if one changed while the job ran."""
    changes = []
    for path, edits in edits_by_path(answer.edits).items():
        document = target.document if target.document and path == target.document.path.absolute() else None
        if document is None:
            assert path is not None, "only standard input has no path, and it is never applied"
            document = files.read_document(path)
        if document.source != edits[0].base:
            raise UsageError(f"{path} changed while the job ran; nothing was written")
        changes.append(files.FileChange(document, edited_text(edits).text))
    return changes


def write_answer(target: CommandTarget, answer: Answer) -> list[Path]:
    """Writes all files or none, and returns their paths. UsageError if one changed while the job ran."""
    changes = changes_of(target, answer)
    files.write(changes, answer.new_files, answer.moves)
    moved = {move.path: move.to for move in answer.moves}
    changed = [change.document.path.absolute() for change in changes]
    made = [*(file.path for file in answer.new_files), *(move.to for move in answer.moves if move.path not in changed)]
    return [*(moved.get(path, path) for path in changed), *made]


def shown_path(path: Path) -> str:
    """A path as a user types it from here, and as `git apply` takes it: without `..`."""
    here, path = Path.cwd(), Path(os.path.normpath(path.absolute()))
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()
