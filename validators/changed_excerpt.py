"""Excerpts of two large texts: what differs, for judges of a change.

A judge that reads two megabytes twice takes a minute, and the change is a few lines. The excerpts are the top-level
statements from the first change to the last, and the imports above them, which define names.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.source import Source

LARGE = 200_000
"""Bytes above which a text is read in parts."""
_IMPORT = re.compile(r"(?:import|from|use|using|package|require|#\s*include|(?:const|let|var)\b.*\brequire\b)")
_MOST_IMPORTS = 500


def excerpts(before: Source, after: Source) -> tuple[Source, Source]:
    """Both texts reduced to what differs, widened to lines at column 0, below their imports; small texts unchanged."""
    if max(len(before.data), len(after.data)) <= LARGE:
        return before, after
    old, new = before.text.splitlines(keepends=True), after.text.splitlines(keepends=True)
    head, tail = common_ends(old, new)
    while head and not (_begins(old, head) and _begins(new, head)):
        head -= 1
    while tail and not _begins(old, len(old) - tail):
        tail -= 1
    imports = [line for line in old[:head] if _IMPORT.match(line)][:_MOST_IMPORTS]
    kept = ("".join([*imports, *lines[head : len(lines) - tail]]) for lines in (old, new))
    first, second = kept
    return Source(first), Source(second)


def changed_lines(old: list[str], new: list[str]) -> frozenset[int]:
    """The lines of `new`, from 1, that differ from `old`, or that follow a removed one."""
    head, tail = common_ends(old, new)
    found: set[int] = set()
    for tag, _, _, start, end in SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    ).get_opcodes():
        if tag != "equal":
            # What follows a removed line is responsible for the removal.
            found |= set(range(head + start + 1, head + max(end, start + 1) + 1))
    return frozenset(found)


def _begins(lines: list[str], number: int) -> bool:
    """True if a top-level statement may start on a line, or past the end."""
    if number >= len(lines):
        return True
    line = lines[number]
    return bool(line.strip()) and not line[0].isspace() and line[0] not in ")]}#/*@"
