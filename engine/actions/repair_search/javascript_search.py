"""Searches small edits of a JavaScript or TypeScript target that make what failed pass, in one run of the sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions.repair_search.framework_tests import FrameworkTests, framework_tests
from stet_ls.engine.actions.repair_search.javascript_candidates import (
    Candidate,
    ScriptFunction,
    candidates,
    expression,
    functions_within,
    has_markup,
    imported_names,
    loops,
    rows,
    with_switches,
)
from stet_ls.engine.actions.repair_search.search import MOST_EDITS, MOST_GOOD, MOST_LINES, Repairs, read_repairs
from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.javascript.documented_runs import examples_for
from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import DocumentedCall
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.engine.execution.javascript.module_location import locate_script, with_exposed_names
from stet_ls.engine.execution.javascript.strip_types import without_types
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import TestsBefore
from stet_ls.engine.runners import toolchain
from stet_ls.engine.runners.languages.node import NODE, esbuild
from stet_ls.engine.runners.toolchain import BoxProgram, MissingToolError
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec
from stet_ls.validators.source import Source, Span

_INSIDE = {each.name: each.read_bytes() for each in sorted((Path(__file__).parent / "node").glob("*.?js"))}
_LIMITS = Limits(seconds=20.0, processes=128)
_MOST_SLOTS, _MOST_RUNNERS = 4, 2
_STARTING, _RESERVED = 30.0, 8.0
"""Seconds that the starts of a test runner take at most, and what is left for them of a job's time."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a search runs: the job, the candidates in its order, and the units that they change."""

    nonce: str
    spec: RunSpec
    candidates: list[Candidate]
    functions: list[ScriptFunction]


async def search_script(
    case: Case, span: Span, tests: TestsBefore | None, seconds: float, everywhere: bool = False
) -> Repairs:
    """The edits of the functions within `span` with which the documented calls hold and the tests pass.

    Cancelling ends all processes.
    """
    runtime = case.runtime
    if runtime is None:
        return Repairs(problem="no code can run")
    try:
        made = await asyncio.to_thread(_prepared, case, runtime, span, tests, seconds, everywhere)
    except MissingToolError as missing:
        return Repairs(problem=f"{missing} is not installed: {missing.install}")
    if isinstance(made, str):
        return Repairs(problem=made)
    try:
        result = await runtime.sandbox.run(made.spec)
    except (StetError, ValueError, OSError) as error:
        return Repairs(problem=f"code cannot run here: {error}")
    edits = [(each.edit, made.functions[each.function].unit) for each in made.candidates]
    return read_repairs(result.report, made.nonce, case.before, edits)


def _prepared(
    case: Case, runtime: Runtime, span: Span, tests: TestsBefore | None, seconds: float, everywhere: bool
) -> _Prepared | str:
    target = _target(case, span)
    own = framework_tests(tests) if tests is not None else None
    if isinstance(target, str) or isinstance(own, str):
        return target if isinstance(target, str) else str(own)
    typed, functions = case.language.startswith("typescript"), target.functions
    units = [each.unit for each in functions if each.unit] if everywhere else [case.unit]
    examples = [each for it in units for each in examples_for(case.before.text, case.language, it, case.user_examples)]
    found = candidates(functions, span, MOST_EDITS)
    node = toolchain.find("node", install=NODE)
    builder = _builder(case, runtime) if typed and own is None else None
    shown = target.with_switches(case.language)
    job = {
        "text": f"// @ts-nocheck\n{shown}" if typed and own is not None else shown,
        "plain": target.plain.text,
        "functions": target.rows(),
        "edits": rows(found),
        "typescript": builder is not None,
        "esbuild": str(builder.path) if builder is not None else "",
        "examples": [_row(each) for each in examples],
        **_tests(tests, own),
        "seconds": min(seconds, max(runtime.left() - (4 if own is None else _RESERVED), 0.5)),
        "most": MOST_GOOD,
        "slots": min(os.cpu_count() or 1, _MOST_SLOTS if own is None else _MOST_RUNNERS),
    }
    programs = [node, *filter(None, [builder])]
    limits = own.limits if own is not None else _LIMITS
    limits = replace(limits, seconds=4 * seconds + (10 if own is None else _STARTING)).within(runtime.left())
    return _Prepared(*_spec(case, runtime, job, tests, programs, limits), found, functions)


