"""The languages' own parsers, where the machine has them: what they say decides.

Each reads the text from its standard input, outside of every project, and only parses: nothing of a project is run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.validators import ruff
from stet_ls.validators.findings import Finding
from stet_ls.validators.parse import clean
from stet_ls.validators.process import ToolResult, run_tool
from stet_ls.validators.project_files import read_table
from stet_ls.validators.source import Encoding, Source, Span

Check = Callable[[Source, Path | None, float], tuple[Finding, ...] | None]
"""Findings of a text within some seconds; None if the tool is missing, too slow, or did not get to the syntax."""


@dataclass(frozen=True, slots=True)
class Native:
    """A tool. `authoritative`: its errors stand on their own; one that is not only adds to what the grammar finds."""

    name: str
    check: Check
    authoritative: bool = True


def _ruff(source: Source, path: Path | None, deadline: float) -> tuple[Finding, ...] | None:
    return ruff.syntax(source, path=path, deadline=deadline)


# In a child: it cannot be stopped, and deeply nested text can take the process down with it.
_AST = """
import ast, sys
try:
    ast.parse(sys.stdin.buffer.read())
except SyntaxError as error:
    print(error.lineno or 1, max(error.offset or 1, 1), error.msg, sep=":")
except (ValueError, MemoryError, RecursionError) as error:
    print(1, 1, f"cannot be parsed ({type(error).__name__})", sep=":")
"""
_LINE_COLUMN = re.compile(r"^(?:<standard input>:)?(\d+):(\d+):\s*(.+)$", re.MULTILINE)


def _ast(source: Source, _path: Path | None, deadline: float) -> tuple[Finding, ...] | None:
    """Python's own parser. Its version is this server's and not the project's, so it only advises."""
    result = run_tool([sys.executable, "-I", "-S", "-c", _AST], stdin=clean(source), deadline=deadline)
    return None if result.status != 0 else _listed(source, result.stdout, "ast", "utf-32")


def _gofmt(source: Source, _path: Path | None, deadline: float) -> tuple[Finding, ...] | None:
    """Reports all syntax errors (`-e`) and prints no formatted text (`-l`)."""
    result = run_tool(["gofmt", "-e", "-l"], stdin=clean(source), deadline=deadline)
    return _judged(result, _listed(source, result.stderr, "gofmt", "utf-8"))


_RUST_ERROR = re.compile(r"^error(?:\[E\d+\])?: (.+)\n\s*--> <stdin>:(\d+):(\d+)", re.MULTILINE)
_EDITION = "2021"


def _rustfmt(source: Source, path: Path | None, deadline: float) -> tuple[Finding, ...] | None:
    argv = ["rustfmt", "--edition", edition(path), "--emit", "stdout", "--quiet", "--color", "never"]
    result = run_tool(argv, stdin=clean(source), deadline=deadline, environment=_toolchain())
    text = result.stderr.decode("utf-8", "replace")
    found = (
        _finding(source, match[1], int(match[2]), int(match[3]), "rustfmt") for match in _RUST_ERROR.finditer(text)
    )
    return _judged(result, tuple(found))


def _toolchain() -> Mapping[str, str]:
    """Where rustup keeps its toolchains: its `rustfmt` is a stand-in that looks for the real one there."""
    homes = {"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"}
    return {key: os.environ.get(key) or str(Path.home() / folder) for key, folder in homes.items()}


def edition(path: Path | None) -> str:
    """The edition that the nearest Cargo.toml names."""
    for folder in path.absolute().parents if path else ():
        try:
            manifest = read_table(folder / "Cargo.toml")
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            break
        edition = _get(manifest, "package", "edition") or _get(manifest, "workspace", "package", "edition")
        if edition in ("2015", "2018", "2021", "2024"):
            return str(edition)
    return _EDITION


def _get(table: Mapping[str, Any], *keys: str) -> object:
    value: object = table
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


_NODE_ERROR = re.compile(r"^\[stdin\]:(\d+)\n.*\n([ \t]*)\^*[ \t]*\n+SyntaxError: (.+)$", re.MULTILINE)
_MODULE = re.compile(r"^[ \t]*(?:import\s*[\w{*\"']|export\s)", re.MULTILINE)
_MARKUP = re.compile(r"<[A-Za-z][\w.]*(?:\s[^<>]*)?/?>|<>")


def _node(source: Source, path: Path | None, deadline: float) -> tuple[Finding, ...] | None:
    """V8's verdict. A file that says neither by its name nor by an import what it is may be a script or a module."""
    if _MARKUP.search(source.text):  # perhaps JSX, which Node does not read
        return None
    suffix = path.suffix if path else ""
    if suffix == ".mjs" or (suffix != ".cjs" and _MODULE.search(source.text)):
        return _node_as(source, "module", deadline)
    found = _node_as(source, "commonjs", deadline / 2)
    if found and suffix != ".cjs" and _node_as(source, "module", deadline / 2) == ():
        return ()
    return found


def _node_as(source: Source, kind: str, deadline: float) -> tuple[Finding, ...] | None:
    result = run_tool(["node", f"--input-type={kind}", "--check", "-"], stdin=clean(source), deadline=deadline)
    match = _NODE_ERROR.search(result.stderr.decode("utf-8", "replace"))
    found = (_finding(source, match[3], int(match[1]), len(match[2]) + 1, "node"),) if match else ()
    return _judged(result, found)


def _judged(result: ToolResult, found: tuple[Finding, ...]) -> tuple[Finding, ...] | None:
    """A tool that failed without naming a place did not fail on the syntax."""
    if result.status == 0:
        return ()
    return found or None


def _listed(source: Source, output: bytes, tool: str, encoding: Encoding) -> tuple[Finding, ...]:
    matches = _LINE_COLUMN.finditer(output.decode("utf-8", "replace"))
    found = (_finding(source, match[3], int(match[1]), int(match[2]), tool, encoding) for match in matches)
    return tuple(dict.fromkeys(found))


def _finding(source: Source, message: str, line: int, column: int, tool: str, encoding: Encoding = "utf-32") -> Finding:
    """A finding at a place that is counted from 1; it covers the word that stands there."""
    start = source.offset(line - 1, column - 1, encoding)
    word = re.compile(rb"\w+|[^\s\w]|").match(source.data, start)
    end = min(word.end() if word else start, source.line_span(source.line_of(start)).end)
    return Finding(Span(start, max(start, end)), message, source=tool, line=source.line_of(start))


NATIVES: Mapping[str, tuple[Native, ...]] = {
    "python": (Native("ruff", _ruff), Native("ast", _ast, authoritative=False)),
    "go": (Native("gofmt", _gofmt),),
    "rust": (Native("rustfmt", _rustfmt),),
    "javascript": (Native("node", _node),),
}
"""By language id, the best first."""
