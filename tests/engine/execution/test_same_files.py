"""What both languages have is in files of the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import stet_ls.engine.execution

ROOT = Path(stet_ls.engine.execution.__file__).parent
LANGUAGES = ("python", "javascript")
SHARED = {
    "callers.py", "changed_statements.py", "harness.py", "module_location.py", "probes.py", "version_pair.py",
    "inputs/arguments.py", "inputs/calls.py",
    "inputs/contract.py", "inputs/examples.py", "inputs/few_values.py", "inputs/grown.py", "inputs/guided_changes.py",
    "inputs/sources.py", "inputs/subject.py", "inputs/known_calls/captured_calls.py",
    "inputs/known_calls/suggested.py", "inputs/values/untyped_params.py",
}  # fmt: skip
"""What a language with a comparison has."""


def files(language: str) -> dict[str, Path]:
    """The files of a language outside of the sandbox, by their paths in its folder."""
    folder = ROOT / language
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*.py")
        if path.name != "__init__.py" and "inside" not in path.parts
    }


def public(path: Path) -> Iterator[str]:
    """The functions and classes that a file offers."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_both_languages_have_the_same_files_for_what_they_share() -> None:
    python, javascript = (set(files(language)) for language in LANGUAGES)
    assert python & javascript == SHARED


def test_a_function_of_both_languages_is_in_files_of_one_name() -> None:
    homes: dict[str, dict[str, set[str]]] = {}
    for language in LANGUAGES:
        for name, path in files(language).items():
            for each in public(path):
                homes.setdefault(each, {}).setdefault(language, set()).add(name)
    separate = {
        name: home for name, home in homes.items() if len(home) == 2 and len({*map(frozenset, home.values())}) > 1
    }
    assert separate == {}
