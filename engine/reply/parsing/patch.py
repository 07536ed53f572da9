"""Applies replies that are changes instead of code: unified diffs and search/replace blocks.

A change applies if its old lines occur exactly once: unchanged, or all moved by the same indentation. There is no
fuzzy matching, and line numbers are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stet_ls.engine.reply.indent import common_margin

_SEARCH = re.compile(r"^<{5,9} ?(?:SEARCH|ORIGINAL|HEAD)?[ \t]*$", re.IGNORECASE)
_MIDDLE = re.compile(r"^={5,9}[ \t]*$")
_REPLACE = re.compile(r"^>{5,9} ?(?:REPLACE|UPDATED)?[^\n]{0,80}$", re.IGNORECASE)
_HUNK = re.compile(r"^@@(?: |$)")
_HEADER = re.compile(r"^(?:diff --git |index [0-9a-f]+\.\.|--- |\+\+\+ |new file mode|similarity index|\\ No newline)")

NO_MATCH = "The reply's change does not match the current text."
AMBIGUOUS = "The reply's change matches the current text in several places."
NO_SEARCH = "The reply's change does not say which lines it replaces."
NO_CHANGE = "The reply changed nothing."
NO_TEXT = "The reply changes a text that was not in the prompt."


@dataclass(frozen=True, slots=True)
class Hunk:
    """Old lines and the lines that replace them."""

    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatchRefusal:
    """Why a change could not be applied, in one sentence."""

    problem: str


def search_replace(text: str) -> tuple[Hunk, ...]:
    """The search/replace blocks of a reply, in order; malformed ones are left out."""
    if "<<<<<" not in text:
        return ()
    hunks: list[Hunk] = []
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n"):
        if _SEARCH.match(line):
            old, new = [], None
        elif old is not None and new is None and _MIDDLE.match(line):
            new = []
        elif old is not None and new is not None and _REPLACE.match(line):
            hunks.append(Hunk(tuple(old), tuple(new)))
            old = new = None
        elif new is not None:
            new.append(line)
        elif old is not None:
            old.append(line)
    return tuple(hunks)


def unified(text: str, *, tagged: bool) -> tuple[Hunk, ...]:
    """The hunks of a unified diff. Without the tag `diff`, only a text with hunk headers counts as one."""
    lines = text.split("\n")
    if not tagged and not any(_HUNK.match(line) for line in lines):
        return ()
    hunks: list[Hunk] = []
    old: list[str] = []
    new: list[str] = []
    for line in [*lines, "@@"]:
        if _HUNK.match(line):
            if old or new:
                hunks.append(_trimmed(old, new))
            old, new = [], []
        elif _HEADER.match(line):
            continue
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            context = line.removeprefix(" ")
            old.append(context)
            new.append(context)
    return tuple(hunk for hunk in hunks if hunk.old or hunk.new)


def apply(hunks: tuple[Hunk, ...], current: str) -> str | PatchRefusal:
    """The present text after all changes, or the reason why they do not apply."""
    if not current.strip():
        return PatchRefusal(NO_TEXT)
    lines = current.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    before = list(lines)
    for hunk in hunks:
        if not any(line.strip() for line in hunk.old):
            return PatchRefusal(NO_SEARCH)
        if hunk.old == hunk.new:
            continue
        places = _places(lines, hunk.old)
        if len(places) != 1:
            return PatchRefusal(AMBIGUOUS if places else NO_MATCH)
        ((at, lost, gained),) = places
        lines[at : at + len(hunk.old)] = [_moved(line, lost, gained) for line in hunk.new]
    return PatchRefusal(NO_CHANGE) if lines == before else "\n".join(lines)


def _places(lines: list[str], old: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """The positions of the old lines: (line, excess indentation of the reply, missing indentation)."""
    size = len(old)
    starts = range(len(lines) - size + 1)
    exact = [(at, "", "") for at in starts if lines[at] == old[0] and tuple(lines[at : at + size]) == old]
    if exact:
        return exact
    lost = common_margin(old)
    wanted = [_moved(line, lost, "") for line in old]
    first = wanted[0].strip()
    found = []
    for at in starts:
        if lines[at].strip() != first:
            continue
        window = lines[at : at + size]
        gained = common_margin(window)
        if [_moved(line, gained, "") for line in window] == wanted:
            found.append((at, lost, gained))
    return found


def _moved(line: str, lost: str, gained: str) -> str:
    if not line.strip():
        return ""
    return gained + (line.removeprefix(lost) if line.startswith(lost) else line.lstrip())


def _trimmed(old: list[str], new: list[str]) -> Hunk:
    """A hunk without the blank lines at its ends that old and new share: they are only spacing in the reply."""
    while old and new and not old[0].strip() and not new[0].strip():
        old, new = old[1:], new[1:]
    while old and new and not old[-1].strip() and not new[-1].strip():
        old, new = old[:-1], new[:-1]
    return Hunk(tuple(old), tuple(new))
