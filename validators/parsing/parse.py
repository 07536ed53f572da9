"""From a text to a tree, within a deadline and without stalling other threads."""

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

# `Parser.parse(bytes)` holds the interpreter lock to its end (418 ms for 2 MB) and ignores its progress callback.
# Reading through a callback costs nothing and lets other threads in: at most 26 ms between two chunks.
_CHUNK = 4096

# How a parser recovers from an error depends a little on what it could reuse: in one broken text of a hundred. So a
# broken text is parsed anew, if it is small enough for nobody to notice; 500 lines are 17 KB.
_EXACT = 64_000
_EXACT_SECONDS = 0.1

# The three bytes that "surrogatepass" writes for half a surrogate pair: no UTF-8 to anybody else.
_HALF_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_REPLACEMENT = "\ufffd".encode()


class DeadlineError(TimeoutError):
    """The parse was given up when its time was over."""


def clean(source: Source) -> bytes:
    """The text as other tools can read it: valid UTF-8, every offset as in `source.data`, and a line end at the end.

    Half surrogates become U+FFFD, which is as long. A lone carriage return, which ends a line in LSP but not in
    tree-sitter, becomes a line feed. Without the last line end some grammars call a whole file broken (`#pragma`).
    """
    data = source.data
    if b"\xed" in data and not _is_utf8(data):
        data = _HALF_SURROGATE.sub(_REPLACEMENT, data)
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        # Three replacements take a tenth of the time of one expression; 0xFF is in no UTF-8.
        data = data.replace(b"\r\n", b"\xff\xff").replace(b"\r", b"\n").replace(b"\xff\xff", b"\r\n")
    return data if data.endswith(b"\n") else data + b"\n"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse(source: Source, language: str, *, deadline: float = 1.0) -> Parsed:
    """The tree of a text, as far as possible from memory, or from the tree of a text that differs in a few places.

    The tree is the one that the whole text gives. Only of a broken text above _EXACT bytes the error nodes may lie a
    little differently than they would without its history; `has_error` is the same even there.

    `deadline` is in seconds from now. Raises grammars.NoGrammarError and DeadlineError; broken code raises nothing.
    """
    row = languages.language(language)
    language = row.id if row else language
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
    """The tree made from that of a text that is much alike, and whose that was; nothing if there is none."""
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
        # Nobody asks `late` within a token, and a token can be a megabyte long: then the text ends here.
        # `Node.text` calls this long after the parse, and never ends if it is given nothing.
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
        # After an abort the next parse would go on with the old text.
        parser.reset()
        parsing = False
    if tree is None or cut:
        raise TimeoutError
    return tree


def _between_characters(data: bytes, offset: int) -> int:
    """The last place at or before `offset` that is inside no character.

    Behind half a character the library asks for the rest at once, and dies of an empty answer: the text's end by `cut`.
    """
    while offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset


_memory = tree_cache.TreeCache()
