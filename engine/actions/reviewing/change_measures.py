"""What tools measure of a change: new lint, complexity, copies, dangerous calls, and coverage that was run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from stet_ls.engine.actions.analysis.coverage_run import run_coverage
from stet_ls.engine.api.request import Request
from stet_ls.engine.execution.linters.language_table import ROWS
from stet_ls.engine.execution.linters.run import lint_in_sandbox
from stet_ls.engine.job.job import Job
from stet_ls.validators import lint
from stet_ls.validators.changed_excerpt import changed_lines, excerpts
from stet_ls.validators.checkers.toolbox import Toolbox
from stet_ls.validators.findings import Finding, new_findings
from stet_ls.validators.metrics import complexity, duplicates, security
from stet_ls.validators.metrics.coverage import Coverage
from stet_ls.validators.source import Source


@dataclass(frozen=True, slots=True)
class ChangeMeasures:
    """Numbers of the text before and after; None, or a sentence, marks what was not measured.

    `changed` are the lines of the text after, from 0. `complexity` is that of the worst function that has one.
    """

    changed: frozenset[int]
    new_lint: tuple[Finding, ...] | None
    complexity: tuple[int, int] | None
    copies: tuple[int, int] | None
    new_hazards: tuple[Finding, ...] | None
    coverage: Coverage | str

    @property
    def reached(self) -> tuple[int, int] | None:
        """How many of the changed statements tests reach, and of how many; None if that was not measured."""
        if isinstance(self.coverage, str):
            return None
        own = [each for each in self.coverage.pieces if each.first in self.changed]
        return (sum(each.hit for each in own), len(own)) if own else None

    def lines(self) -> tuple[str, ...]:
        """The measures in words, a line each."""
        parts = []
        if self.new_lint is not None:
            parts.append(f"new lint findings: {len(self.new_lint)}")
            parts += [f"  line {each.line + 1}: {each.code} {each.message}" for each in self.new_lint[:_MOST_SHOWN]]
        if self.complexity is not None:
            parts.append("highest complexity: {} before, {} after".format(*self.complexity))
        if self.copies is not None:
            parts.append("duplicated places: {} before, {} after".format(*self.copies))
        if self.new_hazards is not None:
            parts.append(f"new dangerous calls: {len(self.new_hazards)}")
            parts += [f"  line {each.line + 1}: {each.message}" for each in self.new_hazards[:_MOST_SHOWN]]
        reached = self.reached
        parts.append(
            str(self.coverage) if reached is None and isinstance(self.coverage, str)
            else "coverage: no changed statement" if reached is None
            else "coverage: tests reach {} of {} changed statements".format(*reached)
        )  # fmt: skip
        return tuple(parts)


_MOST_SHOWN = 5


async def measure_change(job: Job, request: Request, before: Source, after: Source, *, runs: bool) -> ChangeMeasures:
    """The measures of a change of the request's document. With `runs`, its tests run in the sandbox for coverage."""
    covered: Coverage | str = "coverage: not run"
    if runs:
        covered = await run_coverage(job, request, after)
    measured = await asyncio.to_thread(_measured, request, before, after, job.tools, covered)
    return await _linted(measured, job, request, before, after) if runs else measured


async def _linted(
    measured: ChangeMeasures, job: Job, request: Request, before: Source, after: Source
) -> ChangeMeasures:  # fmt: skip
    """With the new findings of a linter that needs the sandbox, if the language has one."""
    if request.language not in ROWS or request.path is None:
        return measured
    runtime = await job.runtime(before.text, after.text)
    found = [
        await lint_in_sandbox(runtime, request.language, request.path, each) if runtime is not None else None
        for each in (before, after)
    ]
    known, new = (each[1] if each is not None else "" for each in found)
    if isinstance(new, str):
        return measured
    fresh = new_findings(known if not isinstance(known, str) else (), new)
    return replace(measured, new_lint=(*(measured.new_lint or ()), *fresh))


def _measured(
    request: Request, before: Source, after: Source, tools: Toolbox, covered: Coverage | str
) -> ChangeMeasures:
    language, path = request.language, request.path
    found = lint.check(after, language, path=path, tools=tools)
    known = lint.check(before, language, path=path, tools=tools) or ()
    risky = _hazards(found, after, language)
    risks = _hazards(known, before, language) or ()
    old, new = excerpts(before, after)
    copies = [len(duplicates.repeated_code(each, language)) for each in (old, new)]
    return ChangeMeasures(
        frozenset(line - 1 for line in changed_lines(before.text.splitlines(), after.text.splitlines())),
        None if found is None else new_findings(known, found),
        _complexity(old, new, language),
        (copies[0], copies[1]),
        None if risky is None else new_findings(risks, risky),
        covered,
    )


def _hazards(found: tuple[Finding, ...] | None, source: Source, language: str) -> tuple[Finding, ...] | None:
    """Dangerous calls by the language's table, else those that its linter reports."""
    listed = security.hazards(source, language)
    if listed is not None or found is None:
        return listed
    return tuple(each for each in found if each.source == "ruff" and each.code.startswith("S"))


def _complexity(old: Source, new: Source, language: str) -> tuple[int, int] | None:
    before, after = (complexity.measure(each, language) for each in (old, new))
    if before is None or not after:
        return None
    was = {each.unit.qualified: each.cyclomatic for each in before}
    differing = [each for each in after if was.get(each.unit.qualified) != each.cyclomatic] or list(after)
    worst = max(differing, key=lambda each: each.cyclomatic)
    return was.get(worst.unit.qualified, 0), worst.cyclomatic
