"""The files of one state of a project, and the id of that state.

Imports the standard library alone: a kept conclusion is found by these ids before anything else is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha1, sha256
from typing import Any, Protocol

LINK = "120000"
SUBMODULE = "160000"
LARGEST = 1_000_000
"""Bytes of a file that is judged."""
_FOLDER = "40000"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a tree: its mode as git writes it, and the id that git gives its content."""

    mode: str
    id: str


class Tree(Protocol):
    """The files of one state of a project, by their paths below its root."""

    @property
    def name(self) -> str:
        """What a person calls it: `HEAD`, a commit, `working tree`."""
        ...

    @property
    def files(self) -> Mapping[str, TreeEntry]:
        """All of its files, links and submodules."""
        ...

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of some of its files; those that cannot be read are missing."""
        ...


def tree_id(tree: Tree) -> str:
    """The id that git gives a tree, computed here: nothing is written into the object store."""
    nested: dict[str, Any] = {}
    for path, entry in tree.files.items():
        *folders, name = path.split("/")
        place = nested
        for each in folders:
            place = place.setdefault(each, {})
        place[name] = entry
    is_long = any(len(entry.id) == sha256().digest_size * 2 for entry in tree.files.values())
    return _written(nested, sha256 if is_long else sha1)


def _written(nested: Mapping[str, Any], algorithm: Any) -> str:
    rows = []
    for name, each in nested.items():
        is_folder = isinstance(each, dict)
        mode, identity = (_FOLDER, _written(each, algorithm)) if is_folder else (each.mode, each.id)
        raw = name.encode("utf-8", "surrogateescape")
        known = bytes.fromhex(identity) if identity != "unread" else b"\0" * algorithm().digest_size
        rows.append((raw + (b"/" if is_folder else b""), mode.encode() + b" " + raw + b"\0" + known))
    data = b"".join(row for _, row in sorted(rows))
    return str(algorithm(b"tree %d\0" % len(data) + data).hexdigest())
