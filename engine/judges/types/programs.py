"""How each type checker is started in the sandbox: the project's own program first, then one of the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.project_files import read_start


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The file to check, its text, its project, and the folder of the checker's configuration."""

    root: Path
    path: Path
    text: str
    folder: Path
    tools: Toolbox
    runtime: Runtime

    @property
    def file(self) -> str:
        """The file as the checker gets it: relative to the folder that it starts in."""
        return self.path.relative_to(self.folder).as_posix()


@dataclass(frozen=True, slots=True)
class CheckerStart:
    """A command, run in the folder of the configuration, and what its sandbox has to show and set."""

    argv: tuple[str, ...]
    binds: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


Find = Callable[[CheckedFile], CheckerStart | None]
"""The command for a target; None if the program is not installed. Raises MissingToolError for a part of it."""


def of_python(name: str, options: tuple[str, ...], *, module: str = "", node: str = "", interpreter: str = "") -> Find:
    """A checker of Python: of the project's environment, its `node_modules`, or the machine.

    `module` is what `python -m` runs, `node` its script among the packages of npm; `interpreter` is the option that
    names the project's Python, for a program from elsewhere.
    """

    def find(target: CheckedFile) -> CheckerStart | None:
        python = target.runtime.python
        if python is not None and module and python.has(module):
            return CheckerStart((str(python.path), "-m", module, *options, target.file), python.binds, python.env)
        if node and (script := _of_npm(target, node)):
            own = toolchain.find("node", install=NODE)
            return _for_python(CheckerStart((str(own.path), script, *options), own.binds), python, interpreter, target)
        found = programs.find(name, target.tools, name=name, path=target.path)
        shown = _shown(found.path) if found is not None else None
        if found is None or shown is None:
            return None
        return _for_python(CheckerStart((str(found.path.resolve()), *options), shown), python, interpreter, target)

    return find


def _for_python(started: CheckerStart, python: Environment | None, option: str, target: CheckedFile) -> CheckerStart:
    """The command for the project's Python, whose packages the checker has to find."""
    named = (option, str(python.path)) if python is not None and option else ()
    binds = (*started.binds, *(python.binds if python is not None else ()))
    return CheckerStart((*started.argv, *named, target.file), binds, started.env)


def _shown(program: Path) -> tuple[Path, ...] | None:
    """What the sandbox shows for a program: its file, or the environment of a Python's script; None if it cannot."""
    real = program.resolve()
    try:
        if read_start(real, 2) == b"#!":
            interpreter = real.parent / "python"
            return mounts.interpreter(interpreter) if interpreter.exists() else None
        shown = mounts.bindable(real)
    except (OSError, ValueError):
        return None
    return (shown,) if shown else ()


def _of_npm(target: CheckedFile, script: str) -> str | None:
    """The path of a package's script from the folder of the configuration, if it is installed at or above there.

    Relative, since some sandboxes show a workspace elsewhere.
    """
    for folder in (target.folder, *target.folder.parents):
        if (folder / "node_modules" / script).is_file():
            return os.path.relpath(folder / "node_modules" / script, target.folder)
        if folder == target.root:
            break
    return None


def tsc(target: CheckedFile) -> CheckerStart | None:
    """The project's TypeScript, for all files of the configuration; it takes none besides."""
    script = _of_npm(target, "typescript/bin/tsc")
    if script is None:
        return None
    own = toolchain.find("node", install=NODE)
    config = "tsconfig.json" if (target.folder / "tsconfig.json").is_file() else "jsconfig.json"
    argv = (str(own.path), script, "--noEmit", "--pretty", "false", "-p", config)
    return CheckerStart((*argv, "--incremental", "--tsBuildInfoFile", "@CACHE@/tsbuildinfo"), own.binds)


def go_vet(target: CheckedFile) -> CheckerStart | None:
    """`go vet` on the file's package, offline."""
    program = toolchain.find("go", install="go")
    modules = Path(os.environ.get("GOMODCACHE") or Path(os.environ.get("GOPATH") or Path.home() / "go") / "pkg/mod")
    offline = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false", "GOTELEMETRY": "off"}
    package = f"./{PurePosixPath(target.file).parent}"
    return CheckerStart(
        (str(program.path), "vet", package),
        (*program.binds, *toolchain.cache(modules)),
        {**offline, "GOCACHE": "@TMP@/go-build", "GOMODCACHE": str(modules)},
    )


def clippy(target: CheckedFile) -> CheckerStart | None:
    """`cargo clippy`, offline; build scripts and macros run in the sandbox."""
    program = toolchain.rust("cargo", "rust")
    if not (program.path.parent / "cargo-clippy").is_file():
        return None
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    shown = (*toolchain.cache(home / "registry"), *toolchain.cache(home / "git"))
    return CheckerStart(
        (str(program.path), "clippy", "--offline", "--quiet", "--color=never", "--message-format=short"),
        (*program.binds, *shown),
        {
            "CARGO_HOME": str(home) if shown else "@TMP@/cargo",
            "CARGO_TARGET_DIR": "@TMP@/target",
            "CARGO_NET_OFFLINE": "true",
        },
    )


_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


def javac(target: CheckedFile) -> CheckerStart | None:
    """`javac -Xlint` on the file, with the sources of its tree and no annotation processors."""
    program = toolchain.find("javac", install="a JDK")
    package = _PACKAGE.search(target.text)
    depth = package[1].count(".") + 1 if package else 0
    sources = os.path.relpath(target.path.parents[min(depth, len(target.path.parents) - 1)], target.folder)
    options = ("-Xlint:all", "-proc:none", "-implicit:none", "-Xmaxerrs", "1000", "-Xmaxwarns", "1000")
    english = ("-J-Duser.language=en", "-J-XX:TieredStopAtLevel=1")
    return CheckerStart(
        (str(program.path), *english, *options, "-d", "@TMP@/classes", "-sourcepath", sources, target.file),
        program.binds,
    )


__all__ = ["CheckedFile", "CheckerStart", "Find", "MissingToolError", "clippy", "go_vet", "javac", "of_python", "tsc"]
