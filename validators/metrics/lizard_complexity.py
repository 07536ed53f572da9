"""Complexity by lizard, for languages without a row of node kinds: Scala, Perl, R, Erlang, Zig and others."""

from __future__ import annotations

from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.checker_request import CheckerRequest, Unavailable
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.checkers.tools.lizard import CountedFunction, count_functions
from stet_ls.validators.metrics.complexity import Complexity
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import Unit


def measure(
    source: Source, language: str, *, path: Path | None = None, deadline: float = 5.0, tools: Toolbox = BUILT_IN
) -> tuple[Complexity, ...] | None:
    """The functions that lizard finds; None if it does not support the language or did not answer in time.

    It counts paths, lines and parameters. Nesting and the cognitive measure are 0: not measured.
    """
    row = languages.language(language)
    if row is None or not _READ.intersection(row.extensions) or not tools.allows("lizard"):
        return None
    counted = count_functions(CheckerRequest(source, language, path, deadline, tools))
    return None if isinstance(counted, Unavailable) else tuple(_complexity(source, each) for each in counted)


def _complexity(source: Source, counted: CountedFunction) -> Complexity:
    first, name = counted.first - 1, counted.name
    start = source.line_span(first).start
    span = Span(start, max(source.line_span(counted.last - 1).end, start))
    unit = Unit(
        "function", name.split("::")[-1], name.replace("::", "."), span, None, source.line_text(first).strip(), ""
    )
    return Complexity(unit, first, counted.last - first, counted.cyclomatic, 0, 0, counted.parameters)


_READ = frozenset({".scala", ".pl", ".r", ".erl", ".zig", ".m", ".sol", ".vue", ".f90", ".gd", ".sql"})
"""The extensions of lizard's readers for languages without a row in `language_table`."""
