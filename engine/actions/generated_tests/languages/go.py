"""Adapts new Go tests to their file."""

from __future__ import annotations

import re
from pathlib import Path

from stet_ls.engine.api.request import Request


def prepare(code: str, name: str, request: Request, path: Path, present: str) -> str:
    """The tests, in the package of the source."""
    package = re.search(r"^package\s+(\w+)", request.source.text, re.MULTILINE)
    if package is None:
        return code
    clause = f"package {package[1]}"
    code, count = re.subn(r"^package\s+\w+", clause, code, count=1, flags=re.MULTILINE)
    return code if count else f"{clause}\n\n{code}"
