"""Finds the configuration of a type checker: the folder of the nearest one at or above a file, within its project."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from stet_ls.validators.project_files import is_regular, read_table, read_text

Configured = Callable[[Path, Path], Path | None]
"""From a project's folder and a file in it to the folder that the checker is started in; None if not configured."""


def _by(root: Path, path: Path, *, files: tuple[str, ...] = (), tables: tuple[str, ...] = (), hook: str = "") -> (
    Path | None
):  # fmt: skip
    """The nearest folder with one of the files, a `[tool.TABLE]` of pyproject.toml, or a hook of pre-commit."""
    for folder in _folders(root, path):
        if any(is_regular(folder / name) for name in files) or any(_has_table(folder, each) for each in tables):
            return folder
        hooks = read_text(folder / ".pre-commit-config.yaml") if hook else None
        if hooks and re.search(hook, hooks):
            return folder
    return None


def _folders(root: Path, path: Path) -> Iterator[Path]:
    for folder in path.parents:
        yield folder
        if folder == root:
            return


def _has_table(folder: Path, name: str) -> bool:
    try:
        return name in read_table(folder / "pyproject.toml").get("tool", {})
    except (OSError, ValueError, TypeError):
        return False


def mypy(root: Path, path: Path) -> Path | None:
    """By its own files, `[tool.mypy]`, a section of setup.cfg, or a hook of pre-commit."""
    found = _by(root, path, files=("mypy.ini", ".mypy.ini"), tables=("mypy",), hook=r"mirrors-mypy|id:\s*mypy\b")
    if found is not None:
        return found
    for folder in _folders(root, path):
        if re.search(r"^\[mypy\]", read_text(folder / "setup.cfg") or "", re.MULTILINE):
            return folder
    return None


def javascript(root: Path, path: Path) -> Path | None:
    """The nearest jsconfig.json or tsconfig.json that has JavaScript checked."""
    for folder in _folders(root, path):
        for name in ("tsconfig.json", "jsconfig.json"):
            text = read_text(folder / name)
            if text is not None:
                return folder if re.search(r'"checkJs"\s*:\s*true', text) else None
    return None


basedpyright: Configured = partial(_by, tables=("basedpyright",), hook=r"basedpyright")
pyright: Configured = partial(_by, files=("pyrightconfig.json",), tables=("pyright",), hook=r"/pyright-python\b")
ty: Configured = partial(_by, files=("ty.toml",), tables=("ty",), hook=r"\bty-pre-commit\b|id:\s*ty\b")
pyrefly: Configured = partial(_by, files=("pyrefly.toml",), tables=("pyrefly",), hook=r"pyrefly-pre-commit")
typescript: Configured = partial(_by, files=("tsconfig.json",))
go: Configured = partial(_by, files=("go.mod",))
rust: Configured = partial(_by, files=("Cargo.toml",))


def java(root: Path, path: Path) -> Path | None:
    """The project's folder: javac needs no configuration."""
    return root
