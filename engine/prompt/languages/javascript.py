"""Facts about a JavaScript or TypeScript project for prompts, and names bound by its imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stet_ls.engine.prompt.languages.import_binding import Binding, names_in, parts_of
from stet_ls.engine.prompt.languages.project_fact import Fact, at

_RUNNERS = ("vitest", "jest", "mocha", "ava", "jasmine")


def package(text: str) -> Iterator[Fact]:
    """The facts in a package.json."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    packages = {name for part in ("dependencies", "devDependencies") for name in at(data, part) or {}}
    runner = next((name for name in _RUNNERS if name in packages), None)
    if runner is None and "node --test" in str(at(data, "scripts", "test") or ""):
        runner = "node:test"
    if runner:
        yield "tests", f"tests with {runner}"
    yield from _package_style(data)
    kind = at(data, "type")
    if kind in ("module", "commonjs"):
        yield "modules", "ES modules (import)" if kind == "module" else "CommonJS modules (require)"


def _package_style(data: Any) -> Iterator[Fact]:
    width, size = at(data, "prettier", "printWidth"), at(data, "prettier", "tabWidth")
    if isinstance(width, int) and 20 <= width <= 400:
        yield "line length", f"lines of at most {width} characters"
    if at(data, "prettier", "useTabs") is True:
        yield "indent", "indentation with tabs"
    elif isinstance(size, int) and 1 <= size <= 16:
        yield "indent", f"indentation with {size} spaces"
    if isinstance(single := at(data, "prettier", "singleQuote"), bool):
        yield "quotes", f"{'single' if single else 'double'} quotes"
    if isinstance(semicolons := at(data, "prettier", "semi"), bool):
        yield "semicolons", "semicolons" if semicolons else "no semicolons"


def tsconfig(text: str) -> Iterator[Fact]:
    """The facts in a tsconfig.json. Read by patterns, since it may hold comments; settings in comments are ignored."""
    text = re.sub(r"(?m)^\s*//[^\n]*|\s//[^\n]*$", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    if re.search(r'"strict"\s*:\s*true', text):
        yield "types", "TypeScript in strict mode"
    if target := re.search(r'(?i)"target"\s*:\s*"(es(?:\d{1,4}|next))"', text):
        yield "target", f"compiled to {target[1].upper()}"


def bindings(text: str, path: Path | None) -> Iterator[Binding]:
    """The bindings of an import statement of the file `path`."""
    match = re.search(r"""(?:from\s*|require\s*\(\s*|import\s*\(?\s*)["']([^"'\n]+)["']""", text)
    if match is None:
        return
    target = re.sub(r"\.(?:[cm]?[jt]sx?)$", "", match[1])
    braces = re.search(r"\{([^}]*)\}", text)
    names = names_in(braces[1]) if braces else {}
    if target.startswith("."):
        yield Binding(parts_of(path.parent if path else None, target), names, exact=True)
    else:
        yield Binding(tuple(part for part in target.split("/") if part not in ("@", "~", "")), names)
