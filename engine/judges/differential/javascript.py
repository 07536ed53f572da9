"""Compares the old text of a JavaScript or TypeScript unit with its new one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, GrownCall, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.inputs.coverage_guided import coverage_guided_calls
from stet_ls.engine.execution.inputs.repeated_calls import with_repeats
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.javascript.harness import run
from stet_ls.engine.execution.javascript.inputs.calls import calls_for, fixed_parameters, new_constants, suggested_calls
from stet_ls.engine.execution.javascript.inputs.captured_calls import CapturedInputs, captured_inputs
from stet_ls.engine.execution.javascript.inputs.contract import within_contract
from stet_ls.engine.execution.javascript.inputs.depth import deep_calls, deep_nodes, recursive
from stet_ls.engine.execution.javascript.inputs.examples import test_texts
from stet_ls.engine.execution.javascript.inputs.grown import grown_calls
from stet_ls.engine.execution.javascript.inputs.guided_changes import ASKS_KINDS, changed_call
from stet_ls.engine.execution.javascript.inputs.subject import changed_units, read_module, subject_of
from stet_ls.engine.execution.javascript.module_location import (
    ScriptLocation,
    exported_variables,
    isolated_unit,
    place_of,
    with_exposed_names,
)
from stet_ls.engine.execution.javascript.probes import probed
from stet_ls.engine.execution.probe import ProbedText
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison, compared, places_of, unreached_probes
from stet_ls.engine.judges.differential.difference import fails_by_accident
from stet_ls.engine.judges.differential.growth import growth_of
from stet_ls.engine.judges.differential.javascript_attachment import comparison
from stet_ls.engine.runners.captured_calls import CapturedCalls

_FURTHER = 5.0
"""Seconds for further inputs, if the first ones did not execute all of the change."""
_Texts = tuple[str, str]
_AGAIN = """\
const earlier = {0};
if (Array.isArray(earlier)) earlier.length = 0; else if (typeof earlier?.clear === "function") earlier.clear();
"""


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes."""
    before, after = (read_module(each.text, case.language) for each in (case.before, case.after))
    return changed_units(before, after, case.unit) if before and after else []


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
    place, calls, of_tests = await asyncio.to_thread(_prepare, case, runtime, unit)
    if not calls:
        return NotRunnable("it is not callable")
    both = await asyncio.to_thread(probed, *texts, case.language)
    ran = _Runs(case, runtime, unit, place)
    report = await ran(
        texts, both, calls, grown=await asyncio.to_thread(grown_calls, calls, texts, case.language, unit)
    )
    is_alone = False
    if isinstance(report, HarnessReport) and report.texts[0].problem:
        problem = report.texts[0].problem
        single = [await asyncio.to_thread(isolated_unit, text, case.language, unit) for text in texts]
        if single[0] is None or single[1] is None:
            return NotRunnable(f"cannot load the file ({problem})")
        texts, is_alone = (single[0], single[1]), True
        both = await asyncio.to_thread(partial(probed, *texts, case.language, numbered=False))
        report = await ran(texts, both, calls)
        if isinstance(report, NotRunnable) or report.texts[0].problem:
            return NotRunnable(f"cannot load the file ({problem})")
    if isinstance(report, NotRunnable):
        return report
    found = compared(unit, calls, report, text=case.before.text)
    if both is not None and not found.differences:
        found = replace(found, unseen=unreached_probes(both, report, case.parts), places=places_of(both, case.parts))
    if both is not None and found.unseen and not found.differences:
        is_open = any(ASKS_KINDS.search(each.text) for each in found.unseen)
        fixed = await asyncio.to_thread(fixed_parameters, texts[0], case.language, unit)
        change = partial(changed_call, is_open=is_open, fixed=fixed)
        more = await asyncio.to_thread(coverage_guided_calls, calls, (*both[0].literals, *both[1].literals), change)
        further = await ran(texts, both, more, _FURTHER) if more else None
        if isinstance(further, HarnessReport) and not further.texts[0].problem:
            found = found.combine(
                compared(unit, more, further, text=case.before.text), unreached_probes(both, further, case.parts)
            )
    if case.suggested and found.is_starved:
        found = await _with_suggested(ran, texts, both, found)
    written = (report.built[0], report.built[1]) if len(report.built) > 1 else _opened(texts, case.language)

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(name, title, written, calls)

    left, uncaptured = growth_of(report.growth), of_tests.uncaptured
    return replace(found, is_alone=is_alone, runnable=runnable, uncompared=left, uncaptured=uncaptured)


