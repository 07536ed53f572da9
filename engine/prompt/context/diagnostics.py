"""The diagnostics in a prompt."""

from __future__ import annotations

from collections.abc import Iterator

from stet_ls.engine.api.request import Diagnostic, Request, Target
from stet_ls.engine.prompt.code_view import View
from stet_ls.engine.prompt.context_items import ContextItem, Priority
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source

_LONGEST_MESSAGE = 600


def problems(request: Request, target: Target, shown: View) -> Iterator[ContextItem]:
    """The diagnostics in the target, or all for an action that answers them: models rarely ignore unrelated ones."""
    source = request.source
    lines = [
        f"- {_where(source, problem, shown)}{problem.severity}: {_message(problem)}"
        for problem in request.diagnostics
        if request.spec.all_diagnostics
        or (problem.span.overlaps(target.span) and problem.severity is not Severity.HINT)
    ]
    yield ContextItem(Priority.PROBLEM, "the reported problems", "Reported problems:", "\n".join(lines), code=False)


def _where(source: Source, problem: Diagnostic, shown: View) -> str:
    start = min(problem.span.start, len(source.data))
    line = source.line_of(start)
    number = shown.number(line)
    quoted = source.line_text(line).strip()
    place = f"line {number}" if number else "elsewhere"
    return f"{place}, `{quoted[:200]}`: " if quoted else f"{place}: "


def _message(problem: Diagnostic) -> str:
    origin = " ".join(filter(None, (problem.source, problem.code)))
    return " ".join(problem.message.split())[:_LONGEST_MESSAGE] + (f" ({origin})" if origin else "")
