"""Compares the old text of a Python unit with its new one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.inputs.coverage_guided import coverage_guided_calls
from stet_ls.engine.execution.inputs.repeated_calls import with_repeats
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.probe import ProbedText
from stet_ls.engine.execution.python.harness import not_loaded, run
from stet_ls.engine.execution.python.inputs.calls import calls_for, new_literals
from stet_ls.engine.execution.python.inputs.captured_calls import CapturedInputs, captured_inputs
from stet_ls.engine.execution.python.inputs.documented.contract import (
    promised_messages,
    promises_order,
    within_contract,
)
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.examples import test_texts
from stet_ls.engine.execution.python.inputs.generators import with_first_values, with_iterators
from stet_ls.engine.execution.python.inputs.grown import grown_calls
from stet_ls.engine.execution.python.inputs.module_state import changed_by, with_neighbours
from stet_ls.engine.execution.python.inputs.private_names import comparable_unit
from stet_ls.engine.execution.python.inputs.subject import changed_units, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.databases import with_databases
from stet_ls.engine.execution.python.inputs.values.files import with_files
from stet_ls.engine.execution.python.inputs.values.sizes import with_sizes
from stet_ls.engine.execution.python.inputs.values.twins import with_twins
from stet_ls.engine.execution.python.module_location import ModuleLocation, isolated_unit, place_of
from stet_ls.engine.execution.python.probes import probed
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison, compared, unseen
from stet_ls.engine.judges.differential.growth import growth_of
from stet_ls.engine.judges.differential.python_attachment import comparison
from stet_ls.engine.judges.differential.python_observed import needs_observation, observed
from stet_ls.engine.judges.differential.python_uncompared import uncompared

_FURTHER = 3.0
"""Seconds for further inputs, if the first ones did not execute all of the change."""
_ENDLESS, _MANY, _PATIENT = 3, 12_000, 0.3
"""Calls whose iterators are compared further than others, to how many items, and the processor seconds for each."""
_REORDERED = "keys are in another order, and the documentation speaks of an order"
_AGAIN = "earlier = {0}\nif hasattr(earlier, 'clear'): earlier.clear()\n"


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes; of the unit's own class, the other methods."""
    before, after = known_module(case.before.text), known_module(case.after.text)
    return changed_units(before, after, case.unit) if before and after else []


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | NotRunnable:
    """Compares old and new of one unit; if the file cannot be imported, the unit with only its dependencies in it."""
    before, after = case.before.text, case.after.text
    unit = await asyncio.to_thread(_comparable, case, runtime, unit)
    place, calls, of_tests = await asyncio.to_thread(_prepare, case, runtime, unit)
    if not calls:
        return NotRunnable("it is not callable")
    both = await asyncio.to_thread(probed, before, after)
    trial = _trial((before, after), unit, calls, place, both, of_tests)
    trial = replace(trial, grown=await asyncio.to_thread(grown_calls, calls, (before, after), unit))
    report = await run(runtime, trial, place.overlay)
    texts, is_alone = (before, after), False
    if isinstance(report, HarnessReport) and report.texts[0].problem:
        single = isolated_unit(before, unit), isolated_unit(after, unit)
        if single[0] is None or single[1] is None:
            return not_loaded(runtime, report.texts[0])
        both = await asyncio.to_thread(lambda: probed(single[0] or "", single[1] or "", numbered=False))
        again = await run(runtime, _trial((single[0], single[1]), unit, calls, place, both, of_tests), place.overlay)
        if isinstance(again, NotRunnable) or again.texts[0].problem:
            return not_loaded(runtime, report.texts[0])
        report, texts, is_alone = again, (single[0], single[1]), True
    if isinstance(report, NotRunnable):
        return report
    promised = frozenset(re.findall(r"\w+", before))
    handled = frozenset(re.findall(r"\w+", after))
    meant = await asyncio.to_thread(_meant, before, unit)
    found = compared(unit, calls, report, promised, before, meant, handled=handled)
    if both is not None and report.unseen is not None:
        found = replace(found, unseen=unseen(both, report, case.parts))
    if await asyncio.to_thread(needs_observation, found, before):
        trial = _trial(texts, unit, calls, place, both, of_tests)
        more = await asyncio.to_thread(_completed, await observed(runtime, trial, place.overlay), texts, unit)
        further = await run(runtime, replace(trial, calls=more, seconds=_FURTHER), place.overlay) if more else None
        if isinstance(further, HarnessReport) and not further.texts[0].problem:
            still = unseen(both, further, case.parts) if both is not None else frozenset()
            found = found.with_observed(
                compared(unit, more, further, promised, before, meant, handled=handled), still, meant
            )
    if both is not None and found.unseen and not found.differences:
        more = await asyncio.to_thread(
            coverage_guided_calls, found.agreed or calls, (*both[0].literals, *both[1].literals)
        )
        more = within_contract(more, before, unit)
        trial = replace(_trial(texts, unit, more, place, both, of_tests), seconds=_FURTHER)
        further = await run(runtime, trial, place.overlay) if more else None
        if isinstance(further, HarnessReport) and not further.texts[0].problem:
            third = compared(unit, more, further, promised, before, meant, found.agreed, handled)
            found = found.combine(third, unseen(both, further, case.parts))
    trial = _trial(texts, unit, found.agreed[:_ENDLESS], place, None, of_tests)
    found = await _far(found, runtime, trial, place)

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(f"{name}.py", title, place.name, texts, calls)

    left = growth_of(report.growth) or await asyncio.to_thread(_left, found, before, after)
    return replace(found, is_alone=is_alone, runnable=runnable, uncompared=left, uncaptured=of_tests.uncaptured)


