"""Imported solutions: JSON lines, and the documented functions of a project."""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

from stet_ls.engine.errors import StoreError
from stet_ls.engine.memory.solution import Solution, check, scope_of
from stet_ls.validators import structure
from stet_ls.validators.languages import language_of
from stet_ls.validators.project_files import BUILD_FOLDERS, read_regular
from stet_ls.validators.source import Source

_LARGEST = 500_000
_LEAST_WORDS = 3
"""Words that a documentation needs to be found by them."""
_MOST_LINES = 120
_SKIPPED = BUILD_FOLDERS | {"vendor"}


def read_lines(text: str) -> tuple[list[Solution], list[str]]:
    """The solutions of JSON lines, and a sentence for each invalid line with its number and what is missing."""
    solutions: list[Solution] = []
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            solutions.append(check(Solution.from_json(json.loads(line))))
        except json.JSONDecodeError as error:
            problems.append(f"line {number}: no JSON ({error.msg})")
        except (ValueError, RecursionError, StoreError) as error:
            problems.append(f"line {number}: {error}")
    return solutions, problems


def learn(path: Path, root: Path) -> list[Solution]:
    """The documented functions below `path`, as solutions of the project in `root`; long or secret ones are skipped."""
    scope = scope_of(root)
    return [each for file in _files(path) for each in _functions(file, root, scope)]


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for child in sorted(path.iterdir()):
        if child.name.startswith(".") or child.name in _SKIPPED or child.is_symlink():
            continue
        yield from _files(child) if child.is_dir() else [child]


def _functions(file: Path, root: Path, scope: str) -> Iterator[Solution]:
    language = language_of(file)
    try:
        source = Source(read_regular(file, most=_LARGEST).decode("utf-8", "replace"))
    except OSError:
        return
    digest = hashlib.sha256(source.data).hexdigest()[:32]
    for unit in structure.units(source, language):
        words = " ".join(unit.doc.split("\n\n")[0].split())
        code = textwrap.dedent(source.slice(unit.span))
        if len(words.split()) < _LEAST_WORDS or code.count("\n") > _MOST_LINES or unit.kind == "class":
            continue
        solution = Solution(
            instruction=words,
            code=code,
            language=language,
            outcome="learned",
            scope=scope,
            signature=unit.signature,
            unit=unit.qualified,
            path=file.relative_to(root).as_posix(),
            path_hash=digest,
        )
        try:
            yield check(solution)
        except StoreError:
            continue
