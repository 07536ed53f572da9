"""Go: gofmt parses, and runs nothing."""

from __future__ import annotations

import re

from stet_ls.validators.checkers.checker_request import CheckerRequest, CheckerResult, ToolCommand, run_tool_on
from stet_ls.validators.checkers.output_parsing import judged, listed

_PLACE = re.compile(r"^<standard input>:(?P<line>\d+):(?P<column>\d+):\s*(?P<message>.+)$", re.MULTILINE)


def gofmt(request: CheckerRequest) -> CheckerResult:
    """All syntax errors (`-e`), and no formatted text (`-l`)."""
    return run_tool_on(
        request,
        ToolCommand("gofmt", ("-e", "-l")),
        lambda result: judged(
            result, listed(request.source, result.stderr, _PLACE, "gofmt", encoding="utf-8"), "gofmt"
        ),
    )
