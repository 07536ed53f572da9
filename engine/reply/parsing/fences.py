"""Splits a reply into fenced blocks and the prose between them, in one pass over its lines.

Source of the fence rules: CommonMark 0.31, section 4.5, relaxed for common deviations of models: fences inside
docstrings, labels on the fence's line, missing ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Label = Literal["", "plan", "code", "tests", "notes"]

_LABELS: dict[str, Label] = {
    "plan": "plan", "approach": "plan",
    "code": "code", "solution": "code", "fixed code": "code", "updated code": "code", "new code": "code",
    "tests": "tests", "test": "tests", "unit tests": "tests", "test code": "tests",
    "notes": "notes", "note": "notes", "warnings": "notes", "explanation": "notes",
}  # fmt: skip
_LABEL = re.compile(
    rf"^[ \t#>*_]{{0,12}}(?P<name>{'|'.join(sorted(_LABELS, key=len, reverse=True))})[ \t]*(?P<mark>:?[*_]{{0,3}}:?)"
    r"(?P<rest>[ \t].*)?$",
    re.IGNORECASE,
)
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<lead>(?:[-*+]|\d{1,3}[.)]|[\w*# -]{1,40}:\**)[ \t]*)?"
    r"(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$"
)
_ONE_LINE = re.compile(r"^[ \t]*(`{3,})(?P<code>[^`\n]+)\1[ \t]*$")
_TAG = re.compile(r"[\w+#.-]+")
_MARKDOWN = frozenset({"markdown", "md", "mdx", "rst"})
_SLACK = 3
"""CommonMark: up to three spaces before a fence do not count."""


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block. `start` and `end` are the reply's offsets of its content; `label` is the last label above it."""

    text: str
    tag: str = ""
    label: Label = ""
    closed: bool = True
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Prose:
    """Text between blocks. `label` is the label above it, whose own line is not part of the text."""

    text: str
    label: Label = ""


@dataclass(frozen=True, slots=True)
class SplitReply:
    """A reply in pieces. `fences` are the offsets of all lines that could be a fence, for a later retry."""

    text: str
    pieces: tuple[FencedBlock | Prose, ...]
    fences: tuple[int, ...] = ()

    @property
    def blocks(self) -> tuple[FencedBlock, ...]:
        """The fenced blocks."""
        return tuple(piece for piece in self.pieces if isinstance(piece, FencedBlock))

    def prose(self, *labels: Label) -> str:
        """The text outside blocks under one of `labels`."""
        found = (piece.text.strip() for piece in self.pieces if isinstance(piece, Prose) and piece.label in labels)
        return "\n\n".join(text for text in found if text)


@dataclass
class _Open:
    """A block without an end so far. `inner` holds the indentations of the fences opened inside it."""

    fence: str
    indent: int
    tag: str
    label: Label
    start: int
    lines: list[str] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    last_bare: tuple[int, int] | None = None  # offset and number of lines before it


class _Scanner:
    def __init__(self) -> None:
        self.pieces: list[FencedBlock | Prose] = []
        self.fences: list[int] = []
        self.label: Label = ""
        self.prose: list[str] = []
        self.prose_label: Label = ""
        self.block: _Open | None = None

    def feed(self, line: str, at: int) -> None:
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match is not None:
            self.fences.append(at)
        if self.block is None:
            self._outside(line, at, match)
        else:
            self._inside(self.block, line, at, match)

    def _outside(self, line: str, at: int, match: re.Match[str] | None) -> None:
        if match is not None:
            if lead := match["lead"]:
                self._prose_line(lead.rstrip())
            self._end_prose()
            self._open(match, at + len(line) + 1)
        elif one := _ONE_LINE.match(line):
            self._end_prose()
            self.pieces.append(
                FencedBlock(one["code"].strip(), "", self.label, True, at + one.start("code"), at + len(line))
            )
        else:
            self._prose_line(line)

    def _prose_line(self, line: str) -> None:
        name = label_of(line)
        if name is None:
            self.prose.append(line)
            return
        self._end_prose()
        self.label = self.prose_label = name[0]
        self.prose = [name[1]]

    def _end_prose(self) -> None:
        text = "\n".join(self.prose)
        if text.strip():
            self.pieces.append(Prose(text, self.prose_label))
        self.prose, self.prose_label = [], ""

    def _open(self, match: re.Match[str], start: int) -> None:
        tag = _TAG.match(match["info"].strip().lstrip("{."))
        self.block = _Open(match["fence"], _width(match["indent"]), tag[0].lower() if tag else "", self.label, start)

    def _inside(self, block: _Open, line: str, at: int, match: re.Match[str] | None) -> None:
        if match is None or match["lead"] or not match["fence"].startswith(block.fence):
            block.lines.append(line)
            return
        indent = _width(match["indent"])
        if match["info"].strip():
            if indent <= block.indent and block.tag not in _MARKDOWN:
                self._close(at, closed=False)  # the end is missing: this is the next block
                self._open(match, at + len(line) + 1)
                return
            block.inner.append(indent)
        else:
            while block.inner and indent < block.inner[-1] - _SLACK:
                block.inner.pop()
            if block.inner:
                block.inner.pop()
            elif indent > block.indent + _SLACK:
                block.inner.append(indent)
            else:
                self._close(at, closed=True)
                return
            if indent <= block.indent + _SLACK:
                block.last_bare = (at, len(block.lines))
        block.lines.append(line)

    def _close(self, at: int, *, closed: bool) -> None:
        block = self.block
        assert block is not None
        margin = re.compile(f" {{0,{block.indent}}}")
        lines = [margin.sub("", line, count=1) if line[:1] == " " else line for line in block.lines]
        self.pieces.append(
            FencedBlock("\n".join(lines), block.tag, block.label, closed, block.start, max(at, block.start))
        )
        self.block = None

    def finish(self, end: int) -> None:
        block = self.block
        if block is None:
            self._end_prose()
        elif block.last_bare is not None:
            at, count = block.last_bare
            rest = block.lines[count + 1 :]
            del block.lines[count:]
            self._close(at, closed=True)
            self.prose = rest
            self._end_prose()
        else:
            self._close(end, closed=False)


def scan(text: str) -> SplitReply:
    """The reply's blocks and prose. Line ends must be line feeds."""
    scanner = _Scanner()
    at = 0
    for line in text.split("\n"):
        scanner.feed(line, at)
        at += len(line) + 1
    scanner.finish(len(text))
    return SplitReply(text, tuple(scanner.pieces), tuple(scanner.fences))


def label_of(line: str) -> tuple[Label, str] | None:
    """The label on a line and the rest of that line, or None: `**Code:** here` gives ("code", "here")."""
    match = _LABEL.match(line)
    if match is None:
        return None
    rest = (match["rest"] or "").strip()
    decorated = ":" in match["mark"] or (not rest and (match["name"].isupper() or line.lstrip()[:1] in "#*"))
    return (_LABELS[match["name"].lower()], rest) if decorated else None


def fenced_lines(text: str) -> Callable[[int], bool]:
    """A function that is true for an offset of `text` inside a fenced block."""
    blocks = scan(text).blocks
    starts = [block.start for block in blocks]

    def inside(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < blocks[index].end

    return inside


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))
