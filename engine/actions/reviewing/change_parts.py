"""The parts of a change that a reviewer is shown one after the other, where the whole does not fit into a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.source import Source, Span


@dataclass(frozen=True, slots=True)
class ChangePart:
    """Lines of the text after a change, from 0 and without the last, and those that they were before."""

    first: int
    end: int
    before: str

    def span(self, after: Source) -> Span:
        """The lines in the text. A part without a line, a removal, is the line at its place."""
        most = after.line_count - 1
        most -= most > 0 and not after.line_text(most)
        first = min(self.first, most)
        return Span(after.starts[first], after.line_span(min(max(self.end - 1, first), most)).end)


def change_parts(before: Source, after: Source, fits: Callable[[Span], bool]) -> Iterator[ChangePart]:
    """As few parts as fit: changes that are next to each other stay together, and a long one is cut."""
    old, new = before.text.splitlines(), after.text.splitlines()
    open_part: tuple[int, int, int, int] | None = None
    for i1, i2, j1, j2 in _hunks(old, new):
        if open_part is not None:
            o1, _, n1, _ = open_part
            joined = (o1, i2, n1, j2)
            if fits(_part(old, joined).span(after)):
                open_part = joined
                continue
            yield _part(old, open_part)
        cut = j2
        while cut - j1 > 1 and not fits(_part(old, (i1, i2, j1, cut)).span(after)):
            cut = j1 + (cut - j1) // 2
        open_part = (i1, i2, j1, cut)
        while cut < j2:
            yield _part(old, open_part)
            open_part = (i2, i2, cut, min(cut + open_part[3] - open_part[2], j2))
            cut = open_part[3]
    if open_part is not None:
        yield _part(old, open_part)


def _hunks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    head, tail = common_ends(old, new)
    changed = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    for tag, i1, i2, j1, j2 in changed.get_opcodes():
        if tag != "equal":
            yield i1 + head, i2 + head, j1 + head, j2 + head


def _part(old: list[str], hunk: tuple[int, int, int, int]) -> ChangePart:
    i1, i2, j1, j2 = hunk
    return ChangePart(j1, j2, "\n".join(old[i1:i2]))
