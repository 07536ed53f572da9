"""The language of a file without a telling name: by the interpreter in its `#!` line."""

from __future__ import annotations

import io
from pathlib import Path, PurePath

from stet_ls.validators.languages import PLAIN, language, language_of
from stet_ls.validators.project_files import read_start

_LONGEST = 512  # bytes of a first line that are read
_OTHERS = frozenset({"csh", "tcsh", "bats", "python2"})
"""Interpreters for whose texts the grammar of their family would report many errors."""


def language_of_text(path: Path | str, data: bytes) -> str:
    """The language id for a file's name; if the name has no suffix, the one of the text's `#!` line."""
    named = language_of(path)
    return _asked(data[:_LONGEST]) if named == PLAIN and not PurePath(path).suffix else named


def language_of_file(path: Path) -> str:
    """The language id of a file on disk, which is opened only if its name gives none; `PLAIN` if it cannot be read."""
    if language_of(path) != PLAIN or path.suffix:
        return language_of(path)
    try:
        return language_of_text(path, read_start(path, _LONGEST))
    except OSError:
        return PLAIN


def _asked(start: bytes) -> str:
    if not start.startswith(b"#!"):
        return PLAIN
    # Imported late: few files have no suffix.
    from identify.identify import parse_shebang, tags_from_interpreter

    command = parse_shebang(io.BytesIO(start))
    name = PurePath(command[0]).name if command else ""
    tags = tags_from_interpreter(name)
    if not name or _OTHERS & {name, *tags}:
        return PLAIN
    return next((row.id for each in (name, *sorted(tags)) if (row := language(each)) is not None), PLAIN)
