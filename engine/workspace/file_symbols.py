"""From a file to what it defines."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from stet_ls.engine.workspace.index_store import Stamp, SymbolEntry
from stet_ls.engine.workspace.source_files import LARGEST
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import outline

_MOST = 2_000
"""Entries of one file."""
_LONGEST = 300
"""Characters of a signature, and of the first line of a documentation."""
_WIDEST = 1_000
"""Bytes in a line on average: beyond that it was packed by a tool, and nobody calls it by name."""


def read(path: Path) -> tuple[bytes, Source] | None:
    """A file's hash and text; None for generated, binary or unreadable files."""
    try:
        data = read_regular(path, most=LARGEST)
    except OSError:
        return None
    return digest(data), text_of(data)


def text_of(data: bytes) -> Source:
    """The text of a file's bytes; an empty one for what is binary or packed."""
    if b"\0" in data or len(data) > _WIDEST * (data.count(b"\n") + 2):
        return Source("")
    return Source(data.decode("utf-8-sig", "replace"))


def digest(data: bytes) -> bytes:
    """The hash by which a content is known."""
    return hashlib.blake2b(data, digest_size=16).digest()


def stamp(path: Path, content: bytes) -> Stamp | None:
    """The stamp of a file whose content has that hash; None if it is gone."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return Stamp(status.st_mtime_ns, status.st_size, content)


def entries(source: Source, language: str) -> tuple[SymbolEntry, ...]:
    """What a text defines: functions, methods, types and constants. Fields and members of enumerations are left out."""
    return tuple(
        SymbolEntry(
            symbol.name, symbol.qualified, symbol.kind, symbol.span.start, symbol.span.end,
            symbol.signature[:_LONGEST], _first_line(source, symbol.doc),
        )
        for symbol in outline(source, language)
        if symbol.kind not in ("field", "enum member", "namespace", "property") and symbol.name
    )[:_MOST]  # fmt: skip


_MARKS = re.compile(r"^(?:[rRuUbB]{0,2}(?:\"\"\"|'''|\"|')|/\*[*!]?|\*|///?[/!]?|\#+|--+)\s?|(?:\*/|\"\"\"|''')\s*$")


def _first_line(source: Source, doc: Span | None) -> str:
    """The first line of a documentation that says anything, without marks."""
    if doc is None:
        return ""
    lines = (_MARKS.sub("", line.strip()).strip() for line in source.slice(doc).split("\n")[:5])
    return next((line[:_LONGEST] for line in lines if line), "")
