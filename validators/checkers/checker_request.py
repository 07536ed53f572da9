"""Runs a tool on a text: the request, how the tool is started, and the possible answers."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from stet_ls.validators import languages
from stet_ls.validators.checkers import programs
from stet_ls.validators.checkers.result_cache import ToolResultCache, key_of
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult, run_tool
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.findings import Finding
from stet_ls.validators.parsing.parse import clean
from stet_ls.validators.source import Source


@dataclass(frozen=True, slots=True)
class CheckerRequest:
    """A text to check within `deadline` seconds. `path` gives its kind and its project; it is not read."""

    source: Source
    language: str
    path: Path | None = None
    deadline: float = 2.0
    tools: Toolbox = BUILT_IN


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why there is no answer. `missing`: the tool is not installed, which is not reported."""

    reason: str
    missing: bool = False


class AdvisoryFindings(tuple[Finding, ...]):
    """Findings of a tool that lacks something to be certain. They do not block."""

    __slots__ = ()


CheckerResult = tuple[Finding, ...] | Unavailable
CheckFunction = Callable[[CheckerRequest], CheckerResult]
"""Findings of a text, or why there are none. Never raises because of the text or the tool."""

FILE = "{file}"
"""In a tool's arguments: the path of a private copy of the text. Without it the text goes to standard input."""


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """How a tool is started. `tool` is its name in the tables, `program` its program if the name differs.

    `files` are written next to the private copy of the text. An answer that also depends on other files is not `pure`,
    and not cached. `memory` is the most that it may allocate, in bytes. `text` is what the tool reads if it is not the
    unchanged text.
    """

    tool: str
    arguments: tuple[str, ...]
    program: str = ""
    files: tuple[tuple[str, bytes], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    pure: bool = True
    memory: int | None = None
    text: bytes | None = None


Answer = TypeVar("Answer")
_ANSWERS = ToolResultCache()


def run_tool_on(
    request: CheckerRequest, run: ToolCommand, read: Callable[[ToolResult], Answer | Unavailable]
) -> Answer | Unavailable:
    """The tool's answer about the text; `read` makes it from the tool's output. Equal requests are cached."""
    program = programs.find(run.program or run.tool, request.tools, name=run.tool, path=request.path)
    if program is None:
        return Unavailable(f"{run.tool} is not installed", missing=True)
    text = clean(request.source) if run.text is None else run.text
    name = safe_name(request.path, request.language)

    def work() -> Answer | Unavailable:
        result = _start(program, run, text, name, request)
        return _failure(result, run.tool, request.deadline) or read(result)

    if not run.pure:
        return work()
    parts = (run.tool, str(program.path), program.stamp, repr((run.arguments, run.files, run.environment)), name, text)
    # `read` may look at the original bytes, which `clean` changes for the tool.
    return _ANSWERS.get(
        key_of(*parts, request.source.data), work, keep=lambda answer: not isinstance(answer, Unavailable)
    )


def _start(
    program: programs.ToolProgram, run: ToolCommand, text: bytes, name: str, request: CheckerRequest
) -> ToolResult:
    private = f"{PRIVATE}/{name}"
    copied = FILE in "".join(run.arguments)
    return run_tool(
        [str(program.path), *(argument.replace(FILE, private) for argument in run.arguments)],
        stdin=b"" if copied else text,
        deadline=request.deadline,
        environment={"PATH": programs.search_path(request.tools, path=request.path), **dict(run.environment)},
        files={**dict(run.files), **({name: text} if copied else {})},
        memory=run.memory,
    )


def _failure(result: ToolResult, tool: str, deadline: float) -> Unavailable | None:
    if result.missing:
        return Unavailable(f"{tool} did not start", missing=True)
    if result.truncated:
        return Unavailable(f"{tool} wrote too much output")
    if result.timed_out:
        return Unavailable(f"no response from {tool} within {deadline:.1f} s")
    if result.status is not None and result.status < 0:
        return Unavailable(f"{tool} was stopped by {_signal(-result.status)}")
    return None


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


def safe_name(path: Path | None, language: str) -> str:
    """The base name of a text for a tool: the file's own, or a plain one if that could be misread."""
    if path is not None and _PLAIN.fullmatch(path.name):
        return path.name
    row = languages.language(language)
    suffix = path.suffix.lower() if path else ""
    known = row.extensions if row else ()
    return "text" + (suffix if suffix in known else next(iter(known), ".txt"))


def within_seconds(request: CheckerRequest, seconds: float) -> CheckerRequest:
    """The same request with at most `seconds` for the answer."""
    return replace(request, deadline=min(request.deadline, seconds))
