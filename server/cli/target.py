"""The TARGET of `stet run`: a file, a line or lines of it, or standard input."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.models import Selection
from stet_ls.server.cli.commands import did_you_mean
from stet_ls.server.cli.files import Document, decode, read_document
from stet_ls.validators.languages import LANGUAGES, PLAIN, language
from stet_ls.validators.shebang import language_of_text
from stet_ls.validators.source import Source, Span

STANDARD_INPUT = "-"
_LINES = re.compile(r"(?P<file>.+):(?P<first>\d+)(?:-(?P<last>\d+))?")


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """What the words on the command line mean. `document` is None for standard input."""

    source: Source
    language: str
    selection: Selection | None = None
    document: Document | None = None


def read_target(text: str, language_name: str | None) -> CommandTarget:
    """Reads what TARGET names. UsageError says what is wrong with it."""
    if text == STANDARD_INPUT:
        if language_name is None:
            raise UsageError("standard input needs --language")
        source = Source(decode(sys.stdin.buffer.read(), "standard input"))
        return CommandTarget(source, language_id(language_name))
    match = _LINES.fullmatch(text)
    if match is None or _exists(text):  # a file may well be called "a:1"
        document = _whole(text)
        return CommandTarget(document.source, _language(document, language_name), None, document)
    document = read_document(Path(match["file"]))
    first, last = int(match["first"]), int(match["last"] or 0)
    selection = _selection(document, first, last if match["last"] else None)
    return CommandTarget(document.source, _language(document, language_name), selection, document)


def _whole(text: str) -> Document:
    file, colon, lines = text.rpartition(":")
    if colon and not _exists(text) and Path(file).is_file():
        raise UsageError(f"{file}: expected FILE:LINE or FILE:LINE-LINE, not {lines!r} behind the colon")
    return read_document(Path(text))


def _exists(text: str) -> bool:
    """Nobody can tell what lies in a folder that may not be entered; reading it says so."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def language_id(name: str) -> str:
    """The id of a language given by any of its names. UsageError for a stranger."""
    row = language(name)
    if row is None:
        known = [known for each in LANGUAGES for known in (each.id, *each.names)]
        near = did_you_mean(name.lower(), known)
        raise UsageError(f'unknown language "{name}": {near or f"{PLAIN!r} takes any text"}')
    return row.id


def _language(document: Document, name: str | None) -> str:
    return language_of_text(document.path, document.source.data) if name is None else language_id(name)


def _selection(document: Document, first: int, last: int | None) -> Selection:
    source, path = document.source, document.path
    lines = source.line_count
    if lines > 1 and not source.line_text(lines - 1):
        lines -= 1  # the end of the last line begins no further one
    if first < 1 or (last is not None and last < first):
        raise UsageError(f"{path}: lines count from 1, and a range runs from its first line to its last")
    farthest = max(first, last or first)
    if farthest > lines:
        raise UsageError(f"{path} has {lines} line{'' if lines == 1 else 's'}, so it has no line {farthest}")
    start = source.starts[first - 1]
    if last is not None:
        return Selection(Span(start, source.line_span(last - 1).end))
    text = source.line_text(first - 1)
    indent = len(text[: len(text) - len(text.lstrip())].encode())
    return Selection(Span(start + indent, start + indent))
