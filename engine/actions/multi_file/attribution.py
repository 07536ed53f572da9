"""Which step of a task made which change: a hunk that two steps wrote belongs to both."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.api.answer import Answer, Edit, NewFile, edited_text, edits_by_path

_Line = tuple[int | None, frozenset[int]]
"""A line of the text so far: its number in the first text, or None; and the steps that wrote it."""


def with_steps(edits: Sequence[Edit], done: Mapping[int, Answer]) -> tuple[Edit, ...]:
    """The edits of a whole task, each with the numbers of the steps that made it; `done` are the steps' answers."""
    histories: dict[Path | None, _History] = {}
    for edit in edits:
        if edit.path not in histories:
            histories[edit.path] = _History(edit.base.text)
    for step, answer in sorted(done.items()):
        for path, own in edits_by_path(answer.edits).items():
            if path in histories:
                histories[path].become(own[0].base.text, frozenset())
                histories[path].become(edited_text(own).text, frozenset({step}))
    return tuple(_attributed(edit, edits, histories[edit.path]) for edit in edits)


def files_with_steps(files: Iterable[NewFile], done: Mapping[int, Answer]) -> tuple[NewFile, ...]:
    """The new files of a whole task, each with the steps that wrote to it."""
    return tuple(
        replace(file, steps=tuple(sorted(step for step, answer in done.items() if file.path in answer.touched)))
        for file in files
    )


def _attributed(edit: Edit, edits: Sequence[Edit], history: _History) -> Edit:
    """The edit with its steps. Its lines in the last text are found by those of the edits before it."""
    lines = edit.base.text.splitlines(keepends=True)
    first, last = edit.base.line_of(edit.span.start), edit.base.line_of(edit.span.end)
    shift = sum(
        _count(other.new_text) - (other.base.line_of(other.span.end) - other.base.line_of(other.span.start))
        for other in edits
        if other.path == edit.path and other.span.end <= edit.span.start and other is not edit
    )
    gone = range(first, min(last + (not edit.span.empty and first == last), len(lines)))
    new = range(first + shift, first + shift + _count(edit.new_text))
    return replace(edit, steps=tuple(sorted(history.steps(gone, new))))


def _count(text: str) -> int:
    return len(text.splitlines())


class _History:
    """The lines of one file through the steps."""

    def __init__(self, text: str) -> None:
        self._text = text.splitlines(keepends=True)
        self._lines: list[_Line] = [(number, frozenset()) for number in range(len(self._text))]
        self._deleted: dict[int, frozenset[int]] = defaultdict(frozenset)

    def become(self, text: str, steps: frozenset[int]) -> None:
        """The file gets another text by these steps."""
        new = text.splitlines(keepends=True)
        lines: list[_Line] = []
        matcher = difflib.SequenceMatcher(None, self._text, new, autojunk=False)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes():
            if kind == "equal":
                lines += self._lines[i1:i2]
                continue
            replaced = frozenset[int]()
            for origin, by in self._lines[i1:i2]:
                replaced |= by
                if origin is not None:
                    self._deleted[origin] |= steps
            lines += [(None, steps | replaced)] * (j2 - j1)
        self._text, self._lines = new, lines

    def steps(self, gone: range, new: range) -> set[int]:
        """The steps that removed some lines of the first text, or wrote some of the last."""
        found = {step for number in gone for step in self._deleted[number]}
        return found | {step for number in new if number < len(self._lines) for step in self._lines[number][1]}
