"""Compares the old text of a Python unit with its new one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, HarnessReport, NotRunnable
from stet_ls.engine.execution.inputs.sources import InputsSoFar, Trust, first_calls
from stet_ls.engine.execution.probe import places_of, unreached_probes
from stet_ls.engine.execution.python.callers import public_callers
from stet_ls.engine.execution.python.equal_forms.same_code import is_same_code
from stet_ls.engine.execution.python.harness import not_loaded
from stet_ls.engine.execution.python.inputs.contract import promises_order
from stet_ls.engine.execution.python.inputs.sources import SOURCES
from stet_ls.engine.execution.python.inputs.subject import changed_units, known_module, subject_of
from stet_ls.engine.execution.python.module_location import isolated_unit
from stet_ls.engine.execution.python.version_pair import VersionPair, comparable, version_pair
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.compare import compared
from stet_ls.engine.judges.differential.comparison import Comparison, counted_coverage
from stet_ls.engine.judges.differential.excuses.excused_differences import ComparedCode
from stet_ls.engine.judges.differential.further import Judging, with_further
from stet_ls.engine.judges.differential.growth import growth_of
from stet_ls.engine.judges.differential.python_attachment import comparison
from stet_ls.engine.judges.differential.python_uncompared import uncompared_change

_ENDLESS = 3
"""Calls whose iterators are compared further than others."""
_REORDERED = "keys are in another order, and the documentation speaks of an order"


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes; of the unit's own class, the other methods."""
    before, after = known_module(case.before.text), known_module(case.after.text)
    return changed_units(before, after, case.unit) if before and after else []


def callers(case: Case, unit: str) -> Sequence[str]:
    """The public functions and methods that call a private unit."""
    return public_callers(case.before.text, case.after.text, unit)


def shown(case: Case, unit: str) -> str:
    """The old text of a unit with what it uses of its file, "" if there is none."""
    return isolated_unit(case.before.text, unit) or ""


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | NotRunnable:
    """Compares old and new of one unit; if the file cannot be imported, the unit with only its dependencies in it."""
    texts = case.before.text, case.after.text
    name = await asyncio.to_thread(comparable, case.path, texts, runtime, unit)
    read, pair = await asyncio.to_thread(version_pair, case.path, texts, runtime, name, case.former)
    calls = await asyncio.to_thread(first_calls, SOURCES, read)
    if not calls:
        return NotRunnable("it is not callable")
    judging = await asyncio.to_thread(_judging, case, name)
    report = await pair.run(calls, await asyncio.to_thread(pair.grown, calls))
    if isinstance(report, HarnessReport) and report.texts[0].problem:
        alone = await asyncio.to_thread(pair.isolated)
        again = await alone.run(calls) if alone is not None else None
        if alone is None or not isinstance(again, HarnessReport) or again.texts[0].problem:
            return not_loaded(runtime, report.texts[0])
        pair, report = alone, again
    if isinstance(report, NotRunnable):
        return report
    found = judging.compare(calls, report, (), Trust.BY_ORIGIN)
    report = counted_coverage(found, report)
    if pair.both is not None and report.unseen is not None:
        unseen, places = unreached_probes(pair.both, report, case.parts), places_of(pair.both, case.parts)
        found = replace(found, unseen=unseen, places=places)
    found = await with_further(found, SOURCES, InputsSoFar(read, pair, calls, suggested=case.suggested), judging)
    found = await _with_more_items(found, pair)

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(f"{name}.py", title, pair.place.name, pair.texts, calls, pair.named, pair.caught)

    left = growth_of(report.growth) or found.uncompared or await asyncio.to_thread(_left, found, *texts)
    is_other = texts[0] != texts[1] and not found.differences
    is_same = is_other and await asyncio.to_thread(is_same_code, *texts, name)
    return replace(
        found, is_alone=pair.texts != texts, runnable=runnable, uncompared=left, uncaptured=read.uncaptured,
        is_same_form=is_same,
    )  # fmt: skip


async def _with_more_items(found: Comparison, pair: VersionPair) -> Comparison:
    """The comparison with more items of iterators, for a few calls."""
    calls = found.agreed[:_ENDLESS]
    if found.differences or not found.partial or not calls:
        return found
    more = await pair.run_longer(calls)
    return (
        replace(found, differences=compared(more, calls, ComparedCode(found.unit)).differences)
        if more is not None
        else found
    )


def _judging(case: Case, unit: str) -> Judging:
    """How the runs of a unit are judged: errors that a text names are meant, and kinds that a parameter's name says."""
    before, after = case.before.text, case.after.text
    promised, handled = (frozenset(re.findall(r"\w+", text)) for text in (before, after))
    code, meant = ComparedCode(unit, before, promised, handled), _meant(before, unit)

    def compare_run(calls: Sequence[Call], report: HarnessReport, earlier: Sequence[Call], trust: Trust) -> Comparison:
        del trust
        return compared(report, calls, code, meant, earlier)

    return Judging(compare_run, case.parts, meant)


def _left(found: Comparison, before: str, after: str) -> str:
    """What no run can compare, or what differs where the documentation alone says whether that counts."""
    is_promised = found.reordered and promises_order(before, found.unit)
    return uncompared_change(before, after, found.unit) or (_REORDERED if is_promised else "")


def _meant(text: str, unit: str) -> dict[str, frozenset[str]]:
    from stet_ls.engine.execution.python.inputs.values.untyped_params import meant_kinds

    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return meant_kinds(subject) if subject else {}
