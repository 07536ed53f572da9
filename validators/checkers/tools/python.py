"""Python: ruff decides, with the project's target version; this interpreter's parser advises if ruff is missing."""

from __future__ import annotations

import re
import sys

from stet_ls.validators.checkers.checker_request import (
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import listed
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.checkers.tools import ruff


def syntax(request: CheckerRequest) -> CheckerResult:
    """What Python's parser and compiler reject."""
    return _ruff(request, ruff.SYNTAX)


def lint(request: CheckerRequest) -> CheckerResult:
    """Style, likely bugs, complexity, undefined names."""
    return _ruff(request, ruff.LINT)


def _ruff(request: CheckerRequest, question: ruff.RuleSelection) -> CheckerResult:
    argv = ruff.command(question, ruff.project_options(request.path))
    if argv is None:
        return Unavailable("ruff is not installed", missing=True)

    def read(result: ToolResult) -> CheckerResult:
        found = ruff.answer(result)
        return (
            Unavailable(f"ruff failed (exit status {result.status})")
            if found is None
            else ruff.findings(request.source, found, question)
        )

    arguments = (*argv[1:], "--stdin-filename", ruff.file_name(request.path), "-")
    return run_tool_on(
        request, ToolCommand("ruff", arguments, program=argv[0], text=ruff.file_text(request.source)), read
    )


# In a child: the parser cannot be stopped, and deeply nested text can crash the process.
_AST = """
import ast, sys
try:
    ast.parse(sys.stdin.buffer.read())
except SyntaxError as error:
    print(error.lineno or 1, max(error.offset or 1, 1), error.msg, sep=":")
except (ValueError, MemoryError, RecursionError) as error:
    print(1, 1, f"cannot be parsed ({type(error).__name__})", sep=":")
"""
_PLACE = re.compile(r"^(?P<line>\d+):(?P<column>\d+):(?P<message>.+)$", re.MULTILINE)


def own_parser(request: CheckerRequest) -> CheckerResult:
    """`ast.parse`. Its version is the server's, not the project's, so it only advises."""

    def read(result: ToolResult) -> CheckerResult:
        if result.status != 0:
            return Unavailable(f"ast failed (exit status {result.status})")
        return listed(request.source, result.stdout, _PLACE, "ast")

    return run_tool_on(request, ToolCommand("ast", ("-I", "-S", "-c", _AST), program=sys.executable), read)
