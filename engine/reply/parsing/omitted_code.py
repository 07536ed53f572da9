"""Finds placeholders such as "and so on" in place of code. A reply with one is never applied."""

from __future__ import annotations

import re

from stet_ls.engine.reply.languages.language_table import for_language
from stet_ls.validators.source import Source
from stet_ls.validators.structure.literals import passages

_COMMENT = re.compile(r"^\s*(?:#+|//+|/\*+|\*+|--|<!--|;+|%+|\{/\*)\s*(?P<words>.*?)\s*(?:\*+/\}?|-->)?\s*$")
_DOTS = re.compile(r"\.{3}|\u2026")
_WORDS = re.compile(
    r"\b(?:existing|rest|remaining|other|previous|original|same|unchanged|omitted|unmodified|before|above|below|here"
    r"|code|logic|implementation|methods?|functions?|imports?|continue[sd]?)\b",
    re.IGNORECASE,
)
_OMITS = re.compile(
    r"^\W*(?:"
    r"(?:the |your )?rest of (?:the |your )?(?:code|function|method|class|file|module|script|logic|implementation)"
    r"(?: (?:remains?|stays?|is|goes) (?:the same|unchanged|as (?:before|is)|here))?"
    r"|(?:the )?(?:rest|remaining \w+|other \w+) (?:remains?|stays?|is|are) (?:the same|unchanged|as (?:before|is))"
    r"|(?:rest |code |everything else )?(?:unchanged|same as (?:before|above|the original))"
    r"|(?:existing|previous|original|remaining) (?:code|logic|implementation|methods?|functions?|imports?)(?: here)?"
    r"|(?:your|actual|more) (?:code|logic|implementation) (?:goes )?here"
    r"|(?:code|logic|implementation|body) (?:omitted|unchanged|goes here)(?: for brevity)?"
    r")\W*$",
    re.IGNORECASE,
)
_BARE = frozenset({"...", "\u2026", "[...]"})
_LONGEST = 60


def omitted_code(code: str, language: str, current: str = "") -> str | None:
    """The line that replaces omitted code, or None. A line that the present text has too is the user's own."""
    if not _DOTS.search(code) and not _WORDS.search(code):
        return None
    lines = code.split("\n")
    own = {line.strip() for line in current.split("\n")}
    literal = _literal_lines(code, language)
    for index, line in enumerate(lines):
        text = line.strip()
        if not text or text in own or index in literal:
            continue
        if text in _BARE:
            if _has_siblings(lines, index, language):
                return text
            continue
        comment = _COMMENT.match(line[:400])
        if comment is not None and _elides(comment["words"]):
            return text[:_LONGEST]
    return None


def _elides(words: str) -> bool:
    if _OMITS.match(words):
        return True
    return _DOTS.search(words) is not None and (not words.strip(" .\u2026") or _WORDS.search(words) is not None)


def _has_siblings(lines: list[str], index: int, language: str) -> bool:
    """True if a bare `...` has code around it: alone in its block it may be an empty body, before `)` C's varargs."""
    before = next((lines[at] for at in range(index - 1, -1, -1) if lines[at].strip()), "")
    after = next((lines[at] for at in range(index + 1, len(lines)) if lines[at].strip()), "")
    if not for_language(language).bare_ellipsis:
        return not after.lstrip().startswith(")")
    width = _width(lines[index])
    opens = before.rstrip().endswith((":", '"""', "'''"))
    return (bool(before) and _width(before) >= width and not opens) or (bool(after) and _width(after) == width)


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _literal_lines(code: str, language: str) -> frozenset[int]:
    """The lines inside multi-line strings."""
    source = Source(code)
    found: set[int] = set()
    for passage in passages(source, language):
        if passage.kind != "comment":
            first, last = source.line_of(passage.span.start), source.line_of(passage.span.end)
            if last > first:
                found.update(range(first, last + 1))
    return frozenset(found)
