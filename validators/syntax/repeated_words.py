"""Words that may occur once but occur twice: `private private`. Most grammars accept them, no compiler does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span

REPEATED = "repeated-word"

_MOST = 100  # repeated words of one text
_WORD = re.compile(rb"\w+")
_TEXT = re.compile(
    "comment|string|char|token_tree|macro|preproc_(?:def|function_def|arg|call)|template_(?:string|literal)"
)


def repeated(words: str) -> Callable[[Parsed], tuple[Finding, ...]]:
    """The check for every one of some words that occurs a second time where the language allows it once.

    Modifiers may not come twice in one declaration, the others not twice in a row; only these words may be between
    them.
    """
    one = "|".join(words.split())
    runs = re.compile(rf"\b(?:{one})(?:[ \t\r\n]+(?:{one}))+\b".encode())

    def check(parsed: Parsed) -> tuple[Finding, ...]:
        seconds = (span for run in runs.finditer(parsed.source.data) for span in _seconds(run.group(), run.start()))
        return tuple(_finding(parsed, span) for span in islice(seconds, _MOST) if _is_code(parsed, span))

    return check


def _seconds(run: bytes, start: int) -> Iterator[Span]:
    seen: set[bytes] = set()
    for match in _WORD.finditer(run):
        if match.group() in seen:
            yield Span(start + match.start(), start + match.end())
        seen.add(match.group())


def _is_code(parsed: Parsed, span: Span) -> bool:
    """True for a word of the program that the grammar accepted: errors are reported elsewhere."""
    node = parsed.root.descendant_for_byte_range(span.start, span.end)
    if node is None or node.end_byte - node.start_byte != span.end - span.start:
        return False
    while node is not None and node.parent is not None:
        if node.is_error or _TEXT.search(node.type):
            return False
        node = node.parent
    return True


def _finding(parsed: Parsed, span: Span) -> Finding:
    word = parsed.source.slice(span)
    line = parsed.source.line_of(span.start)
    return Finding(
        span,
        f"'{word}' is repeated",
        code=REPEATED,
        line=line,
        suggestions=(f"remove one '{word}' of line {line + 1}",),
        signature=f"{REPEATED} {word} {parsed.source.line_text(line).strip()[:40]}",
    )
