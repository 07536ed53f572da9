"""The diagnostics in a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stet_ls.engine.api.request import Diagnostic, Request, Target
from stet_ls.engine.prompt.code_view import CodeView
from stet_ls.engine.prompt.context_items import ContextItem, Priority
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source

_LONGEST_MESSAGE = 600

_STYLE = re.compile(
    r"(?:E[1-57]\d\d|W[1-6]\d\d|[CR]\d{4}"  # pycodestyle, pylint
    r"|(?:ANN|C4|C90|COM|D|DOC|EM|ERA|FBT|FIX|FURB|I|ICN|INP|ISC|N|PL[CR])\d+"  # ruff
    r"|(?:PT|PTH|Q|RET|SIM|SLF|T20|TD|TRY|UP)\d+"
    r"|semi|quotes|indent|prettier/prettier|prefer-const|no-trailing-spaces|eol-last|comma-dangle|max-len"  # ESLint
    r"|line-too-long|invalid-name|trailing-whitespace|missing-\w+-docstring)"
)
"""Codes of linters that say how code looks, not what it does."""

_ABOUT_STYLE = re.compile(r"(?i)\b(?:lint|style|pep ?8|format|warning|ruff|flake8|pylint|eslint|prettier)")
"""An instruction with one of these asks about style."""


def problems(request: Request, target: Target, shown: CodeView) -> Iterator[ContextItem]:
    """The diagnostics in the target, or all for an action that answers them: models rarely ignore unrelated ones."""
    source = request.source
    found = [
        problem
        for problem in request.diagnostics
        if request.spec.all_diagnostics
        or (problem.span.overlaps(target.span) and problem.severity is not Severity.HINT)
    ]
    lines = [
        f"- {_where(source, problem, shown)}{problem.severity}: {_message(problem)}"
        for problem in _without_style(request, found)
    ]
    yield ContextItem(Priority.PROBLEM, "the reported problems", "Reported problems:", "\n".join(lines), code=False)


def _without_style(request: Request, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The problems of a fix or a rewriting without those of style, which lead a small model away from its task.

    They stay if the instruction mentions style, or if they are all that a fix is asked for.
    """
    if not (request.spec.fixes or request.spec.preserves_behavior) or _ABOUT_STYLE.search(request.instruction):
        return found
    rest = [problem for problem in found if not _STYLE.fullmatch(problem.code or "")]
    return found if request.spec.fixes and not rest and not request.instruction.strip() else rest


def _where(source: Source, problem: Diagnostic, shown: CodeView) -> str:
    start = min(problem.span.start, len(source.data))
    line = source.line_of(start)
    number = shown.number(line)
    quoted = source.line_text(line).strip()
    place = f"line {number}" if number else "elsewhere"
    return f"{place}, `{quoted[:200]}`: " if quoted else f"{place}: "


def _message(problem: Diagnostic) -> str:
    origin = " ".join(filter(None, (problem.source, problem.code)))
    return " ".join(problem.message.split())[:_LONGEST_MESSAGE] + (f" ({origin})" if origin else "")