def _left(found: Comparison, before: str, after: str) -> str:
    """What no run can compare, or what differs where the documentation alone says whether that counts."""
    is_promised = found.reordered and promises_order(before, found.unit)
    return uncompared(before, after, found.unit) or (_REORDERED if is_promised else "")


async def _far(found: Comparison, runtime: Runtime, trial: HarnessRun, place: ModuleLocation) -> Comparison:
    """The comparison with more items of iterators, for the few calls of a trial."""
    if found.differences or not found.partial:
        return found
    more = await run(runtime, replace(trial, items=_MANY, cpu=_PATIENT), place.overlay) if trial.calls else None
    if not isinstance(more, HarnessReport) or more.texts[0].problem:
        return found
    return replace(found, differences=compared(found.unit, trial.calls, more).differences)


def _completed(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """Observed calls with what the first inputs got, too."""
    calls = within_contract(with_twins(with_sizes(calls, texts, unit), texts, unit), texts[0], unit)
    return with_files(with_protocol(calls, texts[0], unit), texts[0], unit)


def _meant(text: str, unit: str) -> dict[str, frozenset[str]]:
    from stet_ls.engine.execution.python.inputs.values.untyped_params import meant_kinds

    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return meant_kinds(subject) if subject else {}


def _comparable(case: Case, runtime: Runtime, unit: str) -> str:
    tests = test_texts(case.path, runtime.root_of(case.path))
    return comparable_unit((case.before.text, case.after.text), unit, tests)


def _prepare(case: Case, runtime: Runtime, unit: str) -> tuple[ModuleLocation, tuple[Call, ...], CapturedInputs]:
    before, new = case.before.text, new_literals(case.before.text, case.after.text, unit)
    known = runtime.captured.get((case.path, before)) if case.path is not None else None
    of_tests = captured_inputs(known, before, case.after.text, unit) if known is not None else CapturedInputs()
    place = place_of(case.path, (before, case.after.text), runtime, in_project=bool(of_tests.data.files))
    if place.overlay is not None:
        root = place.overlay.root
        former = {path.relative_to(root).as_posix(): text for path, text in case.former.items()}
        place = replace(place, former=former)
    tests = test_texts(case.path, runtime.root_of(case.path))
    tests = (of_tests.written, *tests) if of_tests.written else tests
    calls = with_edge_cases(calls_for(before, unit, tests, new), before, unit, new, tests)
    calls = with_twins(with_sizes(calls, (before, case.after.text), unit), (before, case.after.text), unit)
    calls = within_contract(calls, before, unit)
    calls = with_files(with_protocol(calls, before, unit), before, unit)
    calls = with_databases(calls, (before, case.after.text), unit)
    known_inputs = {(each.setup, each.body) for each in of_tests.calls}
    calls = (*of_tests.calls, *(each for each in calls if (each.setup, each.body) not in known_inputs))
    calls = with_first_values(with_repeats(secret_calls_marked(calls), _AGAIN), before, unit)
    return place, with_neighbours(with_iterators(calls, before, unit), before, unit), of_tests


def _trial(
    texts: tuple[str, ...],
    unit: str,
    calls: tuple[Call, ...],
    place: ModuleLocation,
    both: tuple[ProbedText, ProbedText] | None,
    of_tests: CapturedInputs,
) -> HarnessRun:
    return HarnessRun(
        texts, calls, unit, place.path, place.name, place.roots, place.warm,
        private="." in unit or not unit[:1].isupper(), reads=place.overlay is not None,
        messages=promised_messages(texts[0], unit), globals=changed_by((texts[0], texts[-1]), unit),
        probed=tuple((each.text, len(each.probes)) for each in both or ()), probe=both[0].name if both else "",
        captured=of_tests.data, former=place.former,
    )  # fmt: skip
