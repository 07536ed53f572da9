"""The definitions in a file."""

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
"""Average bytes per line; a file above this is minified and its names are of no use."""


def read(path: Path) -> tuple[bytes, Source] | None:
    """A file's hash and text; None for generated, binary or unreadable files."""
    try:
        data = read_regular(path, most=LARGEST)
    except OSError:
        return None
    return digest(data), text_of(data)


def text_of(data: bytes) -> Source:
    """The text of a file's bytes; empty for binary or minified content."""
    if b"\0" in data or len(data) > _WIDEST * (data.count(b"\n") + 2):
        return Source("")
    return Source(data.decode("utf-8-sig", "replace"))


def digest(data: bytes) -> bytes:
    """The hash that identifies a content."""
    return hashlib.blake2b(data, digest_size=16).digest()


def stamp(path: Path, content: bytes) -> Stamp | None:
    """The stamp of a file whose content has that hash; None if it is gone."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return Stamp(status.st_mtime_ns, status.st_size, content)


def entries(source: Source, language: str) -> tuple[SymbolEntry, ...]:
    """The functions, methods, types and constants of a text. Fields and enumeration members are left out."""
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
    """The first line of a documentation that has text, without marks."""
    if doc is None:
        return ""
    lines = (_MARKS.sub("", line.strip()).strip() for line in source.slice(doc).split("\n")[:5])
    return next((line[:_LONGEST] for line in lines if line), "")
