"""Removes chat artifacts from code: copied prefixes, invisible characters, typographic quotes."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from stet_ls.validators.languages import for_language
from stet_ls.validators.parsing.grammars import NoGrammarError
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.source import Source
from stet_ls.validators.structure.literals import passages

_NUMBERED = re.compile(r"^[ \t]*(\d{1,7})(?:[ ]?[|:\u2502\u2192][ ]?|\t|[.)][ ]|[ ]{2})(.*)$")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: |$)")
_QUOTE = re.compile(r"^[ \t]*>(?!>) ?")
_PLUS = re.compile(r"^\+(?!\+)")

_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"), "")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2007\u2009\u3000"), " ")
_QUOTES = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u201f"} | {
    ord(mark): "'" for mark in "\u2018\u2019\u201a\u201b"
}
_ALL = _INVISIBLE | _SPACES | _QUOTES
_SUSPECT = re.compile("[" + "".join(map(chr, _ALL)) + "]")


def clean(code: str, language: str) -> str:
    """The code with line feeds, without copied prefixes and, outside of strings, odd characters. Idempotent."""
    code = code.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    for strip in (_without_numbers, _strip_all(_PROMPT), _strip_all(_PLUS), _strip_all(_QUOTE)):
        code = strip(code, language)
    return _with_plain_characters(code, language) if _SUSPECT.search(code) else code


def unquoted(text: str) -> str:
    """A reply without the `> ` of a quotation, if all its lines have it."""
    return _strip_all(_QUOTE)(text, "")


def _strip_all(prefix: re.Pattern[str]) -> Callable[[str, str], str]:
    """A function that removes `prefix` from each line if all lines that are not blank have it."""

    def strip(code: str, language: str) -> str:
        lines = code.split("\n")
        full = [line for line in lines if line.strip()]
        if for_language(language).kind != "code" or not full or not all(prefix.match(line) for line in full):
            return code
        return "\n".join(prefix.sub("", line, count=1) for line in lines)

    return strip


def _without_numbers(code: str, language: str) -> str:
    """The code without line numbers: at least two of them, each one more than the last."""
    if for_language(language).kind != "code":
        return code
    lines = code.split("\n")
    matches = [_NUMBERED.match(line) if line.strip() else None for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < 2 or any(match is None and line.strip() for match, line in zip(matches, lines, strict=True)):
        return code
    if any(second - first != 1 for first, second in pairwise(numbers)):
        return code
    return "\n".join(match[2] if match else line for match, line in zip(matches, lines, strict=True))


def _with_plain_characters(code: str, language: str) -> str:
    if _parses(code, language):
        return _outside(code, language, ("string", "heredoc", "doc", "comment"))
    outside = _outside(code, language, ("string", "heredoc", "doc", "comment"))
    if _parses(outside, language):
        return outside
    # With a typographic quote at the start of a string, the parser does not find the string.
    everywhere = _outside(code, language, ("comment",))
    return everywhere if _parses(everywhere, language) else outside


def _outside(code: str, language: str, kinds: tuple[str, ...]) -> str:
    """The code with its odd characters replaced, except inside passages of these kinds."""
    data = Source(code).data
    pieces: list[str] = []
    at = 0
    for passage in passages(Source(code), language):
        if passage.kind in kinds:
            pieces.append(_text(data[at : passage.span.start]).translate(_ALL))
            pieces.append(_text(data[passage.span.start : passage.span.end]))
            at = passage.span.end
    pieces.append(_text(data[at:]).translate(_ALL))
    return "".join(pieces)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _parses(code: str, language: str) -> bool:
    try:
        return not parse(Source(code), language).root.has_error
    except (NoGrammarError, DeadlineError):
        return False
