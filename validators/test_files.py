"""Where the tests of a language lie and how their files are named: one row per language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from stet_ls.validators.languages import lookup


@dataclass(frozen=True, slots=True)
class SuiteNames:
    """`names` of test files, best first, with {stem} and {ext} of the source file.

    `folders` of the test files, best first; "" is the source's own. `collected` are the patterns of the names that test
    runners look for, if they go by names alone.
    """

    names: tuple[str, ...] = ("{stem}_test.{ext}",)
    folders: tuple[str, ...] = ("tests", "test", "")
    collected: tuple[str, ...] = ()

    def for_source(self, path: PurePath) -> list[str]:
        """The names of a source file's test file, best first."""
        return [name.format(stem=path.stem, ext=path.suffix.lstrip(".")) for name in self.names]


ROWS: Mapping[str, SuiteNames] = {
    "python": SuiteNames(("test_{stem}.py", "{stem}_test.py"), collected=("test_*.py", "*_test.py")),
    "javascript": SuiteNames(
        ("{stem}.test.{ext}", "{stem}.spec.{ext}", "{stem}-test.{ext}", "{stem}-spec.{ext}"),
        ("__tests__", "test", "tests", ""),
    ),
    "go": SuiteNames(folders=("",)),
    "rust": SuiteNames(("{stem}_test.{ext}", "test_{stem}.{ext}"), ("tests",)),
    "java": SuiteNames(("{stem}Test.{ext}",), ("",)),
    "csharp": SuiteNames(("{stem}Tests.{ext}", "{stem}Test.{ext}"), ("",)),
    "c": SuiteNames(("test_{stem}.{ext}", "{stem}_test.{ext}", "{stem}Test.{ext}")),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, SuiteNames())
"""The row of a language id; the defaults for any other language."""

_NAME = re.compile(
    "|".join(
        re.escape(name).replace(r"\{stem\}", "[^/]*").replace(r"\{ext\}", r"\w+")
        for name in dict.fromkeys(name for row in (*ROWS.values(), SuiteNames()) for name in row.names)
    ),
    re.ASCII,
)
_FOLDERS = frozenset({"spec"}.union(*(row.folders for row in ROWS.values())))


def is_test_file(path: str) -> bool:
    """True for a path, relative to its root, by the name or the folder of any language's test files."""
    pure = PurePath(path)
    return _NAME.fullmatch(pure.name) is not None or not _FOLDERS.isdisjoint(pure.parts[:-1])
