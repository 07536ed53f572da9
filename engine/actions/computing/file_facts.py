"""What a file holds, measured: the columns and rows of a table, the size of a picture."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from stet_ls.engine.api.execution_result import FileKind
from stet_ls.engine.plurals import plural
from stet_ls.validators.languages import NODE_KINDS, language_of

_COLUMNS = 12
_MOST_PIXELS = 64 << 20
_NUMBER = re.compile(r"(?<![\w.])(\d[\d,]*)\s*(rows?|columns?|lines?|pixels?)\b", re.I)
_SIZE = re.compile(r"(?<!\d)(\d{1,5})\s*(?:x|×|by)\s*(\d{1,5})(?!\d)", re.I)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The kind of a file, and what was measured: `numbers` by their unit (rows, columns, width, height)."""

    kind: FileKind
    about: str
    numbers: Mapping[str, int]
    blank: bool = False
    """A picture of one color."""


def file_facts(name: str, data: bytes) -> FileFacts:
    """The facts about a file, by its content; by its name alone where the content is not understood."""
    suffix = PurePosixPath(name).suffix.lower()
    for measure in (_PICTURES.get(suffix), _TABLES.get(suffix)):
        if measure is not None and (found := measure(data)) is not None:
            return found
    if suffix in _PICTURES:
        return FileFacts(FileKind.IMAGE, f"not a valid {suffix[1:].upper()} file", {})
    text = text_of(data)
    if text is None:
        return FileFacts(FileKind.DATA, "binary", {})
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    kind = FileKind.CODE if language_of(name) in NODE_KINDS and suffix not in _TABLES else FileKind.DATA
    return FileFacts(kind, plural(lines, "line"), {"lines": lines})


def describe_file(found: FileFacts, words: str) -> str:
    """The measured facts, and the model's words after them if they state no other numbers."""
    words = " ".join(words.split())[:300].rstrip(".")
    wrong = next(_contradictions(found, words), "")
    if wrong:
        return f"{found.about} (the model's description was dropped: it says {wrong})"
    return f"{found.about}: {words}" if words else found.about


def text_of(data: bytes) -> str | None:
    """The text of a file; None if it is not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _contradictions(found: FileFacts, words: str) -> Iterator[str]:
    for number, unit in _NUMBER.findall(words):
        measured = found.numbers.get(unit.lower().rstrip("s") + "s")
        if measured is not None and int(number.replace(",", "")) != measured:
            yield f"{number} {unit}"
    if {"width", "height"} <= found.numbers.keys():
        for width, height in _SIZE.findall(words):
            if (int(width), int(height)) != (found.numbers["width"], found.numbers["height"]):
                yield f"{width} × {height}"


def _separated(delimiter: str) -> Callable[[bytes], FileFacts | None]:
    def measure(data: bytes) -> FileFacts | None:
        text = text_of(data.removeprefix(b"\xef\xbb\xbf"))
        if text is None:
            return None
        try:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            header = next(rows, [])
            count = sum(1 for row in rows if row)
        except csv.Error:
            return None
        return _table(header, count)

    return measure


def _records(data: bytes) -> FileFacts | None:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if isinstance(read, list) and read and all(isinstance(row, dict) for row in read):
        return _table(list(dict.fromkeys(str(name) for row in read for name in row)), len(read))
    if isinstance(read, list | dict):
        kind, noun = ("list", "item") if isinstance(read, list) else ("object", "key")
        return FileFacts(FileKind.DATA, f"a JSON {kind} of {plural(len(read), noun)}", {f"{noun}s": len(read)})
    return None


def _record_lines(data: bytes) -> FileFacts | None:
    text = text_of(data)
    lines = [line for line in (text or "").splitlines() if line.strip()]
    try:
        rows = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    if not rows or not all(isinstance(row, dict) for row in rows):
        return None
    return _table(list(dict.fromkeys(str(name) for row in rows for name in row)), len(rows))


def _table(columns: list[str], rows: int) -> FileFacts:
    shown = ", ".join(columns[:_COLUMNS]) + (f" and {len(columns) - _COLUMNS} more" if len(columns) > _COLUMNS else "")
    numbers = {"rows": rows, "columns": len(columns)}
    return FileFacts(FileKind.DATA, f"{plural(rows, 'row')} of {shown or 'no columns'}", numbers)


def _picture(width: int, height: int, *, blank: bool = False) -> FileFacts:
    about = f"{width} × {height} pixels{', all of one color' if blank else ''}"
    return FileFacts(FileKind.IMAGE, about, {"width": width, "height": height}, blank)


def _png(data: bytes) -> FileFacts | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or b"IEND" not in data[-16:]:
        return None
    width, height, depth, color = struct.unpack(">IIBB", data[16:26])
    return _picture(width, height, blank=_one_color(data, width, height, depth, color))


_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def _one_color(data: bytes, width: int, height: int, depth: int, color: int) -> bool:
    """True if all rows hold the same pixel over and over. Interlaced and unusual pictures are not looked into."""
    size = _CHANNELS.get(color, 0) * depth // 8
    if not size or data[28] or width * height * size > _MOST_PIXELS:
        return False
    packed, at = b"", 8
    while at + 8 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    try:
        raw = zlib.decompressobj().decompress(packed, _MOST_PIXELS)
    except zlib.error:
        return False
    stride = 1 + width * size
    if len(raw) != stride * height:
        return False
    # Of one color, each filter leaves at most the first pixel of a row different from the rest of it.
    rows = [raw[start + 1 : start + stride] for start in range(0, len(raw), stride)]
    return len(set(rows[1:])) <= 1 and all(row[size : 2 * size] * (width - 1) == row[size:] for row in rows)


def _gif(data: bytes) -> FileFacts | None:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 10:
        return None
    return _picture(*struct.unpack("<HH", data[6:10]))


def _jpeg(data: bytes) -> FileFacts | None:
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return _picture(width, height)
        at += 2 + length
    return None


def _svg(data: bytes) -> FileFacts | None:
    text = text_of(data[:4000]) or ""
    tag = re.search(r"<svg\b[^>]*>", text)
    if tag is None:
        return None
    width, height = (re.search(rf'\b{name}="(\d+)', tag[0]) for name in ("width", "height"))
    if width is None or height is None:
        return FileFacts(FileKind.IMAGE, "a vector picture", {})
    return _picture(int(width[1]), int(height[1]))


_PICTURES: Mapping[str, Callable[[bytes], FileFacts | None]] = {
    ".png": _png, ".gif": _gif, ".jpg": _jpeg, ".jpeg": _jpeg, ".svg": _svg,
}  # fmt: skip
_TABLES: Mapping[str, Callable[[bytes], FileFacts | None]] = {
    ".csv": _separated(","), ".tsv": _separated("\t"), ".json": _records, ".jsonl": _record_lines,
    ".ndjson": _record_lines,
}  # fmt: skip
DATA_SUFFIXES = frozenset({*_TABLES, *_PICTURES, ".xlsx", ".xls", ".parquet", ".txt", ".log", ".xml", ".npy", ".db"})
"""Names of files that hold data, not code."""
