"""Places where the Python of a workspace may be, nearest first; the sandbox verifies it later."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from stet_ls.validators.project_files import read_table, read_text

_FOLDERS = (".venv", "venv", "env")
_LONGEST_LIST, _MOST_VERSIONS = 10_000, 20
"""Bytes of a `.python-version`, and versions in it."""
_CONDA = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", ".conda", "micromamba")


def candidates(root: Path, environ: Mapping[str, str], setting: str = "") -> Iterator[tuple[str, Path]]:
    """A label and the program for each place, including named programs that do not exist."""
    if setting:
        named = root / Path(setting).expanduser()
        yield "the setting sandbox.python", python_in(named) if named.is_dir() else named
    for variable in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "CONDA_PREFIX"):
        # The base environment of conda is always active, so it does not identify this project.
        if (value := environ.get(variable)) and environ.get(
            "CONDA_DEFAULT_ENV" if "CONDA" in variable else ""
        ) != "base":
            yield variable, python_in(root / value)
    seen = (*(root / name for name in _FOLDERS), *_kept_elsewhere(root, environ))
    yield from ((str(folder), python_in(folder)) for folder in seen if folder.is_dir())
    for version in _pyenv(root, environ):
        yield f"pyenv {version.name}", python_in(version)
    # Shims come first on PATH where there are any, and choose by files: those were read above.
    for name in ("python3", "python"):
        for folder in environ.get("PATH", "").split(os.pathsep):
            # A relative folder depends on the working folder, so it is not a deliberate choice.
            if Path(folder).is_absolute() and (found := shutil.which(name, path=folder)):
                yield "PATH", Path(found)


def python_in(environment: Path) -> Path:
    """The program of an environment."""
    return environment / "bin" / "python"


def _kept_elsewhere(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Environments that tools keep outside of the project, found by the tools' naming schemes."""
    home = Path(environ.get("HOME", "/nonexistent"))
    caches = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    if name := _project_name(root):
        poetry = Path(environ.get("POETRY_CACHE_DIR") or caches / "pypoetry") / "virtualenvs"
        yield from sorted(poetry.glob(f"{_safe(name.lower())}-{_hash(root.resolve())}-py3*"), reverse=True)
    if (root / "Pipfile").is_file():
        folders = Path(environ.get("WORKON_HOME") or data / "virtualenvs")
        yield from folders.glob(f"{_safe(root.name)}-{_hash(root / 'Pipfile')}")
    if name := _conda_name(root):
        yield from (home / conda / "envs" / name for conda in _CONDA)


def _safe(name: str) -> str:
    """A name as poetry and pipenv write it, without pattern characters."""
    return re.sub(r"[ &$`!*@\"()\[\]\\\r\n\t?/]", "_", name)[:42]


def _hash(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(str(path).encode()).digest()).decode()[:8]


def _project_name(root: Path) -> str:
    try:
        table = read_table(root / "pyproject.toml")
        return str(table.get("project", {}).get("name") or table["tool"]["poetry"]["name"])
    except (OSError, ValueError, LookupError, AttributeError, TypeError):
        return ""


def _conda_name(root: Path) -> str:
    for name in ("environment.yml", "environment.yaml"):
        text = read_text(root / name) or ""
        if found := re.search(r"^name:[ \t]*[\"']?([\w.-]+)", text, re.MULTILINE):
            return found[1].strip(".")
    return ""


def _pyenv(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The versions in `.python-version` files of the project and its parents, then the user's own."""
    base = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME", "/nonexistent")) / ".pyenv")
    if not base.is_dir():
        return
    for file in (*(folder / ".python-version" for folder in (root, *root.parents)), base / "version"):
        lines = (read_text(file, most=_LONGEST_LIST) or "").split()
        for line in lines[:_MOST_VERSIONS]:
            if re.fullmatch(r"[\w.-]+", line) and line.strip("."):
                matches = sorted((base / "versions").glob(f"{line}.*"), reverse=True)
                yield from [base / "versions" / line] if (base / "versions" / line).is_dir() else matches[:1]
