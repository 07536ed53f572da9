"""Shell: bash reads the whole script (`-n`) without running it."""

from __future__ import annotations

import re
from functools import partial

from stet_ls.validators.checkers.checker_request import (
    FILE,
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import finding, judged
from stet_ls.validators.checkers.tool_process import ToolResult

_PLACE = re.compile(r": line (\d+): ((?:syntax error|unexpected EOF).*)$", re.MULTILINE)
_OTHER_SHELL = re.compile(r"#!.*\b(?:zsh|ksh|fish|bats)\b")


def bash(request: CheckerRequest) -> CheckerResult:
    """The first syntax error; Unavailable for a script for another shell."""
    if _OTHER_SHELL.match(request.source.text) or (request.path and request.path.suffix not in (".sh", ".bash", "")):
        return Unavailable("written for another shell", missing=True)
    if "\0" in request.source.text:  # bash drops these
        return Unavailable("no text", missing=True)
    # A script that needs extended patterns enables them at run time, and this one does not run.
    arguments = ("--norc", "--noprofile", "-O", "extglob", "-n", FILE)
    return run_tool_on(request, ToolCommand("bash", arguments), partial(_read, request))


def _read(request: CheckerRequest, result: ToolResult) -> CheckerResult:
    """Its messages count, not its exit status, which is 0 after a broken condition."""
    matches = _PLACE.finditer(result.stderr.decode("utf-8", "replace"))
    found = tuple(finding(request.source, match[2], int(match[1]), 1, "bash") for match in matches)
    return found or judged(result, (), "bash")
