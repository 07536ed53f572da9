"""How answers look on a terminal and in a pipe: diffs, evidence, markdown, tables."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from stet_ls.engine.models import Evidence, Ruling

_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))

_MARKS = {
    Ruling.PASS: ("✓", "green"),
    Ruling.FAIL: ("✗", "bold red"),
    Ruling.SKIPPED: ("–", "dim"),
    Ruling.UNKNOWN: ("?", "yellow"),
}

# A model wrote what is printed: an escape sequence in it must not reach the terminal as one.
_VISIBLE = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421, 0x9B: 0x241B}


def unified_diff(before: str | None, after: str, name: str) -> str:
    """The patch from one text to another, as `git apply` takes it; `before` is None for a new file."""
    old = [] if before is None else _lines(before)
    header = ("/dev/null" if before is None else f"a/{name}", f"b/{name}")
    pieces = []
    for line in difflib.unified_diff(old, _lines(after), *header):
        pieces.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    """Lines as git sees them: only a line feed ends one, so that carriage returns are part of the patch."""
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        return lines[:-1]
    return [*lines[:-1], lines[-1][:-1]]


def print_diff(diff: str) -> None:
    """Coloured on a terminal, exact bytes elsewhere."""
    _print_lines((line, _style(line)) for line in diff.splitlines(keepends=False)) if _terminal() else _exact(diff)


def print_evidence(evidence: Iterable[Evidence], stream: TextIO | None = None) -> None:
    """One line a judge: what it says, why, and whether its word alone would refute."""
    console = console_on(stream or sys.stdout)
    for item in evidence:
        mark, style = _MARKS[item.verdict]
        line = Text(f"{mark} {item.check}: {visible(item.detail)}", style=style)
        console.print(line, soft_wrap=True)


def print_markdown(markdown: str) -> None:
    """Laid out on a terminal, as it is elsewhere."""
    if _terminal():
        console_on(sys.stdout).print(Markdown(visible(markdown)))
    else:
        _exact(markdown if markdown.endswith("\n") else f"{markdown}\n")


def print_line(text: str, style: str = "") -> None:
    """One line of a result."""
    console_on(sys.stdout).print(Text(visible(text), style=style), soft_wrap=True)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as aligned columns, two blanks between; the last column is free."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()


def visible(text: str) -> str:
    """The text with control characters as pictures of themselves."""
    return text.translate(_VISIBLE)


def console_on(stream: TextIO) -> Console:
    """A console that adds nothing of its own; colours only on a terminal, never with NO_COLOR."""
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _terminal() -> bool:
    return sys.stdout.isatty()


def _exact(text: str) -> None:
    sys.stdout.write(text)


def _print_lines(lines: Iterable[tuple[str, str]]) -> None:
    console = console_on(sys.stdout)
    for line, style in lines:
        console.print(Text(visible(line), style=style), soft_wrap=True)


def _style(line: str) -> str:
    return next((style for start, style in _STYLES if line.startswith(start)), "")
