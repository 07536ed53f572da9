"""An interpreter that was verified in the sandbox, and an environment on top of it: the input of a runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that starts in the sandbox once `binds` are shown there read-only.

    `path` is the program as a run names it. `base` is the `bin` folder of the installation below a virtual environment.
    `modules` are the top-level names that can be imported, `standard` those of the standard library; `distributions`
    maps the others to (name, version) of their package. Untrusted code in the sandbox reported all of it: use it only
    to decide what to run there.
    """

    path: Path
    version: tuple[int, int, int]
    binds: tuple[Path, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    base: Path = Path()
    modules: frozenset[str] = frozenset()
    standard: frozenset[str] = frozenset()
    distributions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    packages: tuple[Path, ...] = ()
    stamp: str = ""
    free_threaded: bool = False

    def has(self, module: str) -> bool:
        """True if `module`'s top-level name can be imported."""
        top = module.partition(".")[0]
        return top in self.modules or top in self.standard

    @property
    def short(self) -> str:
        """The version as used in wheel names: 3.12."""
        return f"{self.version[0]}.{self.version[1]}"


@dataclass(frozen=True, slots=True)
class Environment:
    """An interpreter and a read-only folder of packages; without a folder, only the interpreter's own packages.

    A runner starts `path`, shows `binds` and sets `env`. `key` changes with anything that could change a run.
    """

    interpreter: Interpreter
    key: str
    folder: Path | None = None
    requirements: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        """The Python to start."""
        return self.folder / "bin" / "python" if self.folder else self.interpreter.path

    @property
    def binds(self) -> tuple[Path, ...]:
        """The folders to show read-only."""
        return (self.folder, *self.interpreter.binds) if self.folder else self.interpreter.binds

    @property
    def env(self) -> Mapping[str, str]:
        """The variables to set."""
        return self.interpreter.env

    def has(self, module: str) -> bool:
        """True if `module`'s top-level name can be imported."""
        return module.partition(".")[0] in self.modules or self.interpreter.has(module)


def bare_environment(interpreter: Interpreter) -> Environment:
    """The environment of an interpreter without packages installed by Stet."""
    return Environment(interpreter, f"{interpreter.path} {interpreter.stamp}")
