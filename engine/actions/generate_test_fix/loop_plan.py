"""The loop's plan: the tested unit, its specification, the path of the tests and their runner. Calls no model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.actions.action import JobPrompt
from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES, LoopLanguage
from stet_ls.engine.actions.generate_test_fix.tested_code import CodeUnderTest
from stet_ls.engine.actions.generated_tests.location import SuiteFile, find_suite_file
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan, suite_plan
from stet_ls.engine.api.request import Request, Selection, Target, TargetKind
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.runners.report_channel import new_nonce
from stet_ls.engine.runners.run_tests import choose
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """The plan of one loop.

    `request` and `target` hold the specification, which is all that the writer of the tests sees.
    `about` is the tested code. `place` is a separate file for the tests: the user's tests are not changed.
    `framework` runs them. `before` is the user's document.
    """

    request: Request
    target: Target
    about: CodeUnderTest
    place: SuiteFile
    framework: str
    loop_language: LoopLanguage
    before: str

    @property
    def language(self) -> str:
        """The language of the code and of its tests."""
        return self.request.language

    @property
    def unit(self) -> str:
        """The tested unit."""
        return self.about.unit

    def way(self, runtime: Runtime, text: str) -> SuitePlan:
        """The plan to run the tests on a text of the code."""
        return _way(runtime, self.language, self.about, text, self.place)

    def __str__(self) -> str:
        """For display."""
        return f"`{self.unit}`, by {self.framework}"


def plan_for(job: Job, about: JobPrompt, case: Case, runtime: Runtime | None) -> LoopPlan | str:
    """The plan to test the candidate in `case`, or the reason why it cannot be tested. Parses and looks at files."""
    request = job.request
    loop_language = LOOP_LANGUAGES.get(request.language)
    if loop_language is None:
        *others, last = LOOP_LANGUAGES
        return f"that is supported for {', '.join(others)} and {last} only, and this is {request.language}"
    if runtime is None:
        return "code may not run"
    if runtime.lacks_interpreter(request.language):
        return runtime.why_no_python or "no Python to run them; set `sandbox.python`"
    before, after = case.before.text, case.after.text
    unit = case.unit or loop_language.new_unit(before, after)
    try:
        text = loop_language.specification(before, after, unit) if unit else None
    except RecursionError:
        return "its code is nested too deeply"
    if text is None:
        return "no function or class can be tested alone"
    path = request.path or Path(loop_language.unsaved.format(unit=unit.partition(".")[0]))
    tested = CodeUnderTest(path, after, unit, runtime.root_of(path))
    tested = replace(tested, root=loop_language.root(tested))
    if why := loop_language.why_untestable(tested):
        return why
    source = Source(text)
    spans = [each.span for each in units(source, request.language) if each.qualified == tested.outermost]
    if not spans:
        return f"`{tested.outermost}` cannot be separated from its surroundings to hide its body"
    words = about.instruction.text if about.instruction is not None else ""
    asked = replace(
        request,
        action="test",
        source=source,
        selection=Selection(spans[0]),
        path=path,
        instruction=words,
        diagnostics=(),  # their ranges refer to the other text
    )
    place = _place(asked, loop_language, tested)
    framework = loop_language.framework
    if (python := runtime.environment(request.language)) is not None:
        framework = "pytest" if python.has("pytest") else "unittest"
    wanted = replace(_way(runtime, request.language, tested, after, place).plan, framework=framework)
    runner = choose(wanted)
    try:
        runner.prepare(wanted, new_nonce())
    except MissingToolError as missing:
        return f"{missing} is not installed ({missing.install})"
    target = Target(TargetKind.UNIT, spans[0], tested.outermost)
    return LoopPlan(asked, target, tested, place, runner.name, loop_language, before)


def _way(runtime: Runtime, language: str, about: CodeUnderTest, text: str, place: SuiteFile) -> SuitePlan:
    roots = (about.root,) if about.root is not None else ()
    seen = replace(runtime, workspace=replace(runtime.workspace, roots=roots))
    return suite_plan(seen, language, about.path, text, place.path)


def _place(request: Request, loop_language: LoopLanguage, about: CodeUnderTest) -> SuiteFile:
    name = loop_language.file.format(stem=about.path.stem)
    if loop_language.folder is not None:
        return SuiteFile(loop_language.folder(about) / name, "", exists=False)
    try:
        folder = find_suite_file(request).path.parent
    except UsageError:
        folder = about.path.parent
    return SuiteFile(folder / name, "", exists=False)
