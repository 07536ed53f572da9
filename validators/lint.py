"""The linters' findings about a text, beyond its syntax."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable
from stet_ls.validators.checkers.table import NAMES, Checker, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source

UNDEFINED = ("F821", "F822", "F823")
"""ruff's rules for undefined names, undefined exports and locals used before they are bound."""

DEADLINE = 5.0
"""Seconds for all linters of a text."""


def check(
    source: Source, language: str, *, path: Path | None = None, deadline: float = DEADLINE, tools: Toolbox = BUILT_IN
) -> tuple[Finding, ...] | None:
    """The findings of the best linter here, and of those that add to it; None if none answered in time.

    Syntax errors are left to the syntax check: a text that does not parse has no lint. `path` gives the kind of file
    and the project with its line length and Python version; nothing else of the project is read or run.
    """
    return _ask(checkers(language, Role.LINT, tools), source, language, path, deadline, tools)


def undefined_names(
    source: Source, language: str, *, path: Path | None = None, deadline: float = DEADLINE, tools: Toolbox = BUILT_IN
) -> tuple[Finding, ...] | None:
    """The undefined names; None if no linter that checks names answered."""
    rows = [row for row in checkers(language, Role.LINT, tools) if NAMES in row.covers]
    found = _ask(rows, source, language, path, deadline, tools)
    return None if found is None else tuple(one for one in found if one.code in UNDEFINED)


def _ask(
    rows: Iterable[Checker], source: Source, language: str, path: Path | None, deadline: float, tools: Toolbox
) -> tuple[Finding, ...] | None:
    end = time.monotonic() + deadline
    name = languages.id_of(language)
    findings: list[Finding] = []
    covered: set[str] = set()
    answered = False
    for checker in rows:
        left = end - time.monotonic()
        if left <= 0 or covered & set(checker.covers):
            continue
        found = checker.check(CheckerRequest(source, name, path, min(left, checker.seconds), tools))
        if isinstance(found, Unavailable):
            continue
        answered = True
        covered.update(checker.covers)
        findings += found
    return tuple(findings) if answered else None
