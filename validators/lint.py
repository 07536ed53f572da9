"""What a linter says about a text, beyond its syntax."""

from __future__ import annotations

import time
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.asking import Asked, Unable
from stet_ls.validators.checkers.table import checkers
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source
from stet_ls.validators.toolbox import BUILT_IN, Role, Toolbox


def check(
    source: Source, language: str, *, path: Path | None = None, deadline: float = 5.0, tools: Toolbox = BUILT_IN
) -> tuple[Finding, ...] | None:
    """What the best linter here finds, and those that add to every linter; None where none answered in time.

    Syntax errors are left to the syntax check: a text that does not parse has no lint. `path` tells the kind of file
    and where the project's line length and Python version stand; nothing else of the project is read or run.
    """
    end = time.monotonic() + deadline
    row = languages.language(language)
    name = row.id if row else language
    findings: list[Finding] = []
    heard: set[str] = set()
    answered = False
    for checker in checkers(name, Role.LINT, tools):
        left = end - time.monotonic()
        if left <= 0 or heard & set(checker.covers):
            continue
        found = checker.check(Asked(source, name, path, min(left, checker.seconds), tools))
        if isinstance(found, Unable):
            continue
        answered = True
        heard.update(checker.covers)
        findings += found
    return tuple(findings) if answered else None
