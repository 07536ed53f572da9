"""The files of a folder that a task is about: those that it speaks of first, then code, then tests and the rest.

A plan is shown the first ones alone, so in a large project their order decides what it can change.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from stet_ls.server.cli.check.file_discovery import collect
from stet_ls.validators.languages import NODE_KINDS, language_of
from stet_ls.validators.project_files import read_text
from stet_ls.validators.test_files import is_test_file

MOST_FILES, LARGEST = 40, 200_000
"""Files that a plan is shown by name, and the bytes of each."""
_MOST_READ = 2_000
_NAMED = re.compile(r"`(\w+)|\b(\w+)(?=\()|\b(\w+_\w+|\w+[a-z][A-Z]\w*)\b")
"""What words mean as the name of a definition: `total`, total(), sum_of or sumOf."""
_AROUND = frozenset({"conf.py", "conftest.py", "noxfile.py", "setup.py"})
"""What builds, documents or tests a project, and hardly ever is what a task changes."""


def folder_files(folder: Path, words: str) -> list[Path]:
    """The files, best first. Larger ones are data, or code that no plan can show; they can be named themselves."""
    found = [each.path for each in collect([folder], ()).files]
    mentioned = frozenset(each.rstrip(".").rpartition("/")[2] for each in re.findall(r"[\w./-]+", words))
    names = {next(filter(None, groups)) for groups in _NAMED.findall(words)}
    ranks = {
        path: _rank(path.relative_to(folder), mentioned)
        - (0.5 if names and at < _MOST_READ and _speaks_of(path, names) else 0)
        for at, path in enumerate(found)
    }
    return [path for path in sorted(found, key=ranks.__getitem__) if _size(path) <= LARGEST][:MOST_FILES]


def _rank(path: Path, mentioned: Collection[str]) -> float:
    """How far down a file is: named by the words, code, code around the project, anything else."""
    if path.name in mentioned:
        return 0
    if language_of(path) not in NODE_KINDS:
        return 3
    return 2 if path.name in _AROUND or is_test_file(str(path)) else 1


def _speaks_of(path: Path, names: Collection[str]) -> bool:
    """Whether a file speaks of one of the names."""
    text = read_text(path, most=LARGEST) or ""
    return re.search(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b", text) is not None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
