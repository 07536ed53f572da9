"""A project's notes on how it writes code: the matching sections of its AGENTS.md.

They are free text, so they are fenced as data and never part of the rules. They are kept short: such files help a
little if a person wrote them; they cost a fifth more, and harm a little if a tool wrote them (arXiv 2602.11988).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.prompt.context.conventions import read_upwards
from stet_ls.validators.languages import language

FILE = "AGENTS.md"
MOST = 1_500
"""The most bytes that are shown."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S[^\n]*)$")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_WANTED = re.compile(
    r"(?i)\b(?:code|coding|style|styles|conventions?|format(?:ting)?|naming|names|guidelines?|tests?|testing|types?|"
    r"typing|errors?|comments?|docstrings?|documentation|patterns?|practices)\b"
)


def notes(request: Request, ignored: IgnoredFiles) -> str:
    """The matching sections of the nearest AGENTS.md, at most `MOST` bytes, "" if none does. Reads files."""
    text = next((text for _, text in read_upwards(request, (FILE,), ignored)), "")
    kept = "\n".join(_matching(text, request.language))
    if len(kept.encode("utf-8", "replace")) <= MOST:
        return kept.strip()
    cut = kept.encode("utf-8", "replace")[:MOST].decode("utf-8", "ignore")
    return cut.rpartition("\n")[0].strip()


def _matching(text: str, language_id: str) -> Iterator[str]:
    """The lines of sections whose heading, or that of an enclosing section, mentions code or the language."""
    row = language(language_id)
    title = row.title.lower() if row else language_id
    level = 0  # of the heading that matched for the current lines
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading and (not level or len(heading[1]) <= level):
            words = heading[2].lower()
            level = len(heading[1]) if _WANTED.search(words) or title in words.split() else 0
        if level:
            yield line
