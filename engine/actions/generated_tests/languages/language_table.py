"""The table of languages with their own forms of tests: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.actions.generated_tests.languages import go, javascript, python
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.actions.generated_tests.script_mutants import script_mutants_of
from stet_ls.engine.api.request import Request
from stet_ls.validators.languages import lookup

Prepare = Callable[[str, str, Request, Path, str], str]
"""Adapts the code of new tests to a file: from the code, the tested name, the request, the file's path and text."""
Mutants = Callable[[str, str, str, int], list[Mutant]]
"""Makes mutants: from a text, its language, the unit and their number at most."""


@dataclass(frozen=True, slots=True)
class SuiteLanguage:
    """How generated tests are adapted and tried. `splits`: the tests of a text can be kept or dropped one by one.

    `mutants` makes bugs of a unit, for tests that are not split.
    """

    prepare: Prepare = lambda code, *_: code
    splits: bool = False
    mutants: Mutants | None = None


_TYPESCRIPT = SuiteLanguage(javascript.prepare_typed, mutants=script_mutants_of)
ROWS: Mapping[str, SuiteLanguage] = {
    "python": SuiteLanguage(python.prepare, splits=True),
    "javascript": SuiteLanguage(javascript.prepare, mutants=script_mutants_of),
    "typescript": _TYPESCRIPT,
    "typescriptreact": _TYPESCRIPT,
    "go": SuiteLanguage(go.prepare),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, SuiteLanguage())
"""The row of a language id; the defaults for any other language."""
