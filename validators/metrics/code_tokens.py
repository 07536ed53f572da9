"""A text as code tokens: for comparing texts that differ only in layout and comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from stet_ls.validators import languages

# An unclosed string runs to the end of its line or of the text: an alternative that failed there would be tried again
# from each quote, in quadratic time.
_LONG = r"\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|`(?:[^`\\]|\\[\s\S]?)*(?:`|\Z)"
_DOUBLE = r"\"(?:[^\"\\\n]|\\.?)*\"?"
_SINGLE = r"'(?:[^'\\\n]|\\.?)*'?"
_CHARACTER = r"'(?:\\[^'\n]{1,10}|[^'\\\n])'"  # where a single quote may also start a lifetime
_WORDS = r"[^\W\d]\w*|\d[\w.]*|[^\w\s]"


@dataclass(frozen=True, slots=True)
class CodeTokens:
    """The tokens of a text, and the byte offsets at which each starts and ends."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


def tokens(data: bytes, language: str) -> CodeTokens:
    """The tokens of a text without its comments, by the language's row alone: it need not parse."""
    words, starts, ends = [], [], []
    for match in _lexer(language).finditer(data.decode("latin-1")):  # one character per byte: offsets stay bytes
        if match.lastgroup != "comment":
            words.append(match.group())
            starts.append(match.start())
            ends.append(match.end())
    return CodeTokens(words, starts, ends)


@cache
def _lexer(language: str) -> re.Pattern[str]:
    row = languages.language(language)
    comments = []
    if row and row.line_comment:
        comments.append(re.escape(row.line_comment) + r"[^\n]*")
    if row and row.block_comment:
        start, end = map(re.escape, row.block_comment)
        comments.insert(0, rf"{start}[\s\S]*?(?:{end}|\Z)")
    single = _CHARACTER if row and row.lifetimes else _SINGLE
    comment = f"(?P<comment>{'|'.join(comments)})|" if comments else ""
    return re.compile(f"{comment}{_LONG}|{_DOUBLE}|{single}|{_WORDS}")
