"""`stet:` comments: instructions that a user left in the text, in the comment syntax of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from stet_ls.validators.languages import PLAIN, language
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.literals import passages

_MENTION = re.compile(rb"(?i)(?<![\w-])stet:")
_OPENER_REACH = 200
"""The most characters between the start of a block comment and `stet:`: only white space and decoration."""

# For languages that are not in the table, and those with more marks than the one in the table.
_COMMON_LINES = ("#", "//", "--", ";", "%")
_COMMON_BLOCKS = (("/*", "*/"), ("<!--", "-->"))
_MORE_LINES = {"php": ("#",), "ini": ("#",), "terraform": ("//",)}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with an instruction: `text` without its marks, lines joined.

    `span` is what is removed with the comment. For a comment `alone` on its lines it covers them whole, from column 0
    to the end of the last one without its line end; after code, it includes the white space before the comment.
    """

    text: str
    span: Span
    alone: bool


def stet_comments(source: Source, language_id: str) -> tuple[Comment, ...]:
    """All `stet:` comments of a text in its order. Cheap if there are none: the text is searched, not parsed."""
    found: list[Comment] = []
    for mention in _MENTION.finditer(source.data):
        if found and mention.start() < found[-1].span.end:
            continue
        comment = _line_comment(source, language_id, mention) or _block_comment(source, language_id, mention)
        if comment is not None and comment.text:
            found.append(comment)
    if not found:
        return ()
    strings = [passage.span for passage in passages(source, language_id) if passage.kind != "comment"]
    return tuple(one for one in found if not any(string.start < one.span.end <= string.end for string in strings))


def comment_words(text: str, language_id: str) -> str | None:
    """The words of a text that consists only of comments; None if there is anything else, or nothing."""
    line_mark, blocks = _marks(language_id)
    whole = text.strip()
    for opener, closer in blocks:
        if whole.startswith(opener) and whole.endswith(closer) and len(whole) >= len(opener) + len(closer):
            return _unstarred(whole[len(opener) : -len(closer)]) or None
    words = []
    for line in filter(None, map(str.strip, whole.splitlines())):
        mark = line_mark.match(line)
        if mark is None:
            return None
        words.append(line[mark.end() :].strip())
    return " ".join(filter(None, words)) or None


def comment_above(source: Source, language_id: str, line: int) -> int:
    """The first of the comment lines right above a line; the line itself if there is none. Does not parse."""
    line_mark, blocks = _marks(language_id)
    while line:
        text = source.line_text(line - 1).strip()
        opened = next((at for block in blocks if (at := _opening(source, line - 1, *block)) is not None), None)
        if opened is not None:
            line = opened
        elif line_mark.match(text):
            line -= 1
        else:
            break
    return line


def _opening(source: Source, line: int, opener: str, closer: str) -> int | None:
    """The first line of the block comment that ends on `line`, if the comment is alone on its lines; else None."""
    end = source.starts[line] + len(source.line_text(line).rstrip().encode())
    if not source.data.endswith(closer.encode(), 0, end):
        return None  # true of most lines, so the text need not be searched
    opened = source.data.rfind(opener.encode(), 0, end)
    if opened < 0 or source.data.find(closer.encode(), opened + len(opener)) != end - len(closer.encode()):
        return None
    first = source.line_of(opened)
    return None if source.data[source.starts[first] : opened].strip() else first


def _line_comment(source: Source, language_id: str, mention: re.Match[bytes]) -> Comment | None:
    first = source.line_of(mention.start())
    start = source.starts[first]
    before = source.slice(Span(start, mention.start()))
    line_mark, _ = _marks(language_id)
    mark = next((found for found in line_mark.finditer(before) if not before[found.end() :].strip()), None)
    if mark is None:
        return None
    end = source.line_span(first).end
    words = [source.slice(Span(mention.end(), end)).strip()]
    code = before[: mark.start()]
    if code.strip():
        return Comment(words[0], Span(start + len(code.rstrip().encode()), end), alone=False)
    last = first
    while last + 1 < source.line_count:
        following = source.line_text(last + 1)
        more = line_mark.match(following.lstrip())
        if more is None or more.group() != mark.group() or _MENTION.search(following.encode()):
            break
        words.append(following.lstrip()[more.end() :].strip())
        last += 1
    return Comment(" ".join(filter(None, words)), Span(start, source.line_span(last).end), alone=True)


def _block_comment(source: Source, language_id: str, mention: re.Match[bytes]) -> Comment | None:
    data = source.data
    for opener, closer in _marks(language_id)[1]:
        reach = max(0, mention.start() - _OPENER_REACH)
        opened = data.rfind(opener.encode(), reach, mention.start())
        closed = data.find(closer.encode(), mention.end())
        if opened < 0 or closed < 0 or data[opened + len(opener) : mention.start()].strip(b"*!- \t\r\n"):
            continue
        text = _unstarred(source.slice(Span(mention.end(), closed)))
        lines = Span(source.starts[source.line_of(opened)], source.line_span(source.line_of(closed)).end)
        end = closed + len(closer)
        if not data[lines.start : opened].strip() and not data[end : lines.end].strip():
            return Comment(text, lines, alone=True)
        start = lines.start + len(data[lines.start : opened].rstrip())
        return Comment(text, Span(start if data[lines.start : opened].strip() else opened, end), alone=False)
    return None


def _unstarred(text: str) -> str:
    return " ".join(filter(None, (line.strip().lstrip("*").strip() for line in text.splitlines())))


@cache
def _marks(language_id: str) -> tuple[re.Pattern[str], tuple[tuple[str, str], ...]]:
    """A pattern of the language's line marks, repeated ones (`##`, `///`, `//!`) included, and its block marks."""
    row = language(language_id)
    blocks: tuple[tuple[str, str], ...]
    if row is None or row.id == PLAIN:
        lines, blocks = _COMMON_LINES, _COMMON_BLOCKS
    else:
        lines = tuple(filter(None, (row.line_comment, *_MORE_LINES.get(row.id, ()))))
        blocks = (row.block_comment,) if row.block_comment else ()
    alternatives = "|".join(f"{re.escape(mark)}(?:{re.escape(mark[-1])})*!?" for mark in lines)
    return re.compile(alternatives or r"(?!)"), blocks
