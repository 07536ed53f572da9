"""What works on this machine: each tool is asked about an empty text, as a program on PATH may be a stand-in."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stet_ls.validators.checkers.asking import Asked, Unable
from stet_ls.validators.checkers.table import CHECKERS, Checker, checkers
from stet_ls.validators.source import Source
from stet_ls.validators.toolbox import BUILT_IN, Role, Toolbox

_SECONDS = 10.0
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """The tools of a language by role: those that answer, the best first, and those that could be installed."""

    language: str
    working: dict[Role, tuple[str, ...]]
    missing: tuple[str, ...]


def survey(tools: Toolbox = BUILT_IN) -> tuple[Standing, ...]:
    """The standing of each language that has tools. Takes as long as its slowest tool, about two seconds."""
    rows = tuple(row for row in CHECKERS if tools.allows(row.name) and not row.executes_project_code)
    languages = sorted({language for row in rows for language in row.languages} | {one.language for one in tools.added})
    wanted: dict[tuple[str, Role], tuple[Checker, str]] = {}
    for language in languages:
        for role in (Role.SYNTAX, Role.LINT):
            for row in checkers(language, role, tools):
                wanted.setdefault((row.name, role), (row, language))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda one: _works(one[0], one[1], tools), wanted.values())
        works = dict(zip(wanted, answers, strict=True))
    return tuple(_standing(language, tools, works) for language in languages)


def _works(row: Checker, language: str, tools: Toolbox) -> bool:
    return not isinstance(row.check(Asked(Source(""), language, None, _SECONDS, tools)), Unable)


def _standing(language: str, tools: Toolbox, works: dict[tuple[str, Role], bool]) -> Standing:
    rows = {role: checkers(language, role, tools) for role in (Role.SYNTAX, Role.LINT)}
    working = {role: _names(row for row in found if works[row.name, role]) for role, found in rows.items()}
    missing = _names(row for role, found in rows.items() for row in found if not works[row.name, role])
    return Standing(
        language, working, tuple(name for name in missing if all(name not in all_ for all_ in working.values()))
    )


def _names(rows: Iterable[Checker]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.name for row in rows))
