"""Complexity of functions, counted by lizard, in the languages that have no linter here.

In a child: its readers are regular expressions, and no text may block the server past its deadline.
"""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
    safe_name,
)
from stet_ls.validators.checkers.output_parsing import distinct, finding
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.findings import Severity

LIMIT = 10
"""The complexity from which ruff reports a Python function; the same for all."""

_COUNT = """
import json, sys
import lizard
text = sys.stdin.buffer.read().decode("utf-8", "replace")
print(json.dumps([
    [one.name, one.start_line, one.end_line, one.cyclomatic_complexity, one.parameter_count]
    for one in lizard.analyze_file.analyze_source_code(sys.argv[1], text).function_list
]))
"""


class CountedFunction(NamedTuple):
    """A function found by lizard: its name, its first and last line from 1, its paths and its parameters."""

    name: str
    first: int
    last: int
    cyclomatic: int
    parameters: int


def lizard(request: CheckerRequest) -> CheckerResult:
    """A warning for each function that is more complex than `LIMIT`."""
    counted = count_functions(request)
    if isinstance(counted, Unavailable):
        return counted
    return distinct(
        finding(
            request.source, f"`{each.name}` is too complex ({each.cyclomatic} > {LIMIT})", each.first, 1, "lizard",
            kind="lint", severity=Severity.WARNING, code="complexity",
        )
        for each in counted
        if each.cyclomatic > LIMIT
    )  # fmt: skip


def count_functions(request: CheckerRequest) -> tuple[CountedFunction, ...] | Unavailable:
    """The functions of a text as lizard counts them."""

    def read(result: ToolResult) -> tuple[CountedFunction, ...] | Unavailable:
        try:
            return tuple(CountedFunction(*row) for row in json.loads(result.stdout))
        except (ValueError, TypeError):
            return Unavailable(f"lizard failed (exit status {result.status})")

    name = safe_name(request.path, request.language)
    return run_tool_on(request, ToolCommand("lizard", ("-I", "-c", _COUNT, name), program=sys.executable), read)
