"""Adapts new JavaScript and TypeScript tests to their file."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stet_ls.engine.api.request import Request


def prepare(code: str, name: str, request: Request, path: Path, present: str) -> str:
    """The tests, with `name` imported from its module."""
    assert request.path is not None
    return _imported(code, name, _module(request.path, path))


def prepare_typed(code: str, name: str, request: Request, path: Path, present: str) -> str:
    """The tests in TypeScript, whose imports have no file extension."""
    assert request.path is not None
    return _imported(code, name, _module(request.path.with_suffix(""), path))


def _module(document: Path, path: Path) -> str:
    """The relative path from which a test at `path` imports the document."""
    found = Path(os.path.relpath(document, path.parent)).as_posix()
    return found if found.startswith(".") else f"./{found}"


def _imported(code: str, name: str, module: str) -> str:
    """Points the import of `name` at the document, or adds it."""
    if not name:
        return code
    from_clause = re.compile(rf"(import\s*\{{[^}}]*\b{name}\b[^}}]*\}}\s*from\s*)(['\"])[^'\"]*\2")
    required = re.compile(rf"(\{{[^}}]*\b{name}\b[^}}]*\}}\s*=\s*require\()(['\"])[^'\"]*\2")
    for pattern in (from_clause, required):
        code, count = pattern.subn(lambda match: f"{match[1]}{match[2]}{module}{match[2]}", code)
        if count:
            return code
    if "require(" in code and "import " not in code:
        return f'const {{ {name} }} = require("{module}");\n{code}'
    return f'import {{ {name} }} from "{module}";\n{code}'
