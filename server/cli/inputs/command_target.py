"""The TARGET of `stet run`: a file or standard input, or a position, lines or a unit in it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.api.request import Selection
from stet_ls.engine.errors import UsageError
from stet_ls.engine.plurals import plural
from stet_ls.server.cli.command_table import did_you_mean
from stet_ls.server.cli.inputs.files import Document, decode, read_document
from stet_ls.validators import syntax
from stet_ls.validators.languages import LANGUAGES, PLAIN, language
from stet_ls.validators.shebang import language_of_text
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import units

STANDARD_INPUT = "-"
_PLACE = re.compile(r"(?P<file>.+?):(?P<first>\d+)(?:-(?P<last>\d+)|:(?P<column>\d+))?")
_NODE = re.compile(r"(?P<file>.+?)::(?P<name>[^\[]+)(?:\[.*\])?", re.DOTALL)
"""A unit, or a test by pytest's node id: `FILE::test_f`, `FILE::TestA::test_f[1-x]`."""
FORMS = "FILE:LINE, FILE:LINE:COLUMN, FILE:LINE-LINE or FILE::NAME"


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """The meaning of the words on the command line. `document` is None for standard input."""

    source: Source
    language: str
    selection: Selection | None = None
    document: Document | None = None


def is_standard_input(text: str) -> bool:
    """Whether a TARGET is standard input, or a position in it."""
    return text == STANDARD_INPUT or text.startswith(f"{STANDARD_INPUT}:")


def read_target(text: str, language_name: str | None) -> CommandTarget:
    """Reads what TARGET names. UsageError says what is wrong with it."""
    if is_standard_input(text):
        if language_name is None:
            raise UsageError("standard input needs --language")
        source = Source(decode(sys.stdin.buffer.read(), "standard input"))
        return _pointed(source, language_id(language_name), text, "standard input", None)
    if _exists(text):  # a file may be called "a:1"
        document = read_document(Path(text))
        return CommandTarget(document.source, _language(document, language_name), None, document)
    document = read_document(Path(_file(text)))
    return _pointed(document.source, _language(document, language_name), text, str(document.path), document)


def _file(text: str) -> str:
    """The file in a TARGET: the part before the first colon that may start a position."""
    for pattern in (_NODE, _PLACE):
        if match := pattern.fullmatch(text):
            return match["file"]
    file, colon, place = text.rpartition(":")
    if colon and Path(file).is_file():
        raise UsageError(f"{file}: expected {FORMS}, found {place!r} after the colon")
    return text


def _pointed(source: Source, language: str, text: str, name: str, document: Document | None) -> CommandTarget:
    """The target with the selection that its position means."""
    selection = None
    if node := _NODE.fullmatch(text):
        selection = _named(source, language, node["name"], name)
    elif place := _PLACE.fullmatch(text):
        selection = _selection(source, name, *(int(place[key] or 0) for key in ("first", "last", "column")))
    elif document is None and text != STANDARD_INPUT:
        raise UsageError(f"standard input: expected -:LINE, -:LINE:COLUMN, -:LINE-LINE or -::NAME, not {text!r}")
    return CommandTarget(source, language, selection, document)


def _named(source: Source, language: str, name: str, file: str) -> Selection:
    """The unit with a name, which may be qualified with dots or, as in a test's node id, with double colons."""
    wanted = name.replace("::", ".")
    known = units(source, language)
    found = [unit for unit in known if unit.qualified == wanted] or [unit for unit in known if unit.name == wanted]
    if len({unit.qualified for unit in found}) > 1:
        raise UsageError(f"{file} defines {name} more than once: {', '.join(unit.qualified for unit in found)}")
    if not found:
        near = did_you_mean(wanted, [unit.qualified for unit in known])
        read = syntax.check(source, language)
        if read.authoritative and read.findings:
            line = source.line_of(min(each.span.start for each in read.findings)) + 1
            raise UsageError(
                f"{file} has syntax errors, the first in line {line}, which can hide {name}: "
                "pass its lines instead (FILE:LINE-LINE)"
            )
        raise UsageError(f"{file} does not define {name}{f': {near}' if near else ''}")
    return Selection(found[0].span, found[0].qualified)


def _exists(text: str) -> bool:
    """Whether the file exists; in an inaccessible folder it may, and reading it reports the error."""
    try:
        return Path(text).exists()
    except OSError:
        return False


def language_id(name: str) -> str:
    """The id of a language given by any of its names. UsageError for an unknown one."""
    row = language(name)
    if row is None:
        known = [known for each in LANGUAGES for known in (each.id, *each.names)]
        near = did_you_mean(name.lower(), known)
        raise UsageError(f"unknown language `{name}`: {near or f'{PLAIN!r} takes any text'}")
    return row.id


def _language(document: Document, name: str | None) -> str:
    return language_of_text(document.path, document.source.data) if name is None else language_id(name)


def _selection(source: Source, name: str, first: int, last: int, column: int) -> Selection:
    """A line, a position in it or several lines; 0 where omitted. All count from 1, columns in code points."""
    lines = source.line_count
    if lines > 1 and not source.line_text(lines - 1):
        lines -= 1  # a line end at the end of the file starts no further line
    if first < 1 or (last and last < first):
        raise UsageError(f"{name}: lines count from 1, and a range ends at or after its first line")
    if max(first, last) > lines:
        raise UsageError(f"{name} has {plural(lines, 'line')}, not {max(first, last)}")
    start = source.starts[first - 1]
    if last:
        return Selection(Span(start, source.line_span(last - 1).end))
    text = source.line_text(first - 1)
    if column > len(text) + 1:
        raise UsageError(f"{name}: line {first} has {len(text)} columns, not {column}")
    before = text[: column - 1] if column else text[: len(text) - len(text.lstrip())]
    at = start + len(before.encode("utf-8", "surrogatepass"))
    return Selection(Span(at, at))
