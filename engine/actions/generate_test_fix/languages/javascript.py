"""JavaScript and TypeScript for the loop: their tests, and whether Node can load a module for them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stet_ls.engine.actions.generate_test_fix.signatures_only import SignatureOutline
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.validators.project_files import read_regular

_KEPT = frozenset({"import_statement", "hash_bang_line"})
JAVASCRIPT = SignatureOutline("javascript", _KEPT)
TYPESCRIPT = SignatureOutline("typescript", _KEPT)
RULES = ("Use node:test and node:assert/strict, and imports, no require.",)

_LARGEST = 1_000_000
ASSERTS = r"\b(?:assert(?:\.\w+)*|expect)\s*\("
_NODE = (("test", 'import test from "node:test";'), ("assert", 'import assert from "node:assert/strict";'))


def unloadable(about: CodeUnderTest) -> str:
    """Why tests cannot import the unit, as text; "" if they can."""
    name = re.escape(about.outermost)
    module = re.search(rf"^[ \t]*export\b[^;\n]*\b{name}\b", about.text, re.MULTILINE) is not None
    if not module and not _is_assigned(name, about.text):
        return f"`{about.unit}` is not exported, so no test can import it"
    if module and about.path.suffix == ".js" and not _is_module(about.path):
        return "Node reads a .js file as a module only below a package.json that says so"
    return ""


def _is_assigned(name: str, text: str) -> bool:
    """True if a CommonJS statement exports a name. Runs in linear time, unlike a single pattern."""
    if re.search(rf"\bexports\.{name}\b", text):
        return True
    assigned = ((each, re.search(r"\bexports\s*=", each)) for each in text.split(";"))
    return any(found and re.search(rf"\b{name}\b", each[found.end() :]) for each, found in assigned)


def _is_module(path: Path) -> bool:
    for folder in path.parents:
        try:
            package = json.loads(read_regular(folder / "package.json", most=_LARGEST))
        except (OSError, ValueError):
            continue
        return isinstance(package, dict) and package.get("type") == "module"
    return False


def ready(code: str, about: CodeUnderTest, place: Path) -> str:
    """The tests with the imports that models leave out."""
    missing = [line for name, line in _NODE if f"node:{name}" not in code and re.search(rf"\b{name}\b", code)]
    return "\n".join([*missing, code])
