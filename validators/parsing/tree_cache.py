"""The last few trees, and the lookup of one from which a new text can be parsed incrementally."""

from __future__ import annotations

import threading
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

from stet_ls.validators.parsing.incremental_edits import ByteEdit, edits

if TYPE_CHECKING:
    import tree_sitter

    from stet_ls.validators.parsing.tree import Parsed

_MOST = 16
_MOST_VERSIONS = 4  # of one document: the user's current text, a job's, its candidate, and the previous one
_MOST_BYTES = 8_000_000  # of all texts together; a tree takes about ten times the memory of its text
_LOOKS = 6
_NEAR = 10  # a change of less than a tenth of the text: no search for a more similar one


class TreeCache:
    """Caches trees by language and text. Versions of one document do not evict other documents' trees."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: OrderedDict[tuple[str, str], Parsed] = OrderedDict()  # the last used is last
        self._families: dict[tuple[str, str], object] = {}

    def get(self, language: str, text: str) -> Parsed | None:
        """The tree of exactly this text."""
        key = (language, text)
        with self._lock:
            if key in self._trees:
                self._trees.move_to_end(key)
            return self._trees.get(key)

    def nearest(self, language: str, data: bytes) -> tuple[Parsed, list[ByteEdit]] | None:
        """The tree of a text that shares at least half of its bytes with `data`, and the edits that lead to `data`."""
        with self._lock:
            known = [one for one in reversed(self._trees.values()) if one.language == language]
        alike = (one for one in known if len(one.data) <= 2 * len(data) <= 4 * len(one.data))
        nearest = None
        least = len(data)
        for one in islice(alike, _LOOKS):
            made = edits(one.data, data)
            changed = sum(edit.end - edit.start + len(edit.new) for edit in made)
            if changed < least:
                least, nearest = changed, (one, made)
            if changed * _NEAR < len(data):
                break
        return nearest

    def put(self, parsed: Parsed, base: Parsed | None) -> None:
        """Stores a tree; `base` is the one from which it was parsed."""
        if len(parsed.data) > _MOST_BYTES:
            return
        key = (parsed.language, parsed.source.text)
        with self._lock:
            known = self._families.get((base.language, base.source.text)) if base else None
            family = self._families[key] = known or object()
            self._trees[key] = parsed
            versions = [key for key in self._trees if self._families[key] is family]
            for old in versions[:-_MOST_VERSIONS]:
                self._forget(old)
            while len(self._trees) > _MOST or sum(len(each.data) for each in self._trees.values()) > _MOST_BYTES:
                self._forget(next(iter(self._trees)))

    def _forget(self, key: tuple[str, str]) -> None:
        del self._trees[key], self._families[key]


def edited(tree: tree_sitter.Tree, old: bytes, made: list[ByteEdit]) -> tree_sitter.Tree:
    """A copy of a tree with its changed ranges, as the parser needs it."""
    copy = tree.copy()
    for edit in reversed(made):  # from the last: those before it keep their positions
        row, column = _point(old, edit.start)
        lines = edit.new.count(b"\n")
        width = len(edit.new) - (edit.new.rfind(b"\n") + 1)
        copy.edit(
            edit.start,
            edit.end,
            edit.start + len(edit.new),
            (row, column),
            _point(old, edit.end),
            (row + lines, width if lines else column + width),
        )
    return copy


def _point(data: bytes, offset: int) -> tuple[int, int]:
    """Row and column in bytes, as tree-sitter counts them."""
    return data.count(b"\n", 0, offset), offset - (data.rfind(b"\n", 0, offset) + 1)
