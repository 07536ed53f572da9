"""Finds code without a fence, alone or among prose."""

from __future__ import annotations

import re

from stet_ls.engine.reply.parsing.fences import SplitReply
from stet_ls.engine.reply.parsing.repetition import loop_start
from stet_ls.engine.reply.parsing.reply_spec import (
    NO_CODE,
    REPEATED,
    STOPPED,
    FoundCode,
    NoCode,
    ReplySpec,
    SearchResult,
)
from stet_ls.engine.reply.parsing.snippet import Snippet
from stet_ls.engine.reply.parsing.truncated_code import complete_units

_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([\w:]{1,40}\))?|public|private|protected|internal|static|final|abstract|async"
    r"|unsafe|inline|virtual|override|sealed|const|extern|template|open|suspend|local)[ \t]+){0,6}"
)
_STARTS = re.compile(
    rf"[ \t]*(?:@\w|#\[|#include|#!|//|/\*|import\b|from [\w.]+ import|use [\w:]|using \w|package \w|<\?php|template ?<"
    rf"|{_MODIFIERS}(?:def|class|function|func|fn|fun|interface|struct|enum|type|trait|impl|module|namespace|var|let"
    rf"|const|val|void|int|bool|boolean|double|float|String|string)\b)"
)
_MARK = re.compile(r"[({\[=;]")
_INLINE = re.compile(r"`([^`\n]+)`\.?")
_STARTS_TRIED = 8
_ENDS_TRIED = 12
_LONGEST = 200_000


def unfenced(page: SplitReply, wanted: ReplySpec) -> SearchResult:
    """The code in a reply's prose: the requested unit must be in it and must parse."""
    labeled = page.prose("code")
    text = labeled or page.prose("", "code")
    if len(text) > _LONGEST:
        return NoCode(NO_CODE if loop_start(text) is None else REPEATED)
    if inline := _INLINE.fullmatch(text):
        text = inline[1]
    snippet = wanted.snippet(text) if labeled and not wanted.truncated else None
    if snippet is not None and snippet.state == "unknown" and wanted.accepts(snippet):
        return FoundCode(text, ("the code had no fence",))
    lines = text.split("\n")
    for start in _starts(lines):
        for end in _ends(lines, start):
            piece = "\n".join(lines[start:end]).rstrip()
            snippet = wanted.snippet(piece)
            if snippet.state != "ok" or not _is_code(snippet, wanted):
                continue
            if wanted.truncated and end == len(lines):
                piece = complete_units(snippet)
                if not wanted.symbol or not wanted.accepts(wanted.snippet(piece)):
                    return NoCode(STOPPED)
            return FoundCode(piece, ("the code had no fence",))
    return _why_not(lines, wanted)


def _is_code(snippet: Snippet, wanted: ReplySpec) -> bool:
    """True if a snippet has signs of code: in many languages, words parse too."""
    return wanted.accepts(snippet) and (bool(snippet.units) or (not wanted.symbol and bool(_MARK.search(snippet.text))))


def _starts(lines: list[str]) -> list[int]:
    """The lines at which code may start: the first that is not blank, and those that look like code."""
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return []
    likely = [index for index, line in enumerate(lines) if index != first and _STARTS.match(line)]
    fresh = [index for index in likely if index - 1 not in likely]
    return [first, *fresh[:_STARTS_TRIED]]


def _ends(lines: list[str], start: int) -> list[int]:
    """The lines at which the code may end, the last first: before a paragraph at the margin, or a lone line."""
    ends = [len(lines)]
    for index in range(len(lines) - 1, start, -1):
        if lines[index].strip() and not lines[index][0].isspace() and not lines[index - 1].strip():
            ends.append(index)
    if len(ends) > _ENDS_TRIED:  # the last paragraphs and the first ones: code has little prose on either side
        ends = ends[: _ENDS_TRIED // 2] + ends[-_ENDS_TRIED // 2 :]
    dedent = next((i for i in range(start + 1, len(lines)) if lines[i].strip() and not lines[i][0].isspace()), None)
    return [*ends, dedent] if dedent is not None and dedent not in ends else ends


def _why_not(lines: list[str], wanted: ReplySpec) -> NoCode:
    text = "\n".join(lines)
    if loop_start(text) is not None:
        return NoCode(REPEATED)
    begun = wanted.truncated and any(_STARTS.match(line) for line in lines)
    return NoCode(STOPPED if begun else NO_CODE)
