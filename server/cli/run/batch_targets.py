"""The targets of a batch: patterns expanded, each target once, and one shard of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.check.file_discovery import collect
from stet_ls.server.cli.inputs.command_target import is_standard_input
from stet_ls.server.cli.inputs.shard import Shard

_WILD = re.compile(r"[*?\[]")
_ANY_FOLDERS = "**"


def is_pattern(text: str) -> bool:
    """Whether a TARGET is a pattern; a file that has this very name is meant itself."""
    return bool(_WILD.search(text.partition("::")[0])) and not os.path.lexists(text)


def batch_targets(words: Sequence[str], shard: Shard) -> list[str]:
    """The targets in order, sorted where a pattern matches several.

    UsageError for a pattern without a match and for standard input.
    """
    found: dict[str, None] = {}
    for word in words:
        if is_standard_input(word):
            raise UsageError("standard input cannot be one of several targets")
        found.update(dict.fromkeys(_expanded(word) if is_pattern(word) else [word]))
    return list(found)[shard.number - 1 :: shard.count]


def _expanded(pattern: str) -> list[str]:
    parts = Path(pattern).parts
    wild = next(at for at, part in enumerate(parts) if _WILD.search(part))
    folder, rest = Path(*parts[:wild]), parts[wild:]
    if not folder.is_dir():
        raise UsageError(f"{pattern}: the folder {folder} does not exist")
    listed = collect([folder], ())
    files = [file.path for file in listed.files if not file.explicit]
    matching = sorted(file for file in files if _matches(file.relative_to(folder).parts, rest))
    if not matching:
        reason = listed.unlisted[0] if listed.unlisted else "no source file matches; ignored files do not count"
        raise UsageError(f"{pattern}: {reason}")
    return [os.path.normpath(file) for file in matching]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path matches, part by part; `**` stands for any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == _ANY_FOLDERS:
        return any(_matches(rest, pattern[1:]) for rest in _tails(parts))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _tails(parts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (parts[at:] for at in range(len(parts) + 1))
