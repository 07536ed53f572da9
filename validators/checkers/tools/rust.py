"""Rust: rustfmt parses with the crate's edition. From standard input it reads no `mod` files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet_ls.validators.checkers.checker_request import CheckerRequest, CheckerResult, ToolCommand, run_tool_on
from stet_ls.validators.checkers.output_parsing import distinct, finding, judged
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.project_files import read_table

_ERROR = re.compile(r"^error(?:\[E\d+\])?: (.+)\n\s*--> <stdin>:(\d+):(\d+)", re.MULTILINE)
_EDITION = "2021"


def rustfmt(request: CheckerRequest) -> CheckerResult:
    """The errors of the compiler's parser."""

    def read(result: ToolResult) -> CheckerResult:
        text = result.stderr.decode("utf-8", "replace")
        found = (finding(request.source, m[1], int(m[2]), int(m[3]), "rustfmt") for m in _ERROR.finditer(text))
        return judged(result, distinct(found), "rustfmt")

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
        named = _get(manifest, "package", "edition")
        inherits = isinstance(named, Mapping)  # `edition.workspace = true`
        if not isinstance(named, str):
            named = _get(manifest, "workspace", "package", "edition")
        if inherits and named is None:
            continue  # the workspace's own manifest is further up
        if named in ("2015", "2018", "2021", "2024"):
            return str(named)
    return _EDITION


def _get(table: Mapping[str, Any], *keys: str) -> object:
    value: object = table
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
