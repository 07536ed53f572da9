"""The table of languages with their own paths and forms of tests: one row per language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.generated_tests.languages import go, javascript, python
from stet_ls.engine.api.request import Request
from stet_ls.validators.languages import lookup

Prepare = Callable[[str, str, Request, Path, str], str]
"""Adapts the code of new tests to a file: from the code, the tested name, the request, the file's path and text."""


def _as_it_is(code: str, name: str, request: Request, path: Path, present: str) -> str:
    return code


@dataclass(frozen=True, slots=True)
class SuiteLanguage:
    """How generated tests of a language are placed and adapted.

    `names` are those of its test files, best first, with {stem} and {ext} of the source file; `folders` are those of
    the test files ("" is the source's own). `splits`: the tests of a text can be kept or dropped one by one.
    """

    names: tuple[str, ...] = ("{stem}_test.{ext}",)
    folders: tuple[str, ...] = ("tests", "test", "")
    prepare: Prepare = _as_it_is
    splits: bool = False


_JAVASCRIPT = SuiteLanguage(
    ("{stem}.test.{ext}", "{stem}.spec.{ext}"), ("__tests__", "test", "tests", ""), javascript.prepare
)
_TYPESCRIPT = replace(_JAVASCRIPT, prepare=javascript.prepare_typed)
ROWS: Mapping[str, SuiteLanguage] = {
    "python": SuiteLanguage(("test_{stem}.py", "{stem}_test.py"), prepare=python.prepare, splits=True),
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "typescriptreact": _TYPESCRIPT,
    "go": SuiteLanguage(("{stem}_test.go",), ("",), go.prepare),
    "rust": SuiteLanguage(("{stem}_test.rs", "test_{stem}.rs"), ("tests",)),
    "java": SuiteLanguage(("{stem}Test.java",), ("",)),
    "csharp": SuiteLanguage(("{stem}Tests.cs", "{stem}Test.cs"), ("",)),
    "c": SuiteLanguage(("test_{stem}.{ext}", "{stem}_test.{ext}", "{stem}Test.{ext}")),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, SuiteLanguage())
"""The row of a language id; the defaults for any other language."""
