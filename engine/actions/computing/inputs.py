"""The files that a task reads: which it names, why one cannot be read, and what of it the model is shown.

A file may be of any size: only its start is read here, and programs read the file itself, in place.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.computing.file_facts import DATA_SUFFIXES, file_facts, text_of
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import UsageError
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import read_start

_START = 64 * 1024
_MEASURED = 4 * 1024 * 1024
_LINES, _CHARACTERS = 6, 1200
_LARGE = 50 * 1024 * 1024
_MOST = 20
_NAMED = re.compile(r"[\w./\\-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,8}\b|[\"'`]([^\"'`\n]+\.[A-Za-z0-9]{1,9})[\"'`]")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that programs may read. `about` is what the model is shown of it."""

    name: str
    about: str


def names_in(text: str) -> tuple[str, ...]:
    """What looks like the name of a file in a sentence."""
    found = (match[1] or match[0] for match in _NAMED.finditer(text))
    return tuple(dict.fromkeys(each.removeprefix("./") for each in found))


def data_names(text: str) -> tuple[str, ...]:
    """The names in a sentence that are names of data files."""
    return tuple(each for each in names_in(text) if PurePosixPath(each).suffix.lower() in DATA_SUFFIXES)


def input_files(request: Request, root: Path, names: Sequence[str], own: tuple[str, ...] = ()) -> list[InputFile]:
    """The files by their names below `root`; `own` are the user's patterns of hidden files.

    Raises UsageError for one that no program may read. Reads files: not for an event loop.
    """
    if len(names) > _MOST:
        raise UsageError(f"{len(names)} input files; a task can have at most {_MOST}")
    hidden = IgnoredFiles(request.workspace, own)
    return [_input(request, root, name, hidden) for name in names]


def root_of(request: Request) -> Path:
    """The folder of a task: the innermost open folder that contains the request's file, else the file's folder."""
    assert request.path is not None, "a task needs a place"
    path = request.path.absolute()
    return request.workspace.root_of(path) or path.parent


def existing_file(root: Path, folder: Path, name: str) -> str | None:
    """The name below `root` of an existing file that a sentence names, from there or from `folder`; else None."""
    for place in (root / name, folder / name):
        if place.is_file() and Path(os.path.normpath(place)).is_relative_to(root):
            return Path(os.path.normpath(place)).relative_to(root).as_posix()
    return None


def _input(request: Request, root: Path, name: str, hidden: IgnoredFiles) -> InputFile:
    path = root / name
    if PurePosixPath(name).is_absolute() or not is_inside(path, root):
        raise UsageError(f"{name} is outside of {root}: a task reads files of its project only; copy it there")
    if (reason := hidden.reason(path)) is not None:
        raise UsageError(f"{name} cannot be read by a program: {reason}")
    unsaved = next((each.text.encode() for each in request.workspace.buffers if each.path == path), None)
    if unsaved is not None:
        return InputFile(name, "\n".join(_about(name, len(unsaved), unsaved[:_MEASURED])))
    try:
        state = path.lstat()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from None
    if not stat.S_ISREG(state.st_mode):
        raise UsageError(f"{name} is not a regular file")
    start = read_start(path, min(state.st_size, _MEASURED))
    return InputFile(name, "\n".join(_about(name, state.st_size, start)))


def _about(name: str, size: int, start: bytes) -> Iterator[str]:
    whole = size == len(start)
    measured = f", {file_facts(name, start).about}" if whole else ""
    hint = "; larger than memory may allow: read it in parts" if size > _LARGE else ""
    yield f"`{name}`: {size_of(size)}{measured}{hint}"
    text = text_of(start[:_START]) or text_of(start[:_START].rpartition(b"\n")[0])
    if text:
        yield from ("It begins:", *(line[:300] for line in text[:_CHARACTERS].splitlines()[:_LINES]))


def size_of(size: int) -> str:
    """A size in words: 12.3 KB."""
    number = float(size)
    for unit in ("bytes", "KB", "MB"):
        if number < 1000:
            return f"{size} bytes" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
