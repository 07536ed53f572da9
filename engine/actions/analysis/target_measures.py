"""All measurements of a target by tools, gathered step by step, without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.analysis.coverage_run import run_coverage
from stet_ls.engine.api.request import Request, Target
from stet_ls.engine.execution.linters.language_table import ROWS
from stet_ls.engine.execution.linters.run import lint_in_sandbox
from stet_ls.engine.job.job import Job
from stet_ls.engine.workspace.git import git, repository
from stet_ls.engine.workspace.neighbors import neighbors
from stet_ls.engine.workspace.visible_files import folders_up
from stet_ls.validators import lint, structure, syntax
from stet_ls.validators.changed_excerpt import changed_lines
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import Finding, Related, Severity, Status, SyntaxResult
from stet_ls.validators.languages import language
from stet_ls.validators.metrics import (
    complexity,
    coverage,
    dead_code,
    duplicates,
    lizard_complexity,
    pep8,
    security,
    style,
)
from stet_ls.validators.metrics.language_table import language_row
from stet_ls.validators.source import Span

LIMITS: tuple[tuple[str, int, str], ...] = (
    ("cognitive", 15, "is hard to follow: cognitive complexity {} (limit {})"),  # SonarSource S3776
    ("nesting", 4, "nests {} levels deep (limit {})"),  # ESLint max-depth
    ("parameters", 7, "takes {} parameters (limit {})"),  # SonarSource S107
    ("length", 100, "is {} lines long (limit {})"),  # pylint's 50 statements, SonarSource S138: 100 lines
)
"""Limits above which a function gets a hint. The linters report its paths (more than 10)."""
COMPLEX = 10
"""The number of paths above which a function counts as complex: McCabe's limit, and ruff's."""


@dataclass(frozen=True, slots=True)
class TargetMeasures:
    """The measurements of one target. None, or a sentence, marks what was not measured."""

    syntax: SyntaxResult
    lint: tuple[Finding, ...] | None = None
    pep8: pep8.Pep8 | None = None
    style: style.Style | None = None
    functions: tuple[complexity.Complexity, ...] | None = None
    counted_by: str = ""
    copies: tuple[duplicates.DuplicateCode, ...] = ()
    dead: tuple[Finding, ...] | None = None
    security: tuple[Finding, ...] | None = None
    coverage: coverage.Coverage | str = ""
    changed: frozenset[int] = frozenset()
    """Lines, from 0, that differ from the last commit."""
    sandbox_lint: tuple[str, tuple[Finding, ...] | str] | None = None
    """The linter that ran in the sandbox, with its findings or why it has none."""
    findings: tuple[Finding, ...] = ()


async def measure(job: Job, target: Target) -> TargetMeasures:
    """The measures of the target's lines. Can be cancelled between any two steps; no step blocks for long."""
    measures = TargetMeasures(SyntaxResult(Status.UNKNOWN, job.request.language))
    tools = job.tools
    for step in (_check, _count, _style, _hazards, _copies, _unused, _covered):
        measures = await asyncio.to_thread(step, measures, job.request, target, tools)
    measures = await _linted(measures, job, target)
    if job.settings.checks.coverage:
        measures = replace(
            measures,
            coverage=await run_coverage(job, job.request, job.request.source),
            changed=await asyncio.to_thread(_since_head, job.request),
        )
    return replace(measures, findings=tuple(_ordered(measures, job.request, target)))


async def _linted(measures: TargetMeasures, job: Job, target: Target) -> TargetMeasures:
    """Adds the findings of a linter that needs the sandbox, if the language has one and the budget runs code."""
    request = job.request
    if request.language not in ROWS or request.path is None or measures.syntax.status is Status.ERROR:
        return measures
    runtime = await job.runtime(request.source.text)
    if runtime is None:
        return measures
    sandbox_lint = await lint_in_sandbox(runtime, request.language, request.path, request.source)
    if sandbox_lint is None or isinstance(sandbox_lint[1], str):
        return replace(measures, sandbox_lint=sandbox_lint)
    return replace(measures, sandbox_lint=sandbox_lint, lint=(*(measures.lint or ()), *sandbox_lint[1]))


