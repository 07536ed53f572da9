"""Go for the loop: tests of the code's own package, which see what it does not export as well."""

from __future__ import annotations

import re
from pathlib import Path

from stet_ls.engine.actions.thorough.guard import Count
from stet_ls.engine.actions.thorough.outline import Outline, counted
from stet_ls.engine.actions.thorough.under_test import UnderTest
from stet_ls.engine.sandbox.runners import expected

GO = Outline("go", frozenset({"package_clause", "import_declaration"}))
RULES = (
    "Use the package testing alone, in the package of the code: no import of it, no other package for assertions.",
    "Import exactly what the tests use.",
)
_ASSERTS = r"\bt\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\("
_IMPORTED = re.compile(
    r'^[ \t]*(?:import[ \t]+)?(?P<alias>\w+[ \t]+)?"(?P<path>[\w./-]+)"[ \t]*(?://.*)?$', re.MULTILINE
)
_DECLARED = re.compile(r"^(?:func|var|const|type)\b", re.MULTILINE)
_VERSION = re.compile(r"[./]v\d+$")
_STANDARD = ("errors", "fmt", "math", "reflect", "sort", "strings", "testing")


def tests(code: str) -> tuple[str, ...]:
    """The functions that `go test` runs."""
    return tuple(expected.go(code))


def count(text: str) -> Count:
    """What a text tests."""
    return counted(_ASSERTS, text, tests(text))


def ready(code: str, about: UnderTest, place: Path) -> str:
    """The tests with just the imports that they use: Go compiles neither with one missing nor with one too many.

    Their names are told from those of the project's tests, which are in the same package and may not be the same.
    """
    for name in tests(code):
        code = re.sub(rf"\b{name}\b", f"{name}AsSpecified", code)
    declared = _DECLARED.search(code)
    end = declared.start() if declared is not None else len(code)
    head, body = code[:end], code[end:]
    for match in reversed(list(_IMPORTED.finditer(head))):
        name = (match["alias"] or _VERSION.sub("", match["path"]).rpartition("/")[2]).strip()
        if name != "_" and not re.search(rf"\b{re.escape(name)}\.", body):
            head = head[: match.start()] + head[match.end() :]
    head = re.sub(r"^import\s*\(\s*\)\n?", "", head, flags=re.MULTILINE)
    there = {match["path"] for match in _IMPORTED.finditer(head)}
    missing = [name for name in _STANDARD if name not in there and re.search(rf"(?<![\w.]){name}\.[A-Z]", body)]
    lines = "".join(f'\nimport "{name}"' for name in missing)
    if lines:
        head = re.sub(r"^(package \w+)$", rf"\1\n{lines}", head, count=1, flags=re.MULTILINE)
    return head + body


def root(about: UnderTest) -> Path | None:
    """The module around the file, within what is open."""
    return about.innermost("go.mod")
