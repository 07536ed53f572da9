"""The fix that a diagnosis requests from the next candidate, and the check for it in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

FixKind = Literal["defines", "does not import", "changes", "parses"]


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing to check. `name` is the unit or module concerned."""

    kind: FixKind
    name: str = ""

    def __str__(self) -> str:
        """The order to a model."""
        match self.kind:
            case "defines":
                return f"define `{self.name}` at the top of the file"
            case "does not import":
                return f"do without `{self.name}`: it is not installed"
            case "changes":
                return f"change `{self.name}`" if self.name else "change the code"
            case "parses":
                return "write code that parses"

    def shown(self, before: Source, after: Source, language: str) -> bool:
        """True if `after`, the next candidate, shows the fix; `before` is the one that failed."""
        match self.kind:
            case "defines":
                return any(unit.qualified == self.name for unit in units(after, language))
            case "does not import":
                return not _imports(after, self.name)
            case "changes":
                return _body(before, self.name, language) != _body(after, self.name, language)
            case "parses":
                return before.text != after.text  # the syntax judge decides whether it parses


def _body(source: Source, name: str, language: str) -> str:
    """The unit's text with normalized white space; the whole text if there is no such unit."""
    named = (unit.span for unit in units(source, language) if unit.name == name or unit.qualified == name)
    span = next(named, source.whole)
    return re.sub(r"\s+", " ", source.slice(span)).strip()


def _imports(source: Source, module: str) -> bool:
    name = re.escape(module)
    python = rf"^[ \t]*(?:import\s+(?:[\w.]+\s*,\s*)*{name}\b|from\s+{name}\b)"
    script = rf"""(?:from\s+|require\s*\(\s*|import\s*\(?\s*)["']{name}(?:/[^"']*)?["']"""
    compiled = rf"""^[ \t]*(?:(?:pub\s+)?use\s+|extern\s+crate\s+|import\s+(?:static\s+)?|#\s*include\s*[<"]){name}\b"""
    go = rf"""^[ \t]*(?:import\s+)?(?:\w+\s+)?"{name}"[ \t]*$"""
    return re.search(f"{python}|{script}|{compiled}|{go}", source.text, re.MULTILINE) is not None
