"""Which tools work on this machine: each is tried on an empty text, as a program on PATH may be a stub."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable
from stet_ls.validators.checkers.formatters import formatters
from stet_ls.validators.checkers.table import CHECKERS, Checker, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.source import Source

_SECONDS = 10.0
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class ToolAvailability:
    """The tools of a language: the working ones by role, the best first, and those that could be installed.

    `refused` are the programs on PATH that are not started because they are in an untrusted project, by the tools'
    names.
    """

    language: str
    working: Mapping[Role, tuple[str, ...]]
    missing: tuple[str, ...]
    refused: Mapping[str, Path]


def tool_availability(tools: Toolbox = BUILT_IN) -> tuple[ToolAvailability, ...]:
    """The tools of each language that has checkers or linters. Takes one or two seconds."""
    rows = [row for row in CHECKERS if not row.executes_project_code]
    languages = sorted({one for row in rows for one in row.languages} | {tool.language for tool in tools.added})
    request: dict[tuple[str, Role], tuple[Checker, str]] = {}
    for language in languages:
        for role in (Role.SYNTAX, Role.LINT):
            for row in checkers(language, role, tools):
                request.setdefault((row.name, role), (row, language))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(
            lambda one: one[0].check(CheckerRequest(Source(""), one[1], None, _SECONDS, tools)), request.values()
        )
        works = {key: not isinstance(answer, Unavailable) for key, answer in zip(request, answers, strict=True)}
    return tuple(_standing(language, tools, works) for language in languages)


def _standing(language: str, tools: Toolbox, works: Mapping[tuple[str, Role], bool]) -> ToolAvailability:
    found: dict[Role, dict[str, bool]] = {
        role: {row.name: works[row.name, role] for row in checkers(language, role, tools)}
        for role in (Role.SYNTAX, Role.LINT)
    }
    # A formatter can only be tried in a project that uses it.
    found[Role.FORMAT] = {
        row.name: works.get(
            (row.name, Role.SYNTAX), programs.find(row.name, tools, name=row.name, path=None) is not None
        )
        for row in formatters(language, tools)
    }
    working = {role: tuple(name for name, here in rows.items() if here) for role, rows in found.items()}
    here = {name for names in working.values() for name in names}
    lacking = dict.fromkeys(name for rows in found.values() for name in rows if name not in here)
    every = dict.fromkeys(name for rows in found.values() for name in rows)
    refused = {name: place for name in every if (place := programs.untrusted_program(name, tools)) is not None}
    missing = tuple(name for name in lacking if name not in refused)
    return ToolAvailability(language, working, missing, refused)
