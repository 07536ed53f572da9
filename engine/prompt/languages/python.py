"""Facts about a Python project for prompts, and names bound by Python's imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.prompt.languages.import_binding import Binding, names_in, parts_of
from stet_ls.engine.prompt.languages.project_fact import Fact, at
from stet_ls.validators.project_files import parse_table

_VERSION = re.compile(r"\d{1,2}\.\d{1,3}")


def pyproject(text: str) -> Iterator[Fact]:
    """The facts in a pyproject.toml."""
    try:
        data = parse_table(text)
    except ValueError:
        return
    for tool in ("ruff", "black"):
        length = at(data, "tool", tool, "line-length")
        if isinstance(length, int) and 20 <= length <= 400:
            yield "line length", f"lines of at most {length} characters"
            break
    quotes = at(data, "tool", "ruff", "format", "quote-style")
    if quotes in ("single", "double"):
        yield "quotes", f"{quotes} quotes"
    wanted = _VERSION.search(str(at(data, "project", "requires-python") or ""))
    if wanted:
        yield "python", f"Python {wanted.group()} or newer"
    if at(data, "tool", "pytest") is not None or re.search(r"(?i)[\"']pytest\b", text):
        yield "tests", "tests with pytest"
    if at(data, "tool", "mypy", "strict") is True:
        yield "types", "strict type hints"


def bindings(text: str, path: Path | None) -> Iterator[Binding]:
    """The bindings of an import statement of the file `path`."""
    text = re.sub(r"#[^\n]*", "", text)
    if match := re.match(r"\s*from\s+(\.*)([\w.]*)\s+import\s+(.*)", text, re.DOTALL):
        dots, module, names = match.groups()
        parts = tuple(filter(None, module.split(".")))
        if dots:
            base = parts_of(path.parent if path else None, "../" * (len(dots) - 1) or ".")
            yield Binding((*base, *parts) if base else (), names_in(names), exact=True)
        else:
            yield Binding(parts, names_in(names))
        return
    for module in re.findall(r"[\w.]+(?=\s*(?:as\s+\w+\s*)?(?:,|$))", text.strip().removeprefix("import ")):
        yield Binding(tuple(module.split(".")))
