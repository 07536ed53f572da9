"""Complexity by lizard, for languages whose trees we have no row for: Scala, Perl, R, Erlang, Zig and others."""

from __future__ import annotations

import json
import sys
from pathlib import PurePath

from stet_ls.validators import languages
from stet_ls.validators.metrics.complexity import Complexity
from stet_ls.validators.process import run_tool
from stet_ls.validators.source import Source, Span
from stet_ls.validators.units import Unit

# In a child of its own: its readers are expressions over the whole text, which nothing can stop from outside.
_CHILD = """
import json, sys
import lizard
found = lizard.analyze_file.analyze_source_code(sys.argv[1], sys.stdin.buffer.read().decode("utf-8", "replace"))
rows = [
    [one.name, one.start_line, one.end_line, one.cyclomatic_complexity, one.parameter_count]
    for one in found.function_list
]
print(json.dumps(rows))
"""


def measure(source: Source, language: str, *, deadline: float = 5.0) -> tuple[Complexity, ...] | None:
    """The functions that lizard finds; None if it does not know the language or gave no answer in time.

    It counts paths, lines and parameters. Nesting and the cognitive measure are 0: not measured.
    """
    row = languages.language(language)
    name = next((f"text{extension}" for extension in row.extensions if _reads(extension)), None) if row else None
    if name is None:
        return None
    result = run_tool([sys.executable, "-I", "-c", _CHILD, name], stdin=source.data, deadline=deadline)
    if result.status != 0:
        return None
    try:
        rows = json.loads(result.stdout)
    except ValueError:
        return None
    return tuple(_complexity(source, *row) for row in rows)


def _complexity(source: Source, name: str, first: int, last: int, cyclomatic: int, parameters: int) -> Complexity:
    span = Span(
        source.line_span(first - 1).start, max(source.line_span(last - 1).end, source.line_span(first - 1).start)
    )
    simple = name.split("::")[-1]
    unit = Unit("function", simple, name.replace("::", "."), span, None, source.line_text(first - 1).strip(), "")
    return Complexity(unit, first - 1, last - first + 1, cyclomatic, 0, 0, parameters)


def _reads(extension: str) -> bool:
    return PurePath(f"text{extension}").suffix in _EXTENSIONS


_EXTENSIONS = frozenset({".scala", ".pl", ".pm", ".r", ".erl", ".zig", ".m", ".sol", ".vue", ".f90", ".gd", ".sql"})
"""Those of lizard's readers for languages without a row in `control`."""
