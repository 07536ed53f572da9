"""Tools that a user added: any program that reads a text and writes lines or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
    within_seconds,
)
from stet_ls.validators.checkers.output_parsing import distinct, finding
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.checkers.toolbox import AddedTool, Role
from stet_ls.validators.findings import Finding, Kind, Severity

_LONGEST = 2000  # characters of a line that a pattern searches: a user's expression may backtrack
_WORDS = {"w": Severity.WARNING, "i": Severity.INFORMATION, "n": Severity.INFORMATION, "h": Severity.HINT}


def check(tool: AddedTool, request: CheckerRequest) -> CheckerResult:
    """The findings of a user's checker or linter.

    Without findings, exit status 0 means success and any other status a failure of the tool.
    """
    kind: Kind = "syntax" if tool.role is Role.SYNTAX else "lint"

    def read(result: ToolResult) -> CheckerResult:
        text = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace")
        rows = _matches(tool.pattern, text) if tool.pattern else _objects(result.stdout)
        if rows is None:
            return Unavailable(f"{tool.name} wrote no JSON (exit status {result.status})")
        found = distinct(_finding(tool, request, kind, row) for row in rows)
        if not found and result.status != 0:
            return Unavailable(f"{tool.name} failed without a location (exit status {result.status})")
        return found

    run = ToolCommand(tool.name, tool.argv[1:], program=tool.argv[0])
    return run_tool_on(within_seconds(request, tool.deadline), run, read)


def _matches(pattern: str, text: str) -> Iterator[Mapping[str, Any]]:
    compiled = re.compile(pattern)
    for line in text.splitlines():
        if match := compiled.search(line[:_LONGEST]):
            yield match.groupdict()


def _objects(output: bytes) -> list[Mapping[str, Any]] | None:
    """The objects of a JSON list, or of JSON lines; None if it is neither."""
    if not output.strip():
        return []
    try:
        rows = json.loads(output)
    except (ValueError, RecursionError):
        try:
            rows = [json.loads(line) for line in output.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def _finding(tool: AddedTool, request: CheckerRequest, kind: Kind, row: Mapping[str, Any]) -> Finding:
    word = str(row.get("severity") or "").lower()
    default = Severity.ERROR if kind == "syntax" else Severity.WARNING
    severity = Severity.ERROR if word.startswith(("e", "f")) else _WORDS.get(word[:1], default)
    return finding(
        request.source,
        str(row.get("message") or "no message").strip(),
        _number(row.get("line")),
        _number(row.get("column")),
        tool.name,
        kind=kind,
        severity=severity,
        code=str(row.get("code") or ""),
    )


def _number(value: object) -> int:
    try:
        return min(max(int(str(value)), 1), 10_000_000)
    except ValueError:
        return 1
