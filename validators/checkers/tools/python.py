"""Python: ruff decides, with the project's target version; the parser of this interpreter advises where ruff is not."""

from __future__ import annotations

import re
import sys

from stet_ls.validators.checkers.check_request import Answered, Asked, Run, Unable, ask
from stet_ls.validators.checkers.output_parsing import listed
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.checkers.tools import ruff


def syntax(asked: Asked) -> Answered:
    """What Python's parser and compiler refuse."""
    return _ruff(asked, ruff.SYNTAX)


def lint(asked: Asked) -> Answered:
    """Style, likely bugs, complexity, undefined names."""
    return _ruff(asked, ruff.LINT)


def _ruff(asked: Asked, question: ruff.Question) -> Answered:
    argv = ruff.command(question, ruff.project_options(asked.path))
    if argv is None:
        return Unable("ruff is not installed", missing=True)

    def read(result: ToolResult) -> Answered:
        found = ruff.answer(result)
        return (
            Unable(f"ruff failed (exit status {result.status})")
            if found is None
            else ruff.findings(asked.source, found, question)
        )

    arguments = (*argv[1:], "--stdin-filename", ruff.file_name(asked.path), "-")
    return ask(asked, Run("ruff", arguments, program=argv[0], text=ruff.file_text(asked.source)), read)


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
_PLACE = re.compile(r"^(?P<line>\d+):(?P<column>\d+):(?P<message>.+)$", re.MULTILINE)


def own_parser(asked: Asked) -> Answered:
    """`ast.parse`. Its version is this server's and not the project's, so it only advises."""

    def read(result: ToolResult) -> Answered:
        if result.status != 0:
            return Unable(f"ast failed (exit status {result.status})")
        return listed(asked.source, result.stdout, _PLACE, "ast")

    return ask(asked, Run("ast", ("-I", "-S", "-c", _AST), program=sys.executable), read)
