"""Compares the old text of a JavaScript or TypeScript unit with its new one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, HarnessReport, NotRunnable
from stet_ls.engine.execution.inputs.sources import InputsSoFar, Trust, first_calls
from stet_ls.engine.execution.javascript.callers import public_callers
from stet_ls.engine.execution.javascript.inputs.sources import SOURCES
from stet_ls.engine.execution.javascript.inputs.subject import changed_units, read_module, subject_of
from stet_ls.engine.execution.javascript.module_location import isolated_unit
from stet_ls.engine.execution.javascript.version_pair import version_pair
from stet_ls.engine.execution.probe import places_of, unreached_probes
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.compare import compared
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.judges.differential.excuses.excused_differences import ComparedCode
from stet_ls.engine.judges.differential.further import Judging, with_further
from stet_ls.engine.judges.differential.growth import growth_of
from stet_ls.engine.judges.differential.javascript_attachment import comparison


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes."""
    before, after = (read_module(each.text, case.language) for each in (case.before, case.after))
    return changed_units(before, after, case.unit) if before and after else []


def callers(case: Case, unit: str) -> Sequence[str]:
    """The exported functions and public methods that call a unit of the module's own."""
    return public_callers(case.before.text, case.after.text, case.language, unit)


def shown(case: Case, unit: str) -> str:
    """The old text of a function with what it uses of its file, "" if there is none; calls of nothing else are read."""
    module = read_module(case.before.text, case.language)
    subject = subject_of(module, unit) if module else None
    if subject is None or subject.how in ("class", "method", "getter"):
        return ""
    return isolated_unit(case.before.text, case.language, unit) or ""


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | NotRunnable:
    """Compares old and new of one unit; if the file cannot be loaded, the unit with only its dependencies in it."""
    texts = case.before.text, case.after.text
    read, pair = await asyncio.to_thread(version_pair, case.path, texts, case.language, runtime, unit)
    calls = await asyncio.to_thread(first_calls, SOURCES, read)
    if not calls:
        return NotRunnable("it is not callable")
    report = await pair.run(calls, await asyncio.to_thread(pair.grown, calls))
    if isinstance(report, HarnessReport) and report.texts[0].problem:
        not_loaded = NotRunnable(f"cannot load the file ({report.texts[0].problem})")
        alone = await asyncio.to_thread(pair.isolated)
        again = await alone.run(calls) if alone is not None else None
        if alone is None or not isinstance(again, HarnessReport) or again.texts[0].problem:
            return not_loaded
        pair, report = alone, again
    if isinstance(report, NotRunnable):
        return report
    judging = _judging(case, unit)
    found = judging.compare(calls, report, (), Trust.BY_ORIGIN)
    if pair.both is not None and not found.differences:
        unseen, places = unreached_probes(pair.both, report, case.parts), places_of(pair.both, case.parts)
        found = replace(found, unseen=unseen, places=places)
    found = await with_further(found, SOURCES, InputsSoFar(read, pair, calls, suggested=case.suggested), judging)
    exposed = await asyncio.to_thread(lambda: pair.exposed)
    written = (report.built[0], report.built[1]) if len(report.built) > 1 else exposed

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(name, title, written, calls)

    left = growth_of(report.growth)
    return replace(found, is_alone=pair.texts != texts, runnable=runnable, uncompared=left, uncaptured=read.uncaptured)


def _judging(case: Case, unit: str) -> Judging:
    """How the runs of a unit are judged."""
    code = ComparedCode(unit, case.before.text)

    def compare_run(calls: Sequence[Call], report: HarnessReport, earlier: Sequence[Call], trust: Trust) -> Comparison:
        # Guided calls are unlike the earlier ones: these show the usual kinds for a model's calls alone.
        usual = earlier if trust is Trust.REFUTING else ()
        return compared(report, calls, code, earlier=usual)

    return Judging(compare_run, case.parts)
