"""The loop's plan: what is tested, from which words, where the tests lie, and what runs them. No model is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.placement import Place, find_place
from stet_ls.engine.actions.recipe import Brief
from stet_ls.engine.actions.thorough.dialect import DIALECTS, Dialect
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Request, Selection, Target, TargetKind
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units


@dataclass(frozen=True, slots=True)
class Plan:
    """`request` and `target` are of the specification, which is what the tests' writer sees; `unit` is tested.

    `place` is a file of the tests' own: no test of the user's is touched. `framework` runs them.
    """

    request: Request
    target: Target
    unit: str
    path: Path
    place: Place
    framework: str
    dialect: Dialect

    @property
    def language(self) -> str:
        """Of the code and of its tests."""
        return self.request.language

    def __str__(self) -> str:
        """For whoever watches."""
        return f"`{self.unit}`, by {self.framework}"


def plan_for(job: Job, about: Brief, case: Case, runtime: Runtime | None) -> Plan | str:
    """How the candidate in `case` is tested; words that say why it cannot be. Parses and looks at files."""
    request = job.request
    dialect = DIALECTS.get(request.language)
    if dialect is None:
        return f"that is done for {' and '.join(DIALECTS)} alone so far, and this is {request.language}"
    if runtime is None:
        return "no code may run"
    if request.language == "python" and runtime.python is None:
        return runtime.why_no_python or "there is no Python to run them"
    before, after = case.before.text, case.after.text
    unit = case.unit or dialect.new_unit(before, after)
    text = dialect.specification(before, after, unit) if unit else None
    if text is None:
        return "there is no function or class that could be tested alone"
    path = request.path or dialect.unsaved
    if why := dialect.unloadable(path, after, unit):
        return why
    source = Source(text)
    outermost = unit.partition(".")[0]
    span = next(each.span for each in units(source, request.language) if each.qualified == outermost)
    words = about.instruction.text if about.instruction is not None else ""
    asked = replace(
        request,
        action="test",
        source=source,
        selection=Selection(span),
        path=path,
        instruction=words,
        diagnostics=(),  # their places are in the other text
    )
    framework = "node"
    if runtime.python is not None and request.language == "python":
        framework = "pytest" if runtime.python.has("pytest") else "unittest"
    place = _place(asked, dialect.file.format(stem=path.stem))
    return Plan(asked, Target(TargetKind.UNIT, span, outermost), unit, path, place, framework, dialect)


def _place(request: Request, name: str) -> Place:
    assert request.path is not None
    try:
        folder = find_place(request).path.parent
    except UsageError:
        folder = request.path.parent
    return Place(folder / name, "", exists=False)
