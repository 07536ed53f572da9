"""The table of languages with their own forms of tests: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from stet_ls.engine.actions.generated_tests.languages import go, javascript, python, script_tests
from stet_ls.engine.actions.generated_tests.languages.conditions import given_literals, without_conditions
from stet_ls.engine.actions.generated_tests.languages.script_conditions import (
    given_script_literals,
    without_script_conditions,
)
from stet_ls.engine.actions.generated_tests.mutants import Mutant, mutants_of
from stet_ls.engine.actions.generated_tests.script_mutants import script_mutants_of
from stet_ls.engine.api.request import Request
from stet_ls.validators.languages import lookup

Prepare = Callable[[str, str, Request, Path, str], str]
"""Adapts the code of new tests to a file: from the code, the tested name, the request, the file's path and text."""
Mutants = Callable[[str, str, str, int, Container[int] | None], list[Mutant]]
"""Makes mutants: from a text, its language, the unit, their number at most, and the lines to change (None for all)."""
Conditions = Callable[[str, str, str, str], list[Mutant]]
"""Makes the texts in which a new condition never holds: from the texts before and after, the language and the unit."""
Arguments = Callable[[str, str, str], frozenset[str]]
"""The literals that are passed to a function: from its plain name, a text of tests and its language."""
NamedTests = Callable[[str, str], Mapping[str, str]]
"""The texts of tests that are no units, by their names with dots between: from a text and its language."""


@dataclass(frozen=True, slots=True)
class SuiteLanguage:
    """How tests are adapted and tried. `splits`: the tests of a text can be kept or dropped one by one, and run on many
    mutants in one process.

    `mutants` makes bugs of a unit, `conditions` the texts without one of its new conditions. `arguments` are literals
    that tests pass to it. `named_tests` finds the tests that are written as calls with a name.
    """

    prepare: Prepare = lambda code, *_: code
    splits: bool = False
    mutants: Mutants | None = None
    conditions: Conditions | None = None
    arguments: Arguments = lambda *_: frozenset()
    named_tests: NamedTests = lambda *_: {}


def _python_mutants(text: str, language: str, unit: str, most: int, lines: Container[int] | None) -> list[Mutant]:
    return mutants_of(text, unit, most, lines)


_JAVASCRIPT = SuiteLanguage(
    javascript.prepare,
    mutants=script_mutants_of,
    conditions=without_script_conditions,
    arguments=given_script_literals,
    named_tests=script_tests.named_tests,
)
_TYPESCRIPT = replace(_JAVASCRIPT, prepare=javascript.prepare_typed, mutants=partial(script_mutants_of, it="(it: any)"))
ROWS: Mapping[str, SuiteLanguage] = {
    "python": SuiteLanguage(
        python.prepare, splits=True, mutants=_python_mutants, conditions=without_conditions, arguments=given_literals
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "typescriptreact": _TYPESCRIPT,
    "go": SuiteLanguage(go.prepare),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, SuiteLanguage())
"""The row of a language id; the defaults for any other language."""
