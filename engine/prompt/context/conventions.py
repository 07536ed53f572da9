"""Facts on a project's style from its settings: numbers and fixed words alone, so that no text becomes an order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial

from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.prompt.languages.language_table import for_language
from stet_ls.engine.prompt.languages.project_fact import Fact
from stet_ls.engine.workspace.visible_files import folders_up, shown_text

MOST = 8
_LARGEST = 1_000_000


def conventions(request: Request, ignored: IgnoredFiles | None = None) -> tuple[str, ...]:
    """At most `MOST` facts for the file of a request, always in the same order; none for a document without a path."""
    facts: dict[str, str] = {}
    readers: dict[str, Callable[[str], Iterator[Fact]]] = {
        **for_language(request.language).conventions,
        ".editorconfig": partial(_editorconfig, request=request),
    }
    for name, text in read_upwards(request, tuple(readers), ignored or IgnoredFiles(request.workspace)):
        for key, fact in readers[name](text):
            facts.setdefault(key, fact)  # the nearest file wins
    return tuple(facts[key] for key in sorted(facts))[:MOST]


def read_upwards(request: Request, names: tuple[str, ...], ignored: IgnoredFiles) -> Iterator[tuple[str, str]]:
    """Name and text of the files with these names, from the document's folder upwards. Hidden ones are left out."""
    for folder in folders_up(request):
        for name in names:
            text = shown_text(request, folder / name, ignored, most=_LARGEST)
            if text is not None:
                yield name, text


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
    """An editorconfig section's globs, with braces expanded: `*.{js,ts}` is `*.js` and `*.ts`."""
    match = re.fullmatch(r"([^{}]*)\{([^{}]*)\}([^{}]*)", pattern)
    return [f"{match[1]}{part.strip()}{match[3]}" for part in match[2].split(",")] if match else [pattern]
