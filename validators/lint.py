"""What a linter says about a text, beyond its syntax."""

from __future__ import annotations

from pathlib import Path

from stet_ls.validators import languages, ruff
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source
from stet_ls.validators.toolbox import BUILT_IN, Toolbox


def check(
    source: Source, language: str, *, path: Path | None = None, deadline: float = 2.0, tools: Toolbox = BUILT_IN
) -> tuple[Finding, ...] | None:
    """The linter's findings; None where there is no linter for the language here, or it did not answer in time.

    Syntax errors are left to the syntax check: a text that does not parse has no lint. `path` tells the kind of file
    and where the project's line length and Python version stand; nothing else of the project is read or run.
    """
    row = languages.language(language)
    if row is None or row.id != "python" or not tools.allows("ruff"):
        return None
    return ruff.lint(source, path=path, deadline=deadline)
