"""The table of languages with their own forms of tests: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.actions.generated_tests.languages import go, javascript, python
from stet_ls.engine.api.request import Request
from stet_ls.validators.languages import lookup

Prepare = Callable[[str, str, Request, Path, str], str]
"""Adapts the code of new tests to a file: from the code, the tested name, the request, the file's path and text."""


@dataclass(frozen=True, slots=True)
class SuiteLanguage:
    """How generated tests are adapted. `splits`: the tests of a text can be kept or dropped one by one."""

    prepare: Prepare = lambda code, *_: code
    splits: bool = False


_TYPESCRIPT = SuiteLanguage(javascript.prepare_typed)
ROWS: Mapping[str, SuiteLanguage] = {
    "python": SuiteLanguage(python.prepare, splits=True),
    "javascript": SuiteLanguage(javascript.prepare),
    "typescript": _TYPESCRIPT,
    "typescriptreact": _TYPESCRIPT,
    "go": SuiteLanguage(go.prepare),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, SuiteLanguage())
"""The row of a language id; the defaults for any other language."""
