"""The folders that a Python needs to start, determined from files: it is not started here.

A virtual environment in a project is untrusted. Its `pyvenv.cfg` and its links name host folders to show in the
sandbox; what they name must look like a Python installation, or a project could have `~/.ssh` shown to its tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os.path import abspath
from pathlib import Path

from stet_ls.engine.sandbox.files import mounts
from stet_ls.validators.containment import is_inside
from stet_ls.validators.project_files import matching, read_regular, read_start

_LARGEST = 100_000
"""Bytes of a `pyvenv.cfg`."""
_LINKS = 40
"""The same limit as Linux."""


class UnfitError(Exception):
    """This Python cannot be used in a sandbox. The text is the reason, for the list of rejected candidates."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A Python's program, the folders to show, the `bin` folder of the base installation, and a stamp of its state."""

    path: Path
    binds: tuple[Path, ...]
    base: Path
    stamp: str


def installation(python: Path) -> Installation:
    """The installation of a program. Raises UnfitError with the reason."""
    python = Path(abspath(python))  # noqa: PTH100 - Path.resolve would follow the links that make an environment
    if not python.is_file():
        raise UnfitError("a broken link" if python.is_symlink() else "no such file")
    if _is_script(python):
        raise UnfitError("a script that starts a Python, not a Python")
    prefix = python.parent.parent
    if (prefix / "pyvenv.cfg").is_file():
        if prefix.is_symlink():
            raise UnfitError(f"{prefix} is a link to another folder; use that folder")
        home = _home(prefix / "pyvenv.cfg")
        folders = [prefix, *_prefixes(home / python.name if (home / python.name).is_file() else python.resolve())]
        folders += _prefixes(python)
    else:
        python = python.resolve()
        folders = list(_prefixes(python))
    try:
        binds = mounts.outermost_paths(real for folder in folders if (real := mounts.bindable(folder)) is not None)
    except ValueError as error:
        raise UnfitError(str(error)) from None
    return Installation(python, tuple(binds), python.resolve().parent, stamp(folders))


def stamp(folders: Iterable[Path]) -> str:
    """Changes when packages are added or removed, or the environment is rebuilt."""
    return "|".join(_states(dict.fromkeys(folders)))


def _states(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        for path in (folder / "pyvenv.cfg", *(library / "site-packages" for library in _libraries(folder))):
            try:
                state = path.stat()
            except OSError:
                continue
            yield f"{path}:{state.st_ino}:{state.st_mtime_ns}"


def _prefixes(program: Path) -> Iterator[Path]:
    """The installations that a program's links lead through; the last must be an installation, or nothing is shown."""
    for _ in range(_LINKS):
        prefix = program.parent.parent
        if _is_installation(prefix):
            yield prefix
        if not program.is_symlink():
            break
        program = Path(abspath(program.parent / program.readlink()))  # noqa: PTH100
    prefix = program.resolve().parent.parent  # a parent may be a link too, as in uv's minor versions
    if not _is_installation(prefix):
        raise UnfitError(f"{prefix} is not a Python installation, so runs cannot use it")
    yield prefix


def _is_installation(folder: Path) -> bool:
    """True if the standard library is below it: the files themselves, not behind a link."""
    files = (library / "os.py" for library in _libraries(folder))
    return any(file.is_file() and is_inside(file, folder) for file in files)


def _libraries(folder: Path) -> list[Path]:
    """The folders of standard libraries."""
    return [each for library in matching(folder, "lib*") for each in matching(library, "python3*")]


def _home(config: Path) -> Path:
    try:
        text = read_regular(config, most=_LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise UnfitError(f"{config} cannot be read: {error.strerror}") from None
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home" and Path(value.strip()).is_absolute():
            return Path(value.strip())
    raise UnfitError(f"{config} has no `home`")


def _is_script(program: Path) -> bool:
    """True for scripts, such as pyenv's shims."""
    try:
        return read_start(program, 2) == b"#!"
    except OSError:
        return False
