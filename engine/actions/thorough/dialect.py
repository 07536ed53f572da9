"""What the loop has to know of a language. One that has no row here goes the standard way, and says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.actions.thorough import guard, script, specification
from stet_ls.engine.actions.thorough.guard import Count
from stet_ls.engine.judges.own_tests.split import tests_in


@dataclass(frozen=True, slots=True)
class Dialect:
    """`specification(before, after, unit)` is the candidate `after` without its bodies; `new_unit(before, after)` what
    it added; `tests` the ids in a text of tests behind its file; `ready` makes such a text whole; `unloadable(path,
    text, unit)` says why no test can import it. `file` names the tests of a {stem}; `unsaved` is where a document
    without a place is thought to lie: nothing is written there, or read. `rules` are for whoever writes the tests.
    """

    specification: Callable[[str, str, str], str | None]
    new_unit: Callable[[str, str], str]
    tests: Callable[[str], tuple[str, ...]]
    count: Callable[[str], Count]
    unloadable: Callable[[Path, str, str], str]
    ready: Callable[[str], str]
    file: str
    unsaved: Path
    rules: tuple[str, ...] = ()


def _python_tests(code: str) -> tuple[str, ...]:
    return tuple(test.id for test in tests_in(code))


def _loads(path: Path, text: str, unit: str) -> str:
    return ""


def _as_it_is(code: str) -> str:
    return code


DIALECTS: Mapping[str, Dialect] = {
    "python": Dialect(
        specification.specification,
        specification.new_unit,
        _python_tests,
        guard.count,
        _loads,
        _as_it_is,
        "test_{stem}_from_its_specification.py",
        Path("/unsaved/solution.py"),
    ),
    "javascript": Dialect(
        script.specification,
        script.new_unit,
        script.tests,
        script.count,
        script.unloadable,
        script.ready,
        "{stem}_from_its_specification.test.mjs",
        Path("/unsaved/solution.mjs"),
        ("Use node:test and node:assert/strict, and imports, no require.",),
    ),
}
