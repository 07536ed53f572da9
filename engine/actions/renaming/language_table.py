"""The languages whose names can be renamed through a project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stet_ls.engine.actions.renaming import python_modules, python_names

TextsByPath = Mapping[str, str]
"""The texts of a project's files, by their paths below its root."""


@dataclass(frozen=True, slots=True)
class Renamer:
    """Renames in the files of one language. Each function returns the new texts of the files that change.

    `definers` are the files that define a name. `rename` and `move` raise ValueError with the reason if they cannot.
    """

    definers: Callable[[TextsByPath, str], list[str]]
    rename: Callable[[TextsByPath, str, str, str], dict[str, str]]
    move: Callable[[TextsByPath, str, str], dict[str, str]]


RENAMERS: Mapping[str, Renamer] = MappingProxyType(
    {"python": Renamer(python_names.definers, python_names.rename, python_modules.move)}
)
"""The renamers by language id."""
