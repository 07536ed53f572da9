"""Complexity of functions in the languages that have no linter of their own here, counted by lizard.

In a child: its readers are regular expressions, and no text may hold the server for longer than its deadline.
"""

from __future__ import annotations

import json
import sys

from stet_ls.validators.checkers.check_request import (
    CheckRequest,
    CheckResult,
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
found = lizard.analyze_file.analyze_source_code(sys.argv[1], text).function_list
print(json.dumps([[f.start_line, f.name, f.cyclomatic_complexity] for f in found]))
"""


def lizard(asked: CheckRequest) -> CheckResult:
    """A warning for each function that is more complex than `LIMIT`."""

    def read(result: ToolResult) -> CheckResult:
        try:
            rows = json.loads(result.stdout)
            return distinct(
                finding(
                    asked.source, f"`{name}` is too complex ({complexity} > {LIMIT})", line, 1, "lizard",
                    kind="lint", severity=Severity.WARNING, code="complexity",
                )
                for line, name, complexity in rows
                if complexity > LIMIT
            )  # fmt: skip
        except (ValueError, TypeError):
            return Unavailable(f"lizard failed (exit status {result.status})")

    name = safe_name(asked.path, asked.language)
    return run_tool_on(asked, ToolCommand("lizard", ("-I", "-c", _COUNT, name), program=sys.executable), read)
