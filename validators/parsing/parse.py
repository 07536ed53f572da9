"""Parses a text to a tree, within a deadline and without stalling other threads."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from stet_ls.validators import languages
from stet_ls.validators.parsing import grammars, tree_cache
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source

if TYPE_CHECKING:
    import tree_sitter

# `Parser.parse(bytes)` holds the interpreter lock until it returns (418 ms for 2 MB) and ignores its progress callback.
# Reading through a callback costs nothing and lets other threads run: at most 26 ms between two chunks.
_CHUNK = 4096

# A parser's error recovery depends a little on what it could reuse: in one broken text of a hundred. So a broken text
# is parsed again, if it is small enough not to be noticed; 500 lines are 17 KB.
_EXACT = 64_000
_EXACT_SECONDS = 0.1

# The three bytes that "surrogatepass" writes for half a surrogate pair: not valid UTF-8.
_HALF_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_REPLACEMENT = "\ufffd".encode()


class DeadlineError(TimeoutError):
    """The parse reached its deadline and was stopped."""


def clean(source: Source) -> bytes:
    """The text as other tools can read it: valid UTF-8, every offset as in `source.data`, and a line end at the end.

    Half surrogates become U+FFFD, which has the same length. A lone carriage return, which ends a line in LSP but not
    in tree-sitter, becomes a line feed. Without the last line end some grammars reject a whole file (`#pragma`).
    """
    data = source.data
    if b"\xed" in data and not _is_utf8(data):
        data = _HALF_SURROGATE.sub(_REPLACEMENT, data)
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        # Three replacements take a tenth of the time of one expression; 0xFF never occurs in UTF-8.
        data = data.replace(b"\r\n", b"\xff\xff").replace(b"\r", b"\n").replace(b"\xff\xff", b"\r\n")
    return data if data.endswith(b"\n") else data + b"\n"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse(source: Source, language: str, *, deadline: float = 1.0) -> Parsed:
    """The tree of a text, from the cache if possible, or from the tree of a text that differs in a few places.

    The tree is the same as without the cache. Only in a broken text above _EXACT bytes the error nodes may be slightly
    different; `has_error` is the same even there.

    `deadline` is in seconds from now. Raises grammars.NoGrammarError and DeadlineError; broken code raises nothing.
    """
    language = languages.id_of(language)
    if (known := _memory.get(language, source.text)) is not None:
        return known
    end = time.monotonic() + deadline
    parser = grammars.parser(language)
    data = clean(source)
    try:
        base, tree = _from_nearest(parser, language, data, end)
        if tree is None:
            tree = _run(parser, data, end)
    except TimeoutError as error:
        raise DeadlineError(f"not parsed within {deadline:g} s") from error
    parsed = Parsed(source, language, data, tree)
    _memory.put(parsed, base)
    return parsed


def _from_nearest(
    parser: tree_sitter.Parser, language: str, data: bytes, end: float
) -> tuple[Parsed | None, tree_sitter.Tree | None]:
    """The tree made from that of a similar text, and that tree; None if there is none."""
    nearest = _memory.nearest(language, data)
    if nearest is None:
        return None, None
    base, made = nearest
    if not made:
        return base, base.tree
    tree = _run(parser, data, end, tree_cache.edited(base.tree, base.data, made))
    if tree.root_node.has_error and len(data) <= _EXACT:
        with suppress(TimeoutError):
            tree = _run(parser, data, min(end, time.monotonic() + _EXACT_SECONDS))
    return base, tree


def _run(parser: tree_sitter.Parser, data: bytes, end: float, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    """One run of the parser until `end`, a time of time.monotonic() (TimeoutError)."""
    cut = False
    parsing = True

    def read(offset: int, _point: object) -> bytes:
        nonlocal cut
        # `late` is not checked within a token, and a token can be a megabyte long: then the text ends here. `Node.text`
        # calls this long after the parse, and never ends if it gets nothing.
        cut = cut or (parsing and late())
        return b"" if cut else data[offset : _between_characters(data, offset + _CHUNK)]

    def late(*_: object) -> bool:
        return time.monotonic() > end

    try:
        if old is None:
            tree = parser.parse(read, encoding="utf8", progress_callback=late)
        else:
            tree = parser.parse(read, old, encoding="utf8", progress_callback=late)
    except ValueError as error:
        raise TimeoutError from error
    finally:
        # After an abort the next parse would continue with the old text.
        parser.reset()
        parsing = False
    if tree is None or cut:
        raise TimeoutError
    return tree


def _between_characters(data: bytes, offset: int) -> int:
    """The last position at or before `offset` that is not inside a character.

    After half a character the library requests the rest at once, and crashes on an empty answer: the end of a text that
    was cut.
    """
    while offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset


_memory = tree_cache.TreeCache()
