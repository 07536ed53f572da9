"""Finds compilers and interpreters without starting them: what a sandbox needs to contain for them."""

from __future__ import annotations

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.sandbox.files import mounts


@dataclass(frozen=True, slots=True)
class BoxProgram:
    """A program as the sandbox can start it, and the folders it needs there."""

    path: Path
    binds: tuple[Path, ...] = ()

    @property
    def installation(self) -> Path:
        """The folder two above it."""
        return mounts.environment_of(self.path)


def find(*names: str, install: str) -> BoxProgram:
    """The first of `names` on the PATH. Raises MissingToolError, also if its folder shows more than a run may see."""
    for name in names:
        if found := shutil.which(name):
            real = Path(found).resolve()
            if real.name not in _FIND_THEIR_LIBRARY:
                # Some programs depend on the name they are called with; links within the system stay as they are.
                real = Path(found).absolute() if mounts_it(Path(found)) else real
            try:
                shown = mounts.bindable(mounts.environment_of(real))
            except ValueError as error:
                raise MissingToolError(name, f"{install}; {error}") from None
            return BoxProgram(real, (shown,) if shown else ())
    raise MissingToolError(names[0], install)


def rust(name: str, install: str) -> BoxProgram:
    """`rustc` or `cargo`: of rustup's default toolchain, since rustup's own programs only choose one; else as found."""
    home = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    try:
        chosen = tomllib.loads((home / "settings.toml").read_text(encoding="utf-8"))["default_toolchain"]
    except (OSError, ValueError, KeyError):
        found = find(name, install=install)
        if found.path.resolve().name == "rustup":
            raise MissingToolError(name, "rustup default stable: rustup has no default toolchain") from None
        return found
    toolchain = home / "toolchains" / str(chosen)
    if not (toolchain / "bin" / name).is_file():
        return find(name, install=install)
    return BoxProgram(toolchain / "bin" / name, (toolchain,))


def cache(folder: Path) -> tuple[Path, ...]:
    """A folder of downloaded sources to show, if it exists and exposes nothing else."""
    try:
        shown = mounts.bindable(folder) if folder.is_dir() else None
    except ValueError:
        return ()
    return (shown,) if shown else ()


def mounts_it(path: Path) -> bool:
    """True if the sandbox shows it anyway."""
    try:
        return mounts.bindable(path) is None
    except ValueError:
        return False


_FIND_THEIR_LIBRARY = frozenset({"go", "node", "java", "javac", "dotnet"})
"""Their real folder must be known, since they find their library next to it."""


class MissingToolError(Exception):
    """A program that a runner needs is not installed. `install` is the remedy."""

    def __init__(self, program: str, install: str) -> None:
        super().__init__(program)
        self.install = install
