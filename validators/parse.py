"""From a text to a tree, within a deadline and without stalling other threads."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators import grammars, languages
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    import tree_sitter

# `Parser.parse(bytes)` holds the interpreter lock to its end (418 ms for 2 MB) and ignores its progress callback.
# Reading through a callback costs nothing and lets other threads in: at most 26 ms between two chunks.
_CHUNK = 4096

_REMEMBERED = 8
_REMEMBERED_BYTES = 8_000_000  # of all texts together; a tree takes about ten times the memory of its text

# The three bytes that "surrogatepass" writes for half a surrogate pair: no UTF-8 to anybody else.
_HALF_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_REPLACEMENT = "\ufffd".encode()
_LONE_RETURN = re.compile(rb"\r(?!\n)")


class DeadlineError(TimeoutError):
    """The parse was given up when its time was over."""


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A tree and what it was made from; equal to itself alone.

    `data` has the offsets of the source's bytes, and a line end more at most.
    """

    source: Source
    language: str
    data: bytes
    tree: tree_sitter.Tree

    @property
    def root(self) -> tree_sitter.Node:
        """The tree's root. Its `has_error` is the verdict: hidden missing tokens leave no node to be found."""
        return self.tree.root_node

    def span(self, node: tree_sitter.Node) -> Span:
        """A node's bytes in the source, without the line end that some statements swallow."""
        end = min(node.end_byte, len(self.source.data))
        start = min(node.start_byte, end)
        return Span(start, start + len(self.source.data[start:end].rstrip(b"\r\n")))

    def text(self, node: tree_sitter.Node) -> str:
        """A node's text."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def clean(source: Source) -> bytes:
    """The text as other tools can read it: valid UTF-8, every offset as in `source.data`, and a line end at the end.

    Half surrogates become U+FFFD, which is as long. A lone carriage return, which ends a line in LSP but not in
    tree-sitter, becomes a line feed. Without the last line end some grammars call a whole file broken (`#pragma`).
    """
    data = source.data
    if not data.isascii():
        data = _HALF_SURROGATE.sub(_REPLACEMENT, data)
    if b"\r" in data:
        data = _LONE_RETURN.sub(b"\n", data)
    return data if data.endswith(b"\n") else data + b"\n"


def parse(source: Source, language: str, *, deadline: float = 1.0) -> Parsed:
    """The tree of a text, as far as possible from memory.

    `deadline` is in seconds from now. Raises grammars.NoGrammarError and DeadlineError; broken code raises nothing.
    """
    row = languages.language(language)
    language = row.id if row else language
    if (known := _memory.get(source, language)) is not None:
        return known
    parser = grammars.parser(language)
    data = clean(source)
    end = time.monotonic() + deadline

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + _CHUNK]

    def late(_offset: int, _has_error: bool) -> bool:
        return time.monotonic() > end

    try:
        tree = parser.parse(read, encoding="utf8", progress_callback=late)
    except ValueError as error:
        raise DeadlineError(f"not parsed within {deadline:g} s") from error
    finally:
        # After an abort the next parse would go on with the old text.
        parser.reset()
    if tree is None:
        raise DeadlineError(f"not parsed within {deadline:g} s")
    parsed = Parsed(source, language, data, tree)
    _memory.put(parsed)
    return parsed


class _Memory:
    """The last few trees: one job asks for the same text's structure and verdict many times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[str, str], Parsed] = OrderedDict()

    def get(self, source: Source, language: str) -> Parsed | None:
        key = (language, source.text)
        with self._lock:
            if key in self._trees:
                self._trees.move_to_end(key)
            return self._trees.get(key)

    def put(self, parsed: Parsed) -> None:
        if len(parsed.data) > _REMEMBERED_BYTES:
            return
        with self._lock:
            self._trees[parsed.language, parsed.source.text] = parsed
            while len(self._trees) > _REMEMBERED or self._size() > _REMEMBERED_BYTES:
                self._trees.popitem(last=False)

    def _size(self) -> int:
        return sum(len(parsed.data) for parsed in self._trees.values())


_memory = _Memory()
