"""Ruff: the authority on Python's syntax, names and style. One process per check, 8 ms per buffer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.findings import Finding, Kind, Severity
from stet_ls.validators.parsing.parse import clean
from stet_ls.validators.project_files import inner_table, read_table
from stet_ls.validators.source import Source, Span

# What parses but the compiler rejects: return outside a function, break outside a loop, two default excepts.
_COMPILED = "E9,F404,F407,F621,F622,F7"
_LINTED = "E,F,W,C90,B"
_NAMES = frozenset({"F821", "F822", "F823"})
_SYNTAX = "invalid-syntax"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """The rules to check: the arguments that select them, and the kind of their findings."""

    arguments: tuple[str, ...]
    kind: Kind


SYNTAX = RuleSelection(("--select", _COMPILED, "--ignore-noqa"), "syntax")
"""What Python's parser and compiler reject."""
LINT = RuleSelection(("--select", _LINTED), "lint")
"""Style, likely bugs, complexity and undefined names, without syntax errors."""


def command(question: RuleSelection, options: Sequence[str]) -> list[str] | None:
    """The command line without the files; `options` are a project's. None if ruff is missing."""
    program = _program()
    if program is None:
        return None
    # --isolated: a project's configuration may name files to extend and rules to leave out; we read two keys of it.
    argv = [program, "check", "--isolated", "--no-cache", "--quiet", "--output-format", "json"]
    return [*argv, *question.arguments, *options]


def file_name(path: Path | None) -> str:
    """The file name of a text for ruff. Rules depend on it: stubs have their own."""
    return "stdin.pyi" if path and path.suffix == ".pyi" else "stdin.py"


def file_text(source: Source) -> bytes:
    """The bytes of a text for ruff."""
    return clean(source).removeprefix(_BOM)


def answer(result: ToolResult) -> list[Mapping[str, Any]] | None:
    """Ruff's output; None if it did not finish."""
    if result.status not in (0, 1):  # 0: nothing found, 1: something, 2: ruff itself failed
        return None
    try:
        found: list[Mapping[str, Any]] = json.loads(result.stdout)
    except ValueError:
        return None
    return found


def findings(source: Source, items: Iterable[Mapping[str, Any]], question: RuleSelection) -> tuple[Finding, ...]:
    """Ruff's answer about one text. A text that does not parse has no lint."""
    if question.kind == "syntax":
        return tuple(_finding(source, item, "syntax") for item in items)
    return tuple(
        _finding(source, item, "semantic" if item["code"] in _NAMES else "lint")
        for item in items
        if item["code"] not in (None, _SYNTAX)
    )


_FINDING = Lock()
"""`sysconfig`, by which ruff finds itself, lets a second thread read its table while the first one fills it."""


def _program() -> str | None:
    """The ruff that was installed with this package, wherever its environment puts scripts."""
    try:
        from ruff import find_ruff_bin  # type: ignore[import-untyped]  # the wheel ships no types

        with _FINDING:
            return str(find_ruff_bin())
    except (ImportError, FileNotFoundError):
        next_to_python = Path(sys.executable).with_name("ruff")
        return str(next_to_python) if next_to_python.is_file() else None


def project_options(path: Path | None) -> tuple[str, ...]:
    """Ruff's options for a file's project: its line length and Python version, from the nearest pyproject.toml.

    Only these two are used: both are plain values that can neither run code nor read another file.
    """
    for folder in path.absolute().parents if path else ():
        file = folder / "pyproject.toml"
        try:
            stamp = file.stat().st_mtime_ns
        except OSError:
            continue
        return _options(file, stamp)
    return ()


@lru_cache(maxsize=32)
def _options(file: Path, _stamp: int) -> tuple[str, ...]:
    try:
        table = read_table(file)
    except (OSError, ValueError):
        return ()
    ruff = inner_table(table, "tool", "ruff")
    options: list[str] = []
    length = ruff.get("line-length")
    if isinstance(length, int) and 0 < length <= 320:
        options += ["--line-length", str(length)]
    version = ruff.get("target-version") or _lowest(inner_table(table, "project").get("requires-python"))
    if isinstance(version, str) and version in _VERSIONS:
        options += ["--target-version", version]
    return tuple(options)


_VERSIONS = frozenset(f"py3{minor}" for minor in range(7, 15))


def _lowest(specifier: object) -> str | None:
    """py311 for ">=3.11,<4"; None without a lower bound."""
    if not isinstance(specifier, str):
        return None
    for part in specifier.split(","):
        bound = part.strip()
        for operator in (">=", "~=", "=="):
            if bound.startswith(operator):
                return "py" + "".join(bound.removeprefix(operator).strip().split(".")[:2])
    return None


def _finding(source: Source, item: Mapping[str, Any], kind: Kind) -> Finding:
    span = Span(*sorted(_offset(source, item[key]) for key in ("location", "end_location")))
    code = item["code"] if item["code"] not in (None, _SYNTAX) else ""
    fix = item.get("fix") or {}
    return Finding(
        span=span,
        message=item["message"].removeprefix("SyntaxError: "),
        kind=kind,
        severity=Severity.WARNING if kind == "lint" else Severity.ERROR,
        source="ruff",
        code=code,
        line=source.line_of(span.start),
        suggestions=(fix["message"],) if fix.get("message") else (),
    )


def _offset(source: Source, location: Mapping[str, int]) -> int:
    """Ruff counts lines from 1 and columns in code points from 1, a byte order mark not counted."""
    line = location["row"] - 1
    column = location["column"] - 1
    if line == 0 and source.data.startswith(_BOM):
        column += 1
    return source.offset(line, column, "utf-32")