@dataclass(frozen=True, slots=True)
class _Target:
    """What is searched: functions of a text, that text without types, and names that each uses of what is imported."""

    functions: list[ScriptFunction]
    plain: Source
    imported: list[tuple[str, ...]]

    def with_switches(self, language: str) -> str:
        return with_exposed_names(with_switches(self.functions, self.plain, self.imported), language)

    def rows(self) -> list[dict[str, Any]]:
        pairs = zip(self.functions, self.imported, strict=True)
        return [{"parts": expression(each, names), "loops": loops(each)} for each, names in pairs]


def _target(case: Case, span: Span) -> _Target | str:
    """The functions that a span touches; a sentence if there is nothing to search."""
    text, language = case.before.text, case.language
    module = read_module(text, language)
    plain = without_types(text, language) if language.startswith("typescript") else text
    if module is None or module.parsed.root.has_error:
        return "the code does not parse"
    if plain is None:
        return "its types cannot be left out"
    functions = [each for each in functions_within(case.before, module, span) if not has_markup(each)]
    if not functions:
        return "no function without JSX to change"
    if sum(each.edited.node.end_point[0] - each.edited.node.start_point[0] + 1 for each in functions) > MOST_LINES:
        return f"the code is longer than {MOST_LINES} lines"
    return _Target(functions, Source(plain), [imported_names(each, module) for each in functions])


def _tests(tests: TestsBefore | None, own: FrameworkTests | None) -> dict[str, Any]:
    """The tests of a job: those of a framework by their names within their file, run by it."""
    if tests is None:
        return {"tests": [], "wanted": []}
    if own is None:
        wanted = [each.rpartition("::")[2] for each in (*tests.failing, *tests.passing)]
        return {"tests": list(tests.plan.tests), "wanted": wanted}
    runner = {"name": own.name, "argv": own.argv, "file": own.file}
    return {"tests": [], "wanted": [], "runner": runner, "failing": own.failing, "passing": own.passing}


def _builder(case: Case, runtime: Runtime) -> BoxProgram | None:
    try:
        return esbuild(runtime.root_of(case.path))
    except MissingToolError:
        return None


def _row(example: DocumentedCall) -> dict[str, str]:
    return {"source": example.source, "want": example.want, "error": example.error}


def _spec(
    case: Case, runtime: Runtime, job: dict[str, Any], tests: TestsBefore | None, programs: list[BoxProgram],
    limits: Limits,
) -> tuple[str, RunSpec]:  # fmt: skip
    place = locate_script(case.path, (case.before.text,), case.language, runtime)
    overlay: Overlay | None = place.overlay
    path = place.path
    if tests is not None and tests.plan.overlay is not None and case.path is not None:
        overlay, path = tests.plan.overlay, case.path.relative_to(tests.plan.overlay.root)
    elif case.language.startswith("typescript") and not job["typescript"]:
        path = path.with_suffix(".mjs")
    nonce = secrets.token_hex(8)
    folder = f".stet-{nonce}"
    data = json.dumps({**job, "path": path.as_posix(), "nonce": nonce}).encode()
    node = programs[0]
    spec = RunSpec(
        (str(node.path), "--no-warnings", f"{folder}/inside.mjs", f"{folder}/job.json"),
        files={**{f"{folder}/{name}": text for name, text in _INSIDE.items()}, f"{folder}/job.json": data},
        binds=tuple(dict.fromkeys(bind for each in programs for bind in each.binds)),
        overlay=overlay,
        env={"TZ": "UTC", "NO_COLOR": "1", "CI": "1", "PATH": f"{node.path.parent}:/usr/bin:/bin"},
        limits=limits,
        report=True,
    )
    return nonce, spec
