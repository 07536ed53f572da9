"""The definitions in a file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from stet_ls.engine.workspace.index_store import SymbolEntry
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
    """A file's hash and text, which is empty for binary or minified content; None for an unreadable file."""
    try:
        data = read_regular(path, most=LARGEST)
    except OSError:
        return None
    is_text = b"\0" not in data and len(data) <= _WIDEST * (data.count(b"\n") + 2)
    text = data.decode("utf-8-sig", "replace") if is_text else ""
    return hashlib.blake2b(data, digest_size=16).digest(), Source(text)


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
