"""The input of every judge: one document before and after a candidate."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from stet_ls.engine.api.actions import ActionSpec, spec_of
from stet_ls.engine.api.evidence import Check, Evidence
from stet_ls.engine.api.request import Buffer
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.language_table import for_language
from stet_ls.validators import lint, syntax
from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.findings import Finding, Status, SyntaxResult
from stet_ls.validators.source import Source

LARGEST_RUN = 500_000
"""Bytes of a file above which its functions are not called: the analysis takes longer than a job may."""


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate for one document: what every judge gets."""

    action: str
    """Name of the action that made it, a row of `ACTIONS`."""
    language: str
    """LSP language id."""
    path: Path | None
    """The document's file; None if it was never saved."""
    before: Source
    """The user's current document."""
    after: Source
    """The document with the candidate in place."""
    unit: str = ""
    """Qualified name of the target, "" if it has none."""
    tools: Toolbox = BUILT_IN
    """The linters, compilers and type checkers that may judge."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """The values that were hidden from the model."""
    runtime: Runtime | None = field(default=None, repr=False)
    """What code runs with; None if no code may run."""
    user_examples: str = ""
    """Docstring-style examples that the user gave with the instruction, "" without any."""
    instructed: bool = False
    """Whether the user said what to change."""
    buffers: tuple[Buffer, ...] = field(default=(), repr=False)
    """The workspace's unsaved documents."""
    instruction: str = ""
    """The user's words."""
    planned: bool = False
    """Whether those words describe a whole task, so that their "this" is not `unit`."""
    changeable_units: frozenset[str] | None = None
    """Names of the units that may change where an edit otherwise only adds code; None if it may change anything."""
    parts: tuple[range, range] | None = None
    """The lines of `before` and of `after` that are compared; None for the whole unit."""
    former: Mapping[Path, str] = field(default_factory=dict, repr=False)
    """Other files as they were before a change of several files, by path."""
    suggested: str = field(default="", repr=False)
    """A model's reply with example calls, "" without one: text that nothing may trust."""

    @property
    def spec(self) -> ActionSpec:
        """The row of its action."""
        return spec_of(self.action)

    @property
    def is_too_large_to_run(self) -> bool:
        """Whether judges that call single functions skip this file."""
        return max(len(self.before.data), len(self.after.data)) > LARGEST_RUN


TOO_LARGE = f"the file is larger than {LARGEST_RUN // 1000} KB"

Judge = Callable[[Case], Awaitable[Evidence]]


@dataclass(frozen=True, slots=True)
class NamedJudge:
    """A judge, and the check that its evidence belongs to."""

    check: Check
    judge: Judge


async def timed(named: NamedJudge, case: Case) -> Evidence:
    """The judge's evidence with the seconds it took."""
    started = time.perf_counter()
    evidence = await named.judge(case)
    return replace(evidence, seconds=time.perf_counter() - started)


# Several judges ask for the same verdict, and the baseline's stays the same through all repairs of a job: the tools'
# results for a text are cached where the tools are started.


def syntax_result(source: Source, language: str, path: Path | None, tools: Toolbox = BUILT_IN) -> SyntaxResult:
    """What the parsers say of a text."""
    return syntax.check(source, language, path=path, tools=tools)


def is_broken(case: Case) -> bool:
    """Whether the text after the change fails the language's own parser: linters report nothing then."""
    after = syntax_result(case.after, case.language, case.path, case.tools)
    return after.authoritative and after.status is Status.ERROR


def lint_findings(
    source: Source, language: str, path: Path | None, tools: Toolbox = BUILT_IN
) -> tuple[Finding, ...] | None:
    """The linter's findings in a text; None if no linter is available."""
    return lint.check(source, language, path=path, tools=tools)


def undefined_names(case: Case, source: Source) -> tuple[Finding, ...] | None:
    """The undefined names in a text of the case; None if unknown."""
    if find := for_language(case.language).undefined_names:
        return find(source, case.path, {each.path: each.text for each in case.buffers})
    return lint.undefined_names(source, case.language, path=case.path, tools=case.tools)
