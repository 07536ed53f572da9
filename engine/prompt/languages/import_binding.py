"""The binding of an import statement, and readers that several languages share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Binding:
    """The names that one statement binds. `parts` are the last names on the path of the module.

    `names` maps local names to the names in the module; empty for the whole module. `exact`: the parts are a complete
    path on this machine.
    """

    parts: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False


def names_in(text: str) -> dict[str, str]:
    """`a, b as c` as {"a": "a", "c": "b"}."""
    found = re.findall(r"([\w$]+)(?:\s+as\s+|\s*:\s*)([\w$]+)|([\w$]+)", text)
    return {alias or plain: name or plain for name, alias, plain in found if plain not in ("type", "as")}


def parts_of(base: Path | None, steps: str) -> tuple[str, ...]:
    """The parts of a path relative to the folder `base`."""
    return Path(os.path.normpath(base / steps)).parts if base is not None else ()


def dotted(text: str, path: Path | None) -> Iterator[Binding]:
    """Java, Kotlin, C#, PHP: a dotted name of a class, or of a member of one, or of a namespace."""
    match = re.search(r"\b(?:import|using|use)\s+(?:static\s+|function\s+)?(?:\w+\s*=\s*)?([\w.\\]+)", text)
    if match is None:
        return
    parts = tuple(filter(None, re.split(r"[.\\]", match[1])))
    yield Binding(parts)
    if len(parts) > 1:
        yield Binding(parts[:-1], {parts[-1]: parts[-1]})
    if len(parts) > 2:
        yield Binding(parts[-1:])


def include(text: str, path: Path | None) -> Iterator[Binding]:
    """C and C++: a file relative to the including one."""
    if match := re.search(r'#\s*include\s*"([^"\n]+)"', text):
        yield Binding(tuple(part for part in Path(match[1]).with_suffix("").parts if part not in ("..", ".")))


def quoted(text: str, path: Path | None) -> Iterator[Binding]:
    """Ruby and Lua: a path in quotes, with slashes or dots."""
    if match := re.search(r"""["']([\w./-]+)["']""", text):
        yield Binding(tuple(part for part in re.split(r"[/.]", match[1]) if part))
