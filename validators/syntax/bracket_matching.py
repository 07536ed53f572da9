"""Finds the unmatched bracket by the lines' indentation.

Counting alone blames the wrong one: if a method's brace is missing, its class's takes its place, and the class is left
open, a hundred lines above. Indentation shows the intended structure.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.syntax.brackets import CLOSERS, OPENERS, Stray, Unclosed, leaves

if TYPE_CHECKING:
    import tree_sitter

_TAB = 4
_DEEPEST = 100  # brackets that are searched for one token: real code does not nest deeper, but hostile text does
_LOOK_AT_CLOCK = 2048
_WHOLE = 100_000  # bytes of a text whose every token is read; in larger ones only those near an error


@dataclass(slots=True)
class _Open:
    """An open bracket.

    `base` is the indentation of its statement; `block`: nothing follows it on its line. `outdented` is the first later
    token that is not deeper than its statement: it should be closed by then. `flat`: its contents are not indented at
    all, such as a namespace's, so indentation shows nothing.
    """

    node: tree_sitter.Node
    row: int
    base: int
    block: bool = True
    flat: bool | None = None
    outdented: tree_sitter.Node | None = None


def blame(parsed: Parsed, counted: list[Unclosed | Stray], *, end: float) -> list[Unclosed | Stray]:
    """The errors by indentation, if they are not more than those counted; else those counted.

    `end` is a time of time.monotonic(); after it the counted ones are returned.
    """
    reader = _Reader(parsed)
    for number, leaf in enumerate(leaves(parsed.root, broken=len(parsed.data) > _WHOLE)):
        if number % _LOOK_AT_CLOCK == 0 and time.monotonic() > end:
            return counted
        if not leaf.is_missing and "comment" not in leaf.type:
            reader.read(leaf)
        if len(reader.found) > len(counted):
            return counted
    meant = reader.found + [Unclosed(one.node, one.outdented) for one in reversed(reader.stack)]
    return meant if len(meant) <= len(counted) else counted


class _Reader:
    """Follows the tokens with a stack of open brackets and the indentation of their lines."""

    def __init__(self, parsed: Parsed) -> None:
        self.found: list[Unclosed | Stray] = []
        self.stack: list[_Open] = []
        self._data = parsed.data
        self._row = -1
        self._base = 0  # where the current line's statement starts
        self._only_closers = True  # on the current line, so far
        self._last: tree_sitter.Node | None = None
        self._heads: list[tuple[int, int, tree_sitter.Node]] = []  # indentation, row and last token of lines above

    def read(self, leaf: tree_sitter.Node) -> None:
        row = leaf.start_point.row
        first = row != self._row
        if first:
            self._begin_line(leaf, row)
        elif self.stack and self.stack[-1].row == row:
            self.stack[-1].block = False
        if leaf.type in OPENERS:
            self._close(leaf, first)
        else:
            if first:
                self._outdent(leaf)
            self._only_closers = False
            if leaf.type in CLOSERS:
                self.stack.append(_Open(leaf, row, self._base))
        self._last = leaf
        self._row = leaf.end_point.row

    def _begin_line(self, leaf: tree_sitter.Node, row: int) -> None:
        if self._last is not None:
            while self._heads and self._heads[-1][0] >= self._base:
                self._heads.pop()
            self._heads.append((self._base, self._row, self._last))
        start = leaf.start_byte - leaf.start_point.column
        line = self._data[start : leaf.start_byte]
        self._base = len(line[: len(line) - len(line.lstrip())].expandtabs(_TAB))
        self._only_closers = True

    def _outdent(self, leaf: tree_sitter.Node) -> None:
        if leaf.type.startswith("#"):  # a preprocessor line has its own column
            return
        for one in islice(reversed(self.stack), _DEEPEST):
            if one.flat is None:
                one.flat = one.block and self._base <= one.base
            if self._base > one.base:
                break
            if one.outdented is None and not one.flat:
                one.outdented = leaf

    def _close(self, leaf: tree_sitter.Node, first: bool) -> None:
        first_seen = max(len(self.stack) - _DEEPEST, 0)
        fitting = [n for n in range(first_seen, len(self.stack)) if CLOSERS[self.stack[n].node.type] == leaf.type]
        if not fitting:
            self.found.append(Stray(leaf, self._head() if first else None))
            return
        at = fitting[-1]
        row = leaf.start_point.row
        if self.stack[at].row != row:
            if first:
                same = [n for n in fitting if self.stack[n].base == self._base]
                if self.stack[at].base < self._base:
                    self.found.append(Stray(leaf, self._head()))
                    return
                if same and (self.stack[at].base > self._base or self.stack[at].outdented is not None):
                    kept = [n for n in same if self.stack[n].outdented is None]
                    at = kept[-1] if kept else same[-1]
            elif not self._only_closers and any(one.block and one.row != row for one in self.stack[at:]):
                self.found.append(Stray(leaf))
                return
        while len(self.stack) > at + 1:
            inner = self.stack.pop()
            self.found.append(Unclosed(inner.node, inner.outdented or leaf))
        closed = self.stack.pop()
        self._base = min(self._base, closed.base)

    def _head(self) -> tree_sitter.Node | None:
        """The last token of the line above that is as deep as this one, if the lines between are deeper."""
        deeper = False
        for base, _, last in reversed(self._heads):
            if base > self._base:
                deeper = True
                continue
            return last if base == self._base and deeper else None
        return None
