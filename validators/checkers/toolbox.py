"""Which checkers, linters and formatters may run: the built-in table, as changed by the user's settings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stet_ls.validators.containment import is_inside_any


class Role(StrEnum):
    """The purpose of a tool."""

    SYNTAX = "syntax"
    LINT = "lint"
    FORMAT = "format"


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool that a user added in the settings.

    `argv` is the program and its arguments; `{file}` in it is replaced with a private copy of the text under its own
    name, without it the text goes to standard input. The tool's output is parsed by `pattern`, a regular expression
    with the named groups `line` and `message` and optionally `column` (both from 1) and `severity`; without a pattern
    as JSON with these fields. A formatter writes the formatted text. `deadline` is in seconds.
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
    `programs` are pairs of a tool's name and the file to start for it, before the search on PATH. Programs in
    `trusted_roots` may be started (a workspace's `node_modules`), those in other folders of a project may not. Programs
    of the open `workspaces` are excluded even if on PATH, unless trusted. Without `formats` no formatter runs.
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
        """True if the file is in a workspace whose own programs may be started.

        Both the file and the folder of its name have to be: a tool looks for settings next to the name.
        """
        return path is not None and all(is_inside_any(each, self.trusted_roots) for each in (path, path.parent))


BUILT_IN = Toolbox()
"""The built-in table unchanged, for a workspace that is not trusted."""
