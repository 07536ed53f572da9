"""Measures the result of a refactoring: metrics of the code before and after, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet_ls.engine.judges.case import Case
from stet_ls.validators.changed_excerpt import excerpts
from stet_ls.validators.metrics import complexity, duplicates
from stet_ls.validators.metrics.complexity import Complexity
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit


@dataclass(frozen=True, slots=True)
class Metric:
    """One number before and after; less is better. `words` has a placeholder for the number."""

    words: str
    before: int
    after: int

    def __str__(self) -> str:
        change = str(self.after) if self.before == self.after else f"{self.before} → {self.after}"
        return self.words.format(change)


_DOCUMENTATION = "documentation {} lines"
_UNDOCUMENTED = Metric(_DOCUMENTATION, 0, 0)


def describe_gain(case: Case, *, asked: bool) -> str:
    """The measures that changed ("complexity 9 → 4"), or that none improved unless more was `asked` for. Parses."""
    measures, documented = measure_metrics(case)
    changed = [each for each in measures if each.before != each.after]
    lost = [str(documented)] if documented.after < documented.before else []
    if any(each.after < each.before for each in changed):
        return ", ".join([*map(str, changed), *lost])
    if asked or not measures:
        return ", ".join(lost)
    return ", ".join([f"no metric improved ({', '.join(map(str, changed or measures[::3]))})", *lost])


def measure_metrics(case: Case) -> tuple[list[Metric], Metric]:
    """The worst function's value or the sum, with new functions; none for a language that is not parsed."""
    texts = excerpts(case.before, case.after)
    before, after = (complexity.measure(source, case.language) for source in texts)
    if before is None or after is None:
        return [], _UNDOCUMENTED
    known = {each.unit.qualified for each in before}
    old = [each for each in before if _of(each, case.unit)]
    new = [each for each in after if _of(each, case.unit) or each.unit.qualified not in known]
    if not old or not new:
        return [], _UNDOCUMENTED
    lines = Metric("{} lines", _lines(old, texts[0]), _lines(new, texts[1]))
    documentation = Metric(_DOCUMENTATION, *(sum(map(_documented, functions)) for functions in (old, new)))
    duplicated = Metric("{} duplicated places", *(len(duplicates.repeated_code(each, case.language)) for each in texts))
    copies = [duplicated] if duplicated.before or duplicated.after else []
    return [*_worst(old, new), lines, *copies], documentation


def _of(each: Complexity, unit: str) -> bool:
    return not unit or each.unit.qualified == unit or each.unit.qualified.startswith(f"{unit}.")


def _worst(old: Sequence[Complexity], new: Sequence[Complexity]) -> Iterator[Metric]:
    for words, name in (("complexity {}", "cyclomatic"), ("cognitive {}", "cognitive"), ("nesting {}", "nesting")):
        yield Metric(words, *(max(getattr(each, name) for each in functions) for functions in (old, new)))


def _lines(functions: Sequence[Complexity], source: Source) -> int:
    return sum(each.length - _docstring(each.unit, source) for each in functions)


def _docstring(unit: Unit, source: Source) -> int:
    """The lines of documentation inside a unit."""
    if unit.doc_span is None or unit.body is None or not unit.body.contains(unit.doc_span):
        return 0
    return source.line_of(unit.doc_span.end) - source.line_of(unit.doc_span.start) + 1


def _documented(each: Complexity) -> int:
    return sum(bool(line.strip()) for line in each.unit.doc.splitlines())
