"""JavaScript by Node alone: V8's parser, started without running the text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import finding, judged
from stet_ls.validators.checkers.tool_process import ToolResult

_ERROR = re.compile(r"^\[stdin\]:(\d+)\n.*\n([ \t]*)\^*[ \t]*\n+SyntaxError: (.+)$", re.MULTILINE)
_MODULE = re.compile(r"^[ \t]*(?:import\s*[\w{*\"']|export\s)", re.MULTILINE)
_MARKUP = re.compile(r"<[A-Za-z][\w.]*(?:\s[^<>]*)?/?>|<>")


def check(request: CheckerRequest) -> CheckerResult:
    """V8's result. A file whose name and imports do not decide it may be a script or a module."""
    if _MARKUP.search(request.source.text):
        return Unavailable("perhaps JSX, which Node does not read")
    suffix = request.path.suffix if request.path else ""
    if suffix == ".mjs" or (suffix != ".cjs" and _MODULE.search(request.source.text)):
        return _as(request, "module")
    half = replace(request, deadline=request.deadline / 2)
    found = _as(half, "commonjs")
    if found and not isinstance(found, Unavailable) and suffix != ".cjs" and _as(half, "module") == ():
        return ()
    return found


def _as(request: CheckerRequest, kind: Literal["module", "commonjs"]) -> CheckerResult:
    def read(result: ToolResult) -> CheckerResult:
        match = _ERROR.search(result.stderr.decode("utf-8", "replace"))
        found = (finding(request.source, match[3], int(match[1]), len(match[2]) + 1, "node"),) if match else ()
        return judged(result, found, "node")

    return run_tool_on(request, ToolCommand("node", (f"--input-type={kind}", "--check", "-")), read)
