"""How repairs are searched and run in each language: one row per language."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.actions.repair_search.javascript_search import search_script
from stet_ls.engine.actions.repair_search.search import Repairs, search
from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.javascript import harness as script_harness
from stet_ls.engine.execution.javascript import module_location as script_location
from stet_ls.engine.execution.javascript.inputs.calls import calls_for as script_calls_for
from stet_ls.engine.execution.python import harness
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.module_location import locate_module
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.doctest import examples_for
from stet_ls.engine.judges.project_tests.judge import TestsBefore
from stet_ls.validators.languages import lookup
from stet_ls.validators.source import Span

_CALLS = 120
_SECONDS, _SCRIPT_SECONDS = 2.0, 4.0
_CPU = 0.01
"""Seconds of the processor for a call, until several took longer: then a third of it."""
_SCRIPT_CPU = 0.02
"""The same; the texts after the first get forty times as much, once."""

Search = Callable[[Case, Span, TestsBefore | None, float, bool], Awaitable[Repairs]]
"""Searches repairs: from a case, the target's span, its tests, the seconds, whether the target is the document."""
Run = Callable[[Case, Runtime, Sequence[str]], Awaitable[tuple[tuple[Call, ...], HarnessReport | NotRunnable]]]
"""Runs drawn calls of the case's unit in several texts, of which the last is the one before."""


@dataclass(frozen=True, slots=True)
class SearchLanguage:
    """How repairs of a language are searched, and run on drawn inputs."""

    search: Search
    run: Run


async def _search(
    case: Case, span: Span, tests: TestsBefore | None, seconds: float, everywhere: bool
) -> Repairs:  # fmt: skip
    examples = await asyncio.to_thread(examples_for, case, everywhere=everywhere)
    return await search(case, span, examples, tests, seconds)


async def _run(
    case: Case, runtime: Runtime, texts: Sequence[str]
) -> tuple[tuple[Call, ...], HarnessReport | NotRunnable]:
    place = await asyncio.to_thread(locate_module, case.path, (case.before.text,), runtime)
    calls = (await asyncio.to_thread(calls_for, case.before.text, case.unit))[:_CALLS]
    trial = HarnessRun(
        tuple(texts), calls, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, plain=True, cpu=_CPU, seconds=_SECONDS,
    )  # fmt: skip
    return calls, await harness.run(runtime, trial, place.overlay) if calls else NotRunnable("it is not callable")


async def _run_script(
    case: Case, runtime: Runtime, texts: Sequence[str]
) -> tuple[tuple[Call, ...], HarnessReport | NotRunnable]:
    place = await asyncio.to_thread(
        script_location.locate_script, case.path, (case.before.text,), case.language, runtime
    )
    calls = (await asyncio.to_thread(script_calls_for, case.before.text, case.language, case.unit))[:_CALLS]
    shown = [await asyncio.to_thread(script_location.with_exposed_names, text, case.language) for text in texts]
    trial = HarnessRun(
        tuple(shown), calls, case.unit, place.path, place.path.stem,
        reads=place.overlay is not None, cpu=_SCRIPT_CPU, seconds=_SCRIPT_SECONDS,
    )  # fmt: skip
    if not calls:
        return calls, NotRunnable("it is not callable")
    return calls, await script_harness.run(runtime, trial, case.language, place.overlay)


ROWS: Mapping[str, SearchLanguage | None] = {
    "python": SearchLanguage(_search, _run),
    "javascript": SearchLanguage(search_script, _run_script),
}
"""By language id; a row applies to its family."""

for_language = lookup(ROWS, None)
"""The row of a language id; None for a language whose repairs are not searched."""
