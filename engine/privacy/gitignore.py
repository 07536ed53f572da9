"""Lines of a .gitignore, matched in bounded time.

The libraries make one regular expression of a line, and a hostile line of twenty letters takes it minutes
(`pathspec` 1.1: `**/a/**/a/**/a/b` on a deep path, 31 s). Here a line is matched name by name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

_Names = tuple[re.Pattern[str] | None, ...]


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line: `names` are those of the path from its list's folder, None for any number of folders.

    `takes_back`: it began with `!`. `folders`: it ended with `/` and matches folders only.
    """

    names: _Names
    takes_back: bool
    folders: bool

    def matches(self, path: Sequence[str], *, folder: bool) -> bool:
        """True if the line matches this path, given by its names."""
        return (folder or not self.folders) and _match(self.names, path)


def decision(lines: Iterable[IgnorePattern], path: Sequence[str], *, folder: bool = False) -> bool | None:
    """A list's decision on a path: True to ignore it, False to keep it, None for no match. The last line wins."""
    ignored = None
    for line in lines:
        if ignored is line.takes_back or ignored is None:
            ignored = (not line.takes_back) if line.matches(path, folder=folder) else ignored
    return ignored


@lru_cache(maxsize=64)
def parse(text: str) -> tuple[IgnorePattern, ...]:
    """The lines of a list; comments, blank lines and invalid patterns are skipped."""
    return tuple(line for line in map(_line, text.splitlines()) if line is not None)


def _line(text: str) -> IgnorePattern | None:
    text = re.sub(r"(?<!\\)[ \t]{1,200}\Z", "", text[:1000])
    takes_back = text.startswith("!")
    text = text[takes_back:]
    if not text or text.startswith("#") or text == "/":
        return None
    folders = text.endswith("/")
    parts = text.rstrip("/").lstrip("/").split("/")
    if "/" not in text.rstrip("/"):
        parts.insert(0, "**")  # a bare name matches at any depth
    if parts[-1] == "**":
        parts.append("*")  # the contents of a folder, not the folder
    try:
        return IgnorePattern(tuple(None if part == "**" else _name(part) for part in parts), takes_back, folders)
    except re.error:
        return None


_CASE = re.IGNORECASE if sys.platform in ("darwin", "win32") else re.NOFLAG
"""Lists ignore case where file systems do."""


def _name(part: str) -> re.Pattern[str]:
    """The pattern of one name. `translate` makes atomic groups of wildcards, which never backtrack."""
    pattern = translate(re.sub(r"\\(.)", lambda escaped: f"[{escaped[1]}]", re.sub(r"\*{2,}", "*", part)))
    return re.compile(pattern, _CASE)


def _match(names: _Names, path: Sequence[str]) -> bool:
    """True if the names match; each `**` tries zero folders first. Time is the product of the two lengths."""
    at = to = 0
    back: tuple[int, int] | None = None
    while to < len(path):
        if at < len(names) and (name := names[at]) is None:
            back = (at + 1, to)
            at += 1
        elif at < len(names) and name is not None and name.match(path[to]):
            at, to = at + 1, to + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            at, to = back
        else:
            return False
    return all(name is None for name in names[at:])