def _check(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    result = syntax.check(request.source, request.language, path=request.path, deadline=5.0, tools=tools)
    found = lint.check(request.source, request.language, path=request.path, tools=tools)
    return replace(measures, syntax=result, lint=found)


def _count(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    counted, by = complexity.measure(request.source, request.language), "our count on the syntax tree"
    if (row := language_row(request.language)) and row.control.as_ruff:
        by += ", paths as ruff's C901"
    if counted is None:
        counted = lizard_complexity.measure(request.source, request.language, path=request.path, tools=tools)
        by = "lizard"
    return replace(
        measures, functions=complexity.functions_in(counted, target.span) if counted else counted, counted_by=by
    )


def _style(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    row = language_row(request.language)
    if row is not None and row.style_guide is not None:
        if not tools.allows("ruff"):
            return measures
        review = row.style_guide(request.source, target.span, path=request.path)
        return replace(measures, pep8=review, style=review.style if review else None)
    if measures.syntax.status is Status.ERROR:
        return measures
    measured = style.tool_style(request.source, request.language, target.span, path=request.path, tools=tools)
    return replace(measures, style=measured)


def _hazards(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    if measures.pep8 is not None:
        return replace(measures, security=measures.pep8.security)
    return replace(measures, security=_own(security.hazards(request.source, request.language), measures, target))


def _copies(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    imports = structure.imports(request.source, request.language)
    inside = duplicates.repeated_code(request.source, request.language, without=imports)
    outside = duplicates.shared_code(request.source, request.language, neighbors(request), without=imports)
    copies = tuple(copy for copy in (*inside, *outside) if copy.span.overlaps(target.span))
    return replace(measures, copies=copies)


def _unused(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    if language(request.language) is None or measures.functions is None:
        return measures
    elsewhere = (data for _, data in neighbors(request))
    hints = dead_code.dead_code(request.source, request.language, elsewhere=elsewhere)
    return replace(measures, dead=_own(hints, measures, target))


def _own(hints: tuple[Finding, ...] | None, measures: TargetMeasures, target: Target) -> tuple[Finding, ...] | None:
    """Stet's own hints for the target's lines, except where a linter already reported something."""
    if hints is None:
        return None
    others = [finding for finding in measures.lint or () if finding.source != "lizard"]
    return tuple(
        hint
        for hint in hints
        if target.span.overlaps(hint.span)
        and not any(finding.line == hint.line and finding.span.overlaps(hint.span) for finding in others)
    )


def _covered(measures: TargetMeasures, request: Request, target: Target, tools: Toolbox) -> TargetMeasures:
    if request.path is None:
        return replace(measures, coverage="Coverage: the document was never saved.")
    return replace(measures, coverage=coverage.find_coverage(request.source, request.path, folders_up(request)))


def _since_head(request: Request) -> frozenset[int]:
    before = _head_text(request.path) if request.path is not None else None
    if before is None:
        return frozenset()
    return frozenset(line - 1 for line in changed_lines(before.splitlines(), request.source.text.splitlines()))


def _ordered(measures: TargetMeasures, request: Request, target: Target) -> Iterator[Finding]:
    """All findings in the target, each once, in the order of the text."""
    found = [
        *measures.syntax.findings,
        *(measures.lint or ()),
        *(measures.security or ()),
        *(measures.dead or ()),
        *_beyond(measures),
        *_repeated(measures, request),
        *_unreached(measures, request, target),
    ]
    inside = dict.fromkeys(finding for finding in found if target.span.overlaps(finding.span))
    yield from sorted(inside, key=lambda finding: (finding.span, finding.source, finding.code))


def _beyond(measures: TargetMeasures) -> Iterator[Finding]:
    for function in measures.functions or ():
        start, body = function.unit.span.start, function.unit.body
        head = Span(start, max(start, body.start if body else start))
        for name, limit, words in LIMITS:
            if (value := getattr(function, name)) > limit:
                yield _hint(head, f"`{function.unit.name}` {words.format(value, limit)}", name, function.line)


def _repeated(measures: TargetMeasures, request: Request) -> Iterator[Finding]:
    for copy in measures.copies:
        lines = request.source.line_of(copy.span.end) - request.source.line_of(copy.span.start) + 1
        where = f"line {copy.line + 1}" + (f" of {copy.path.name}" if copy.path else "")
        place = request.source.line_span(copy.line)
        related = () if copy.path else (Related(place, "the same code"),)
        message = f"the same {lines} lines are in {where}"
        yield _hint(copy.span, message, "duplicate", request.source.line_of(copy.span.start), related)


def _unreached(measures: TargetMeasures, request: Request, target: Target) -> Iterator[Finding]:
    """What no test reaches, if that was run: of the changed lines, or of all lines of a selected part."""
    found, source = measures.coverage, request.source
    if isinstance(found, str) or not found.has_run:
        return
    lines = style.lines_of(source, target.span)
    selected = request.selection is not None
    wanted = frozenset(lines) if selected else measures.changed & frozenset(lines)
    whose = "selected" if selected else "changed"
    for run in found.missed(lines):
        own = [line for line in run if line in wanted]
        if own:
            span = Span(source.line_span(own[0]).start, source.line_span(own[-1]).end)
            words = f"line {own[0] + 1}" if len(own) == 1 else f"lines {own[0] + 1}-{own[-1] + 1}"
            yield _hint(span, f"no test reaches the {whose} {words}", "uncovered", own[0])


def _hint(span: Span, message: str, code: str, line: int, related: tuple[Related, ...] = ()) -> Finding:
    return Finding(
        span, message, kind="lint", severity=Severity.HINT, source="stet", code=code, line=line, related=related
    )


def _head_text(path: Path) -> str | None:
    """The file's text in `HEAD`, "" if it is not in it; None outside of a repository. Runs git."""
    path = path.resolve()
    if repository(path.parent) is None:
        return None
    read = git(path.parent, "cat-file", "blob", f"HEAD:./{path.name}")
    return read.stdout.decode("utf-8", "replace") if read.status == 0 else ""
