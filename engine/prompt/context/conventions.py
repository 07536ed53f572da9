"""A few facts about how a project writes code, read from its settings files. Nothing is run.

Only numbers and words of a fixed choice are taken over: what a project's file says must not become an instruction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.workspace.visible_files import folders_up, shown_text
from stet_ls.validators.project_files import parse_table

MOST = 8
_LARGEST = 1_000_000
_VERSION = re.compile(r"\d{1,2}\.\d{1,3}")
_JS = ("javascript", "javascriptreact", "typescript", "typescriptreact")
_JS_RUNNERS = ("vitest", "jest", "mocha", "ava", "jasmine")


def conventions(request: Request, ignored: IgnoredFiles | None = None) -> tuple[str, ...]:
    """At most `MOST` facts for the file of a request, always in the same order; none for a document without a path."""
    facts: dict[str, str] = {}
    for name, text in read_upwards(request, tuple(_READERS), ignored or IgnoredFiles(request.workspace)):
        for key, fact in _READERS[name](text, request):
            facts.setdefault(key, fact)  # the nearest file wins
    return tuple(facts[key] for key in sorted(facts))[:MOST]


def read_upwards(request: Request, names: tuple[str, ...], ignored: IgnoredFiles) -> Iterator[tuple[str, str]]:
    """Name and text of the files of some names, from the document's folder upwards. Hidden ones are left out."""
    for folder in folders_up(request):
        for name in names:
            text = shown_text(request, folder / name, ignored, most=_LARGEST)
            if text is not None:
                yield name, text


Fact = tuple[str, str]


def _pyproject(text: str, request: Request) -> Iterator[Fact]:
    try:
        data = parse_table(text)
    except ValueError:
        return
    if request.language != "python":
        return
    for tool in ("ruff", "black"):
        length = _at(data, "tool", tool, "line-length")
        if isinstance(length, int) and 20 <= length <= 400:
            yield "line length", f"lines of at most {length} characters"
            break
    quotes = _at(data, "tool", "ruff", "format", "quote-style")
    if quotes in ("single", "double"):
        yield "quotes", f"{quotes} quotes"
    wanted = _VERSION.search(str(_at(data, "project", "requires-python") or ""))
    if wanted:
        yield "python", f"Python {wanted.group()} or newer"
    if _at(data, "tool", "pytest") is not None or re.search(r"(?i)[\"']pytest\b", text):
        yield "tests", "tests with pytest"
    if _at(data, "tool", "mypy", "strict") is True:
        yield "types", "strict type hints"


def _package(text: str, request: Request) -> Iterator[Fact]:
    if request.language not in _JS:
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    packages = {name for part in ("dependencies", "devDependencies") for name in _at(data, part) or {}}
    runner = next((name for name in _JS_RUNNERS if name in packages), None)
    if runner is None and "node --test" in str(_at(data, "scripts", "test") or ""):
        runner = "node:test"
    if runner:
        yield "tests", f"tests with {runner}"
    yield from _package_style(data)
    kind = _at(data, "type")
    if kind in ("module", "commonjs"):
        yield "modules", "ES modules (import)" if kind == "module" else "CommonJS modules (require)"


def _package_style(data: Any) -> Iterator[Fact]:
    width, size = _at(data, "prettier", "printWidth"), _at(data, "prettier", "tabWidth")
    if isinstance(width, int) and 20 <= width <= 400:
        yield "line length", f"lines of at most {width} characters"
    if _at(data, "prettier", "useTabs") is True:
        yield "indent", "indentation with tabs"
    elif isinstance(size, int) and 1 <= size <= 16:
        yield "indent", f"indentation with {size} spaces"
    if isinstance(single := _at(data, "prettier", "singleQuote"), bool):
        yield "quotes", f"{'single' if single else 'double'} quotes"
    if isinstance(semicolons := _at(data, "prettier", "semi"), bool):
        yield "semicolons", "semicolons" if semicolons else "no semicolons"


def _tsconfig(text: str, request: Request) -> Iterator[Fact]:
    """JSON with comments, so it is read by its words; a setting in a comment does not count."""
    if not request.language.startswith("typescript"):
        return
    text = re.sub(r"(?m)^\s*//[^\n]*|\s//[^\n]*$", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
    if re.search(r'"strict"\s*:\s*true', text):
        yield "types", "TypeScript in strict mode"
    if target := re.search(r'(?i)"target"\s*:\s*"(es(?:\d{1,4}|next))"', text):
        yield "target", f"compiled to {target[1].upper()}"


def _editorconfig(text: str, request: Request) -> Iterator[Fact]:
    settings: dict[str, str] = {}
    applies = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            applies = request.path is not None and any(fnmatch(request.path.name, glob) for glob in _globs(line[1:-1]))
        elif applies and "=" in line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            settings[key.strip().lower()] = value.strip().lower()
    size = settings.get("indent_size", "")
    if settings.get("indent_style") == "tab":
        yield "indent", "indentation with tabs"
    elif size.isdecimal() and 1 <= int(size) <= 16:
        yield "indent", f"indentation with {int(size)} spaces"
    length = settings.get("max_line_length", "")
    if length.isdecimal() and 20 <= int(length) <= 400:
        yield "line length", f"lines of at most {int(length)} characters"


def _globs(pattern: str) -> list[str]:
    """An editorconfig section's globs, braces taken apart: `*.{js,ts}` is `*.js` and `*.ts`."""
    match = re.fullmatch(r"([^{}]*)\{([^{}]*)\}([^{}]*)", pattern)
    return [f"{match[1]}{part.strip()}{match[3]}" for part in match[2].split(",")] if match else [pattern]


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data


_READERS: dict[str, Callable[[str, Request], Iterator[Fact]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "tsconfig.json": _tsconfig,
    ".editorconfig": _editorconfig,
}
