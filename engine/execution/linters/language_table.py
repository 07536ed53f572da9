"""The linters of each language: what runs in the sandbox, and how its findings are read."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.toolchain import BoxProgram


@dataclass(frozen=True, slots=True)
class LintCommand:
    """A command in the working folder, with what the sandbox shows for it."""

    argv: tuple[str, ...]
    binds: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LintLine:
    """One finding as the tool prints it: line and column from 1."""

    path: str
    line: int
    column: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SandboxLinter:
    """A linter. `command` is None if it does not fit the file; it raises MissingToolError if it is not installed."""

    name: str
    command: Callable[[Path, str], LintCommand | None]
    read: Callable[[str], Iterator[LintLine]]


def _vet(root: Path, path: str) -> LintCommand | None:
    if not (root / "go.mod").is_file():
        return None
    program = toolchain.find("go", install="go (https://go.dev/dl)")
    modules = Path(os.environ.get("GOMODCACHE") or Path(os.environ.get("GOPATH") or Path.home() / "go") / "pkg/mod")
    folder = PurePosixPath(path).parent
    env = {
        "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOTELEMETRY": "off",
        "GOCACHE": "@TMP@/go-build", "GOMODCACHE": str(modules),
    }  # fmt: skip
    shown = (*program.binds, *toolchain.cache(modules))
    return LintCommand((str(program.path), "vet", f"./{folder}" if folder.parts else "."), shown, env)


def _clippy(root: Path, path: str) -> LintCommand | None:
    program = toolchain.rust("clippy-driver", "clippy (rustup component add clippy)")
    sysroot = ("--sysroot", str(program.installation))
    linked = (*program.binds, *toolchain.find("cc", install="a linker (apt install build-essential)").binds)
    if not (root / "Cargo.toml").is_file():
        options = ("--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "--error-format", "json")
        return LintCommand((str(program.path), *sysroot, *options, "-o", "@TMP@/lint.rmeta", path), linked)
    cargo = toolchain.rust("cargo", "rust (https://rustup.rs)")
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    shown = (*toolchain.cache(home / "registry"), *toolchain.cache(home / "git"))
    env = {
        "CARGO_HOME": str(home) if shown else "@TMP@/cargo", "CARGO_TARGET_DIR": "@TMP@/target",
        "CARGO_NET_OFFLINE": "true", "RUSTC_WORKSPACE_WRAPPER": str(program.path), "CLIPPY_ARGS": "",
    }  # fmt: skip
    argv = (str(cargo.path), "check", "--offline", "--quiet", "--message-format", "json")
    return LintCommand(argv, (*linked, *cargo.binds, *shown), env)


def _javac(root: Path, path: str) -> LintCommand | None:
    program = toolchain.find("javac", install="a JDK, 17 or later (apt install default-jdk)")
    sources = next((each for each in ("src/main/java", "src") if path.startswith(f"{each}/")), ".")
    options = ("-J-Duser.language=en", "-Xlint:all", "-proc:none", "-implicit:none", "-d", "@TMP@/classes")
    return LintCommand((str(program.path), *options, "-sourcepath", sources, path), program.binds)


def _native(compilers: tuple[str, ...]) -> Callable[[Path, str], LintCommand | None]:
    def command(root: Path, path: str) -> LintCommand | None:
        if shutil.which("clang-tidy"):
            tidy = toolchain.find("clang-tidy", install="clang-tidy (apt install clang-tidy)")
            return LintCommand((str(tidy.path), "--quiet", path, "--", "-I."), tidy.binds)
        compiler: BoxProgram = toolchain.find(*compilers, install="a C and C++ compiler (apt install build-essential)")
        return LintCommand((str(compiler.path), "-fsyntax-only", "-Wall", "-Wextra", "-I.", path), compiler.binds)

    return command


_PLACE = re.compile(
    r"^(?:vet: )?(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:(?P<level>warning|error|note): )?"
    r"(?P<message>.+?)(?: \[(?P<code>[\w.,=+-]+)\])?$",
    re.MULTILINE,
)
_JAVA = re.compile(r"^(?P<path>[^:\n]+\.java):(?P<line>\d+): warning: (?:\[(?P<code>[\w-]+)\] )?(?P<message>.+)$", re.M)


def _places(text: str) -> Iterator[LintLine]:
    """Findings of compilers: `path:line:column: warning: message [code]`. Errors are the syntax check's."""
    for match in _PLACE.finditer(text):
        if match["level"] in (None, "warning"):
            column = int(match["column"] or 1)
            yield LintLine(match["path"], int(match["line"]), column, match["code"] or "", match["message"])


def _java(text: str) -> Iterator[LintLine]:
    for match in _JAVA.finditer(text):
        yield LintLine(match["path"], int(match["line"]), 1, match["code"] or "", match["message"])


def _rust(text: str) -> Iterator[LintLine]:
    """Messages of rustc and of cargo, which wraps them."""
    for line in text.splitlines():
        try:
            row: Any = json.loads(line) if line.startswith("{") else None
        except ValueError:
            continue
        row = row.get("message", row) if isinstance(row, dict) and isinstance(row.get("message"), dict) else row
        if not isinstance(row, dict) or row.get("level") != "warning":
            continue
        place = next((each for each in row.get("spans", ()) if each.get("is_primary")), None)
        code = (row.get("code") or {}).get("code", "")
        if place is not None and code:
            yield LintLine(
                place["file_name"], place["line_start"], place["column_start"], code, str(row.get("message", ""))
            )


ROWS: Mapping[str, SandboxLinter] = {
    "go": SandboxLinter("go vet", _vet, _places),
    "rust": SandboxLinter("clippy", _clippy, _rust),
    "java": SandboxLinter("javac -Xlint", _javac, _java),
    "c": SandboxLinter("the C compiler's warnings, or clang-tidy", _native(("clang", "gcc", "cc")), _places),
    "cpp": SandboxLinter("the C++ compiler's warnings, or clang-tidy", _native(("clang++", "g++", "c++")), _places),
}
"""By language id."""
