"""`stet memory learn PATH`: remembers a project's documented functions whose tests pass."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.api.request import Request, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.environment_provisioning import JobResources
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.judges.project_tests.discovery import is_test, touching_tests
from stet_ls.engine.memory.import_solutions import learn
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseOutcome, TestReport, TracedLines
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.server.cli.inputs.load_settings import project_root
from stet_ls.server.cli.terminal.status import print_warning
from stet_ls.validators.project_files import read_text
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

if TYPE_CHECKING:
    from stet_ls.engine.execution.runtime import Runtime
    from stet_ls.engine.memory.memory_client import MemoryClient
    from stet_ls.engine.memory.solution import Solution

_GOOD = frozenset({CaseOutcome.PASSED, CaseOutcome.XFAILED, CaseOutcome.SKIPPED})
_NAMED = 3
_LARGEST = 2_000_000
"""Bytes of a test file."""

OnProgress = Callable[[str, int, int], None]


@dataclass
class LearnResult:
    """The result: documented functions; how many are new, known, not run by any test, or failing."""

    documented: int = 0
    new: int = 0
    known: int = 0
    untested: int = 0
    failing: list[str] = field(default_factory=list)

    def words(self) -> str:
        """The result in one line."""
        first = ", ".join(self.failing[:_NAMED]) + (", …" if len(self.failing) > _NAMED else "")
        failing = f"whose tests do not pass ({first})"
        parts = {"were known": self.known, "that no test runs": self.untested, failing: len(self.failing)}
        more = "".join(f", {count:,} {what}" for what, count in parts.items() if count)
        return f"{self.documented:,} documented functions: {self.new:,} new{more}"


def functions_of(path: Path) -> tuple[Path, list[Solution]]:
    """The project's folder, and the documented functions in `path`."""
    if not path.exists():
        raise UsageError(f"{path} does not exist.")
    path = path.resolve()
    root = project_root(path if path.is_dir() else path.parent).resolve()
    return root, [each for each in learn(path, root) if not is_test(each.path)]


async def take_in_proven(
    memory: MemoryClient, runtimes: RuntimeProvider, root: Path, found: Sequence[Solution], draw: OnProgress
) -> LearnResult:
    """Remembers the functions whose tests pass, file by file: finished files are kept if the rest is cancelled.

    Each test file is run once, in the sandbox. Cancelling ends its processes.
    """
    known = {str(row["id"]) for row in await memory.give_out()}
    learned = LearnResult(len(found), known=sum(each.id in known for each in found))
    files: dict[str, list[Solution]] = {}
    for each in found:
        if each.id not in known:
            files.setdefault(each.path, []).append(each)
    async with AsyncExitStack() as held:
        trial = _Trial(runtimes, root, held)
        for number, (file, solutions) in enumerate(files.items()):
            draw("tests of", number, len(files))
            proven = []
            for solution in solutions:
                evidence = await trial.of(solution)
                learned.untested += evidence is None
                if evidence == "":
                    learned.failing.append(f"{solution.unit} in {solution.path}")
                if evidence:
                    proven.append(replace(solution, evidence=(evidence,)))
            if proven:
                rows = [each.to_json() for each in proven]
                learned.new += await memory.ask("import", solutions=rows)
            draw(file, number + 1, len(files))
    await memory.ask("embed", lambda done, total: draw("vectors", done, total))
    return learned


class _Trial:
    """Runs the test files that refer to a function, each once for a file of code, and keeps the reports."""

    def __init__(self, runtimes: RuntimeProvider, root: Path, held: AsyncExitStack) -> None:
        self._runtimes = runtimes
        self._root = root
        self._helper = JobResources(held, lambda name, detail: nullcontext(), print_warning)
        self._runtime: dict[str, Runtime] = {}
        self._touching: dict[str, tuple[str, ...]] = {}
        self._reports: dict[tuple[str, str], TestReport] = {}

    async def of(self, solution: Solution) -> str | None:
        """The result of its tests as evidence; "" if they do not pass; None if none of them runs it."""
        if solution.path not in self._touching:
            where = self._root / solution.path
            found = await asyncio.to_thread(touching_tests, self._root, where, "", solution.language, {})
            self._touching[solution.path] = found.tests
        name = re.compile(rf"\b{re.escape(solution.unit.rpartition('.')[2])}\b")
        tests = [
            test for test in self._touching[solution.path] if name.search(await asyncio.to_thread(self._text, test))
        ]
        reports = [await self._report(solution, test) for test in tests]
        if not reports:
            return None
        passed = {
            test: [case.id for case in report.cases if case.outcome is CaseOutcome.PASSED]
            for test, report in zip(tests, reports, strict=True)
        }
        if not any(passed.values()) or not all(case.outcome in _GOOD for report in reports for case in report.cases):
            return ""
        if not for_language(solution.language).traces_lines:
            number = sum(map(len, passed.values()))
            return f"tests: {number} pass in {', '.join(tests)}; which of them execute it is unknown"
        body = await asyncio.to_thread(self._body, solution)
        for file, report in zip(tests, reports, strict=True):
            lines = report.traced.get(solution.path, TracedLines())
            passed[file] = [each for each in passed[file] if body & lines.ran.get(each, frozenset())]
        number = sum(map(len, passed.values()))
        files = ", ".join(file for file, ids in passed.items() if ids)
        verbs = ("runs", "passes") if number == 1 else ("run", "pass")
        return f"tests: {number} that {verbs[0]} it {verbs[1]} in {files}" if number else None

    def _body(self, solution: Solution) -> frozenset[int]:
        """The lines of a function's body, from 1."""
        source = Source(self._text(solution.path))
        found = (each for each in units(source, solution.language) if each.qualified == solution.unit and each.body)
        bodies = [
            each.body for each in found if textwrap.dedent(source.slice(each.span)) == solution.code and each.body
        ]
        return frozenset(
            line + 1 for body in bodies for line in range(source.line_of(body.start), source.line_of(body.end) + 1)
        )

    async def _report(self, solution: Solution, test: str) -> TestReport:
        key = (solution.path if for_language(solution.language).traces_lines else "", test)
        if key not in self._reports:
            runtime = await self._runtime_for(solution, self._text(test))
            plan = TestPlan(
                solution.language,
                tests=(test,),
                overlay=Overlay(self._root, {}),
                suite=SuiteOwner.PROJECT,
                environment=runtime.environment(solution.language),
                traced=(key[0],) if key[0] else (),
            )
            self._reports[key] = await run_tests(runtime.sandbox, plan)
            if why := self._reports[key].detail if not self._reports[key].cases else "":
                print_warning(f"{test}: {runtime.why_no_python or why}")
        return self._reports[key]

    async def _runtime_for(self, solution: Solution, text: str) -> Runtime:
        if solution.language not in self._runtime:
            where = self._root / solution.path
            request = Request("generate", solution.language, Source(""), path=where, workspace=Workspace((self._root,)))
            self._runtime[solution.language] = await self._runtimes.runtime(request, self._helper)
        return await self._runtime[solution.language].fit(text)

    def _text(self, test: str) -> str:
        return read_text(self._root / test, most=_LARGEST) or ""
