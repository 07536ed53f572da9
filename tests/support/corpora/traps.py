"""What a clone or an archive can hold under the names that tools look for: pipes, devices, files without end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

NAMES = (
    "pyproject.toml", "ruff.toml", "setup.cfg", "pytest.ini", "conftest.py", "requirements.txt", "environment.yml",
    ".venv/pyvenv.cfg", "__init__.py", "test_app.py", "tests/test_app.py", "helper.py", "coverage.xml", "package.json",
    "tsconfig.json", ".prettierrc", "biome.json", "helper.ts", "go.mod", "other.go", "Cargo.toml", "rustfmt.toml",
    "compile_commands.json", "header.h", ".clang-format", ".gitignore", "sub/.gitignore", ".editorconfig", "AGENTS.md",
    ".stetignore", ".env", "notes.ipynb",
)  # fmt: skip
"""`.stet.toml` is not among them: a settings file that cannot be read is a mistake to report."""


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # an address has a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(here)


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


KINDS: tuple[Callable[[Path], None], ...] = (
    os.mkfifo, _link("/dev/zero"), _link("/dev/ptmx"), _huge, _socket, Path.mkdir, _link("/proc/self/mem"),
    _link("/proc/self/fd/0"),
)  # fmt: skip
"""What makes a trap of each kind."""


def laid(root: Path, turn: int) -> Iterator[Path]:
    """Lays a trap of some kind under each name, with another turn of other kinds; the traps."""
    for name, make in zip(NAMES, islice(cycle(KINDS), turn, None), strict=False):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
        yield path
