"""JavaScript, TypeScript, JSON and CSS by biome if installed: its recommended rules, no project settings."""

from __future__ import annotations

import json

from stet_ls.validators.checkers.checker_request import (
    FILE,
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import distinct, spanned
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Span

_SEVERITIES = {"error": Severity.ERROR, "fatal": Severity.ERROR, "warning": Severity.WARNING}
_RUN = ToolCommand(
    "biome",
    ("lint", "--reporter=json", "--max-diagnostics=200", "--colors=off", f"--config-path={PRIVATE}", FILE),
    files=(("biome.json", b"{}"),),
)


def lint(request: CheckerRequest) -> CheckerResult:
    """The findings of the recommended rules. Errors of syntax are left to the syntax check."""

    def read(result: ToolResult) -> CheckerResult:
        try:
            answer = json.loads(result.stdout)
            return distinct(
                spanned(
                    request.source,
                    item["description"],
                    Span(*(item["location"].get("span") or (0, 0))),
                    "biome",
                    kind="lint",
                    severity=_SEVERITIES.get(item["severity"], Severity.INFORMATION),
                    code=item["category"],
                )
                for item in answer["diagnostics"]
                if item["category"].startswith("lint/")
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return Unavailable(f"biome failed (exit status {result.status})")

    return run_tool_on(request, _RUN, read)
