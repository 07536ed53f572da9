"""Complexity by lizard, for languages whose trees we have no row for: Scala, Perl, R, Erlang, Zig and others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.check_request import CheckRequest, ToolCommand, Unavailable, run_tool_on, safe_name
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.metrics.complexity import Complexity
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import Unit

# In a child of its own: its readers are expressions over the whole text, which nothing can stop from outside.
_CHILD = """
import json, sys
import lizard
text = sys.stdin.buffer.read().decode("utf-8", "replace")
print(json.dumps([
    [one.name, one.start_line, one.end_line, one.cyclomatic_complexity, one.parameter_count]
    for one in lizard.analyze_file.analyze_source_code(sys.argv[1], text).function_list
]))
"""


def measure(
    source: Source, language: str, *, path: Path | None = None, deadline: float = 5.0, tools: Toolbox = BUILT_IN
) -> tuple[Complexity, ...] | None:
    """The functions that lizard finds; None if it does not know the language or gave no answer in time.

    It counts paths, lines and parameters. Nesting and the cognitive measure are 0: not measured.
    """
    row = languages.language(language)
    if row is None or not _READ.intersection(row.extensions) or not tools.allows("lizard"):
        return None
    name = safe_name(path, language)

    def read(result: ToolResult) -> tuple[Complexity, ...] | Unavailable:
        try:
            return tuple(_complexity(source, *row) for row in json.loads(result.stdout))
        except (ValueError, TypeError):
            return Unavailable(f"lizard failed (exit status {result.status})")

    run = ToolCommand("lizard", ("-I", "-c", _CHILD, name), program=sys.executable)
    measured = run_tool_on(CheckRequest(source, language, path, deadline, tools), run, read)
    return None if isinstance(measured, Unavailable) else measured


def _complexity(source: Source, name: str, first: int, last: int, cyclomatic: int, parameters: int) -> Complexity:
    start = source.line_span(first - 1).start
    span = Span(start, max(source.line_span(last - 1).end, start))
    head = source.line_text(first - 1).strip()
    unit = Unit("function", name.split("::")[-1], name.replace("::", "."), span, None, head, "")
    return Complexity(unit, first - 1, last - first + 1, cyclomatic, 0, 0, parameters)


_READ = frozenset({".scala", ".pl", ".r", ".erl", ".zig", ".m", ".sol", ".vue", ".f90", ".gd", ".sql"})
"""The extensions of lizard's readers for languages without a row in `control`."""
