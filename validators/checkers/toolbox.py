"""Which checkers, linters and formatters may be used: the built-in table, and what a user's settings make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stet_ls.validators.containment import is_inside_any


class Role(StrEnum):
    """What a tool is for."""

    SYNTAX = "syntax"
    LINT = "lint"
    FORMAT = "format"


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool that a user added in the settings.

    `argv` is the program and its arguments; `{file}` in it stands for a private copy of the text under its own name,
    without it the text comes on standard input. What the tool writes is read by `pattern`, a regular expression with
    the named groups `line` and `message` and perhaps `column` (both from 1) and `severity`; without a pattern as JSON
    with these fields. A formatter writes the formatted text. `deadline` is in seconds.
    """

    name: str
    language: str
    role: Role
    argv: tuple[str, ...]
    pattern: str = ""
    authoritative: bool = True
    deadline: float = 5.0


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools that a check may use. Immutable and hashable, so that it can be part of a cache's key.

    `added` come before the built-in tools of their language. `disabled` holds names of tools that are never started.
    `programs` are pairs of a tool's name and the file to start for it, before the search on PATH. Of the folders in
    `trusted_roots` programs may be started (a workspace's `node_modules`); of no other folder of a project. None of
    the open `workspaces` lends its programs either, though they lie on PATH, unless it is trusted. Without `formats`
    no formatter is asked.
    """

    added: tuple[AddedTool, ...] = ()
    disabled: frozenset[str] = frozenset()
    programs: tuple[tuple[str, Path], ...] = ()
    trusted_roots: tuple[Path, ...] = ()
    workspaces: tuple[Path, ...] = ()
    formats: bool = True

    def allows(self, name: str) -> bool:
        """True if the tool may be started."""
        return name not in self.disabled

    def trusts(self, path: Path | None) -> bool:
        """True if the file lies in a workspace whose own programs may be started.

        Both the file and the folder that its name stands in have to: a tool looks for settings beside the name.
        """
        return path is not None and all(is_inside_any(each, self.trusted_roots) for each in (path, path.parent))


BUILT_IN = Toolbox()
"""The built-in table as it is, for a workspace that nobody declared trusted."""
