"""Rust: rustfmt parses with the crate's edition. From standard input it reads no `mod` files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from stet_ls.validators.checkers.checker_request import CheckerRequest, CheckerResult, ToolCommand, run_tool_on
from stet_ls.validators.checkers.output_parsing import judged, listed
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.project_files import inner_table, read_table

_ERROR = re.compile(r"^error(?:\[E\d+\])?: (?P<message>.+)\n\s*--> <stdin>:(?P<line>\d+):(?P<column>\d+)", re.MULTILINE)
_EDITION = "2021"


def rustfmt(request: CheckerRequest) -> CheckerResult:
    """The errors of the compiler's parser."""

    def read(result: ToolResult) -> CheckerResult:
        return judged(result, listed(request.source, result.stderr, _ERROR, "rustfmt"), "rustfmt")

    arguments = ("--edition", edition(request.path), "--emit", "stdout", "--quiet", "--color", "never")
    return run_tool_on(request, ToolCommand("rustfmt", arguments, environment=toolchain()), read)


def toolchain() -> tuple[tuple[str, str], ...]:
    """The folder of rustup's toolchains: its `rustfmt` is a stub that looks for the real one there."""
    homes = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}
    return tuple((key, os.environ.get(key) or str(Path.home() / folder)) for key, folder in homes.items())


def edition(path: Path | None) -> str:
    """The edition in the nearest Cargo.toml."""
    for folder in path.absolute().parents if path else ():
        try:
            manifest = read_table(folder / "Cargo.toml")
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            break
        named = inner_table(manifest, "package").get("edition")
        inherits = isinstance(named, Mapping)  # `edition.workspace = true`
        if not isinstance(named, str):
            named = inner_table(manifest, "workspace", "package").get("edition")
        if inherits and named is None:
            continue  # the workspace's own manifest is further up
        if named in ("2015", "2018", "2021", "2024"):
            return str(named)
    return _EDITION
