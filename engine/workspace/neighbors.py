"""Other files of a project in a document's language, nearest first, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.api.request import Request
from stet_ls.engine.workspace.visible_files import folders_up
from stet_ls.validators.languages import language_of
from stet_ls.validators.project_files import BUILD_FOLDERS, entries, read_regular

_MOST_FILES, _MOST_BYTES, _LARGEST = 300, 3_000_000, 200_000
_MOST_ENTRIES = 20_000
_NOT_OURS = BUILD_FOLDERS | {"vendor", "third_party", "out", "bin", "obj", "env", "coverage"}


def neighbors(request: Request) -> Iterator[tuple[Path, bytes]]:
    """Path and text of the other files; unsaved texts as in the editor. Links are not followed."""
    folders = folders_up(request)
    if not folders:
        return
    unsaved = {buffer.path: buffer.text for buffer in request.workspace.buffers}
    files = size = 0
    for path in _walk(folders):
        if path == request.path or language_of(path) != request.language:
            continue
        try:
            data = unsaved[path].encode("utf-8", "replace") if path in unsaved else read_regular(path, most=_LARGEST)
        except OSError:
            continue
        yield path, data
        files, size = files + 1, size + len(data)
        if files >= _MOST_FILES or size >= _MOST_BYTES:
            return


def _walk(folders: list[Path]) -> Iterator[Path]:
    """The files of the nearest folder with all below it, then of the next one up, without repetition."""
    seen: set[Path] = set()
    left = _MOST_ENTRIES
    for top in folders:
        pending = [top]
        while pending and left > 0:
            folder = pending.pop(0)
            if folder in seen:
                continue
            seen.add(folder)
            listed = entries(folder, most=left)
            left -= len(listed)
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _NOT_OURS:
                        pending.append(folder / entry.name)
                elif entry.is_file(follow_symlinks=False):
                    yield folder / entry.name
