"""Answers on a terminal and in a pipe: diffs, evidence, Markdown, tables."""

from __future__ import annotations

import difflib
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.summary import MARKS, failed_first
from stet_ls.validators.invisible_chars import escape_invisible

COLUMNS = 100
"""Width of our lines on a terminal that is wider."""

_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))

_COLORS = {Ruling.PASS: "green", Ruling.FAIL: "bold red", Ruling.SKIPPED: "dim", Ruling.UNKNOWN: "yellow"}


def unified_diff(before: str | None, after: str, name: str) -> str:
    """The patch from one text to another, as `git apply` takes it; `before` is None for a new file."""
    old = [] if before is None else _lines(before)
    header = ("/dev/null" if before is None else _quoted(f"a/{name}"), _quoted(f"b/{name}"))
    pieces = []
    for line in difflib.unified_diff(old, _lines(after), *header):
        pieces.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)


def rename_diff(old: str, new: str, before: str = "", after: str = "") -> str:
    """The patch that renames a file and then changes its text, as `git apply` takes it."""
    names = [_quoted(f"a/{old}"), _quoted(f"b/{new}")]
    head = f"diff --git {names[0]} {names[1]}\nrename from {old}\nrename to {new}\n"
    patch = unified_diff(before, after, old)
    return head + patch.replace(f"+++ {_quoted(f'b/{old}')}\n", f"+++ {names[1]}\n", 1)


def _quoted(name: str) -> str:
    """A name as git writes it: a line end in it would start another line of the patch."""
    if not _UNPRINTABLE.search(name):
        return name
    return '"' + _UNPRINTABLE.sub(lambda match: f"\\{ord(match.group()):03o}", name) + '"'


_UNPRINTABLE = re.compile(r'[\x00-\x1f\x7f"\\]')


def _lines(text: str) -> list[str]:
    """Lines as git sees them: only a line feed ends one, so that carriage returns are part of the patch."""
    lines = [f"{line}\n" for line in text.split("\n")]
    if lines[-1] == "\n":
        return lines[:-1]
    return [*lines[:-1], lines[-1][:-1]]


def print_diff(diff: str) -> None:
    """Prints a diff: colored on a terminal, exact bytes elsewhere."""
    _print_lines((line, _style(line)) for line in diff.splitlines(keepends=False)) if _terminal() else _exact(diff)


def print_evidence(evidence: Iterable[Evidence], stream: TextIO | None = None) -> None:
    """Prints each judge's result, failures first: one line each in a pipe, at most `COLUMNS` wide on a terminal."""
    console = console_on(stream or sys.stdout)
    for item in failed_first(evidence):
        for line in _wrapped(f"{MARKS[item.verdict]} {item.title}: {visible(item.detail)}", console):
            console.print(Text(line, style=_COLORS[item.verdict]), soft_wrap=True)


def _wrapped(text: str, console: Console) -> list[str]:
    """The lines of a sentence; continuation lines are indented."""
    if not console.is_terminal:
        return [text]
    width = min(console.width, COLUMNS)
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def print_markdown(markdown: str) -> None:
    """Prints Markdown: rendered on a terminal, unchanged elsewhere."""
    if _terminal():
        console_on(sys.stdout).print(Markdown(visible(markdown), hyperlinks=False))
    else:
        _exact(markdown if markdown.endswith("\n") else f"{markdown}\n")


def print_text(text: str) -> None:
    """Prints foreign text: without control characters on a terminal, exact elsewhere."""
    _exact(f"{visible(text) if _terminal() else text}\n")


def print_line(text: str, style: str = "") -> None:
    """One line of a result."""
    console_on(sys.stdout).print(Text(visible(text), style=style), soft_wrap=True)


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as aligned columns, two spaces between; the last column has no limit."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows as aligned columns."""
    for line in table(rows):
        print_line(line)


def visible(text: str) -> str:
    """The text without escape sequences: a model wrote it, and none may reach the terminal."""
    return escape_invisible(text)


def console_on(stream: TextIO) -> Console:
    """A console that prints text unchanged; colors only on a terminal, never with NO_COLOR."""
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


def shortened(text: str, most: int) -> str:
    """A text in one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
