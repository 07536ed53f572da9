"""The built-in languages: a table, and look-ups in it. Imports nothing heavy: grammars are loaded later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import TypeVar

from stet_ls.validators.language_table.packed import PACKED, ROWS, PackedLanguage
from stet_ls.validators.language_table.row import Language, NodeKinds
from stet_ls.validators.language_table.rows import OWN

PLAIN = "plaintext"
"""The language id of a text of unknown language."""

T = TypeVar("T")


def _of_pack(row: PackedLanguage) -> Language:
    id_, title, names, extensions, filenames, line_comment, block_comment, packed = row
    lists = tuple(names.split()), tuple(extensions.split()), tuple(filenames.split())
    return Language(id_, title, *lists, line_comment, block_comment, packed=packed, family=id_)


LANGUAGES: tuple[Language, ...] = (
    *(replace(row, packed=PACKED.get(row.id), family=row.family or row.id) for row in OWN),
    *map(_of_pack, ROWS),
)
"""All known languages."""

NODE_KINDS: Mapping[str, NodeKinds] = {row.id: row.kinds for row in LANGUAGES if row.kinds}
"""The node kinds of functions, classes, imports and calls in each grammar, by language id."""

_BY_ID = {row.id: row for row in LANGUAGES}
_BY_NAME = {name: row for row in reversed(LANGUAGES) for name in (row.title.lower(), *row.names)} | _BY_ID
_BY_EXTENSION = {extension: row.id for row in reversed(LANGUAGES) for extension in row.extensions}
_BY_FILENAME = {name: row.id for row in reversed(LANGUAGES) for name in row.filenames}


def language(name: str) -> Language | None:
    """The row of a language id, or of another name for it ("cs", "C#", "tsx"); None if unknown."""
    return _BY_ID.get(name) or _BY_NAME.get(name.strip().lower())


def id_of(name: str) -> str:
    """The id of the language with a name; an unknown name as it is."""
    row = language(name)
    return row.id if row else name


def for_language(name: str) -> Language:
    """The row of a language id; that of plain code without comments if unknown."""
    return _BY_ID.get(name) or Language(name, name, family=name)


def family(name: str) -> tuple[str, ...]:
    """The ids of a language and of its family."""
    own = for_language(name).family
    return tuple(row.id for row in LANGUAGES if row.family == own) or (name,)


def row_for(rows: Mapping[str, T], name: str, default: T) -> T:
    """A package's row for a language id: its own, else its family's, else the default."""
    return rows.get(name) or rows.get(for_language(name).family) or default


def lookup(rows: Mapping[str, T], default: T) -> Callable[[str], T]:
    """A function that finds a package's row for a language id, with a default."""
    return partial(row_for, rows, default=default)


def language_of(path: Path | str) -> str:
    """The language id for a file name, `PLAIN` if unknown. The file is not opened."""
    name = PurePath(path).name.lower()
    stem, suffix = name.partition(".")[0], PurePath(name).suffix
    by_name = _BY_FILENAME.get(name) or _BY_FILENAME.get(f"{stem}.*{suffix}") or _BY_EXTENSION.get(suffix)
    return by_name or _BY_FILENAME.get(stem, PLAIN)