async def _with_suggested(
    ran: _Runs, texts: _Texts, both: tuple[ProbedText, ProbedText] | None, found: Comparison
) -> Comparison:
    """The comparison with the calls that a model named and the old code takes, and near misses of them."""
    case, before = ran.case, ran.case.before.text
    named = await asyncio.to_thread(suggested_calls, case.suggested, before, case.language, ran.unit)
    taken = await _taken(ran, texts[0], within_contract(named, before, case.language, ran.unit))
    literals = (*both[0].literals, *both[1].literals) if both is not None else ()
    more = await asyncio.to_thread(coverage_guided_calls, taken, literals, partial(changed_call, is_open=False))
    calls = within_contract(
        (*taken, *(replace(each, origin=GUESSED) for each in more)), before, case.language, ran.unit
    )
    further = await ran(texts, both, calls, _FURTHER) if taken else None
    if not isinstance(further, HarnessReport) or further.texts[0].problem:
        return found
    still = unreached_probes(both, further, case.parts) if both is not None else frozenset()
    return found.with_suggested(compared(ran.unit, calls, further, text=before, earlier=found.agreed), still)


async def _taken(ran: _Runs, text: str, calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The calls that the old code takes."""
    report = await ran((text, text), None, calls, _FURTHER) if calls else None
    if not isinstance(report, HarnessReport) or report.texts[0].problem:
        return ()
    named = frozenset(re.findall(r"\w+", text))
    return tuple(calls[n] for n, each in report.texts[0].outcomes.items()
                 if each.valid and not fails_by_accident(each, named))  # fmt: skip


def _prepare(case: Case, runtime: Runtime, unit: str) -> tuple[ScriptLocation, tuple[Call, ...], CapturedInputs]:
    before, after = case.before.text, case.after.text
    place = place_of(case.path, (before, after), case.language, runtime)
    tests = test_texts(case.path, runtime.root_of(case.path))
    besides = (*new_constants(before, after, case.language, unit), *_large_numbers(before, after))
    calls = calls_for(before, case.language, unit, tests, besides)
    if recursive(after, case.language) - recursive(before, case.language):
        calls = (*deep_nodes(after, unit), *deep_calls(calls), *calls)
    known = runtime.captured.get((case.path, before)) if case.path is not None else None
    of_tests = captured_inputs(known or CapturedCalls(), before, after, case.language, unit)
    calls = (*of_tests.calls, *within_contract(calls, before, case.language, unit))
    return place, with_repeats(secret_calls_marked(calls), _AGAIN), of_tests


_WHOLE = re.compile(
    r"[|^&]\s*0\b|~~|>>>?|\bBigInt\b|\bMath\.(?:trunc|floor|round|ceil|fround|imul)\b|\bparse(?:Int|Float)\b|\bNumber\b|\d+n\b|%"
)
_LARGE = ("2147483648", "4294967297", "9007199254740993", "0.1", "-1.5")
"""Beyond what 32 bits hold, beyond what a number holds exactly, and not whole."""


def _large_numbers(before: str, after: str) -> tuple[str, ...]:
    """Numbers that distinguish ways of counting, if old and new code use different ones."""
    old, new = (set(_WHOLE.findall(text)) for text in (before, after))
    return _LARGE if old != new else ()


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of the two texts of a case, each with a line that exposes its functions to the harness."""

    case: Case
    runtime: Runtime
    unit: str
    place: ScriptLocation

    async def __call__(
        self,
        texts: _Texts,
        both: tuple[ProbedText, ProbedText] | None,
        calls: tuple[Call, ...],
        seconds: float = 0.0,
        grown: tuple[GrownCall, ...] = (),
    ) -> HarnessReport | NotRunnable:
        """The report of calls, within `seconds` if given, and of how the time of the `grown` ones grows."""
        language, path = self.case.language, self.place.path
        shown = await asyncio.to_thread(_opened, texts, language)
        trial = HarnessRun(
            shown, calls, self.unit, path, path.stem,
            reads=self.place.overlay is not None, globals=_seen(texts, language), grown=grown,
        )  # fmt: skip
        if both is not None:
            noting = await asyncio.to_thread(_opened, (both[0].text, both[1].text), language)
            counts = (len(each.probes) for each in both)
            trial = replace(trial, probed=tuple(zip(noting, counts, strict=True)), probe=both[0].name)
        trial = replace(trial, seconds=seconds or trial.seconds)
        return await run(self.runtime, trial, language, self.place.overlay)


def _opened(texts: _Texts, language: str) -> _Texts:
    seen = _seen(texts, language)
    return with_exposed_names(texts[0], language, seen), with_exposed_names(texts[1], language, seen)


def _seen(texts: _Texts, language: str) -> tuple[str, ...]:
    """The variables that both texts export."""
    both = set(exported_variables(texts[1], language))
    return tuple(name for name in exported_variables(texts[0], language) if name in both)
