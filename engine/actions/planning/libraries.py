"""The packages that a task requires: named in its words, and known before anything is installed."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from stet_ls.engine.sandbox.environments.known_packages import (
    DISTRIBUTIONS,
    distribution,
    near_known,
    normalized,
    well_known,
)
from stet_ls.engine.sandbox.environments.requirements import dependencies

_USED = re.compile(
    r"\b(?:with|using|use|uses|via|by means of|import|through)\s+(?:the\s+)?`?(?P<name>[A-Za-z][\w.-]*)`?", re.I
)


def named_libraries(words: str) -> Iterator[str]:
    """The names after "with", "using" and their like, and every package that the words have in backticks."""
    seen: dict[str, None] = {}
    for match in _USED.finditer(words):
        seen[match["name"].rstrip(".")] = None
    seen.update(dict.fromkeys(re.findall(r"`([A-Za-z][\w-]*)`", words)))
    yield from seen


def misspelled_libraries(words: str) -> list[str]:
    """The names in backticks after "use", "with" and their like that are a letter off a widely used package.

    Only what is in backticks counts: "using dates" means no package.
    """
    quoted = (match["name"].rstrip(".") for match in _USED.finditer(words) if match[0].endswith("`"))
    return [name for name in quoted if not is_known(name) and name not in sys.stdlib_module_names and near_known(name)]


def is_known(name: str) -> bool:
    """Whether a word is the name of a widely used package, or of a module of one."""
    return name in DISTRIBUTIONS or normalized(name) in well_known()


def library_problem(names: Sequence[str], root: Path, allowed: Collection[str]) -> str:
    """The sentence about the first package that is not known; "" if all are.

    Known are the project's dependencies, those that the user's settings allow, and widely used ones. A model invents
    names, and someone may have registered one that differs from a known name by a letter.
    """
    project = dependencies(root)
    known = {*project, *map(normalized, allowed), *well_known()}
    for name in names:
        package = normalized(distribution(name))
        if package in known or name in sys.stdlib_module_names:
            continue
        if near := near_known(package, project):
            return f"The package {name!r} is not known; its name is one letter off {near!r}. Name that if it is meant."
        return (
            f"The package {name!r} is not known: it is neither among the project's dependencies nor widely used. "
            "Add it to the project's dependencies or to the setting `sandbox.packages`, or use another."
        )
    return ""
