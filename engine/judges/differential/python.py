"""Compares the old text of a Python unit with its new one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.api.evidence import Attachment
from stet_ls.engine.execution.harness_run import Call, GrownCall, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.inputs.coverage_guided import coverage_guided_calls
from stet_ls.engine.execution.probe import ProbedText
from stet_ls.engine.execution.python.harness import not_loaded, run
from stet_ls.engine.execution.python.inputs.documented.contract import (
    promised_messages,
    promises_order,
    within_contract,
)
from stet_ls.engine.execution.python.inputs.grown import grown_calls
from stet_ls.engine.execution.python.inputs.module_state import changed_by
from stet_ls.engine.execution.python.inputs.solver import solved_calls
from stet_ls.engine.execution.python.inputs.subject import changed_units, known_module, subject_of
from stet_ls.engine.execution.python.inputs.suggested import near, suggested_calls
from stet_ls.engine.execution.python.module_location import isolated_unit
from stet_ls.engine.execution.python.probes import probed
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison, compared, places_of, unreached_probes
from stet_ls.engine.judges.differential.difference import fails_by_accident
from stet_ls.engine.judges.differential.growth import growth_of
from stet_ls.engine.judges.differential.python_attachment import comparison
from stet_ls.engine.judges.differential.python_inputs import Inputs, comparable, completed, prepare
from stet_ls.engine.judges.differential.python_observed import calls_with_observed_uses, needs_observation
from stet_ls.engine.judges.differential.python_uncompared import uncompared_change

_FURTHER = 3.0
"""Seconds for further inputs, if the first ones did not execute all of the change."""
_ENDLESS, _MANY, _PATIENT = 3, 12_000, 0.3
"""Calls whose iterators are compared further than others, to how many items, and the processor seconds for each."""
_REORDERED = "keys are in another order, and the documentation speaks of an order"
_Texts = tuple[str, str]
_Probed = tuple[ProbedText, ProbedText]


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes; of the unit's own class, the other methods."""
    before, after = known_module(case.before.text), known_module(case.after.text)
    return changed_units(before, after, case.unit) if before and after else []


def shown(case: Case, unit: str) -> str:
    """The old text of a unit with what it uses of its file, "" if there is none."""
    return isolated_unit(case.before.text, unit) or ""


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | NotRunnable:
    """Compares old and new of one unit; if the file cannot be imported, the unit with only its dependencies in it."""
    texts = case.before.text, case.after.text
    unit = await asyncio.to_thread(comparable, case, runtime, unit)
    inputs = await asyncio.to_thread(prepare, case, runtime, unit)
    if not inputs.calls:
        return NotRunnable("it is not callable")
    meant = await asyncio.to_thread(_meant, texts[0], unit)
    steps = _Steps(case, runtime, unit, inputs, meant, texts, await asyncio.to_thread(probed, *texts))
    grown = await asyncio.to_thread(grown_calls, inputs.calls, texts, unit)
    report = await run(runtime, replace(steps.trial(inputs.calls), grown=grown), inputs.place.overlay)
    if isinstance(report, HarnessReport) and report.texts[0].problem:
        alone = await asyncio.to_thread(steps.alone)
        again = await run(runtime, alone.trial(inputs.calls), inputs.place.overlay) if alone is not None else None
        if alone is None or not isinstance(again, HarnessReport) or again.texts[0].problem:
            return not_loaded(runtime, report.texts[0])
        steps, report = alone, again
    if isinstance(report, NotRunnable):
        return report
    found = await steps.further(steps.first(report))

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(f"{name}.py", title, inputs.place.name, steps.texts, calls)

    left = growth_of(report.growth) or found.uncompared or await asyncio.to_thread(_left, found, *texts)
    is_alone = steps.texts != texts
    uncaptured = inputs.of_tests.uncaptured
    return replace(found, is_alone=is_alone, runnable=runnable, uncompared=left, uncaptured=uncaptured)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The runs of one comparison, each with the inputs that the ones before left a need for.

    `texts` are those that run, `both` the same with probes, None if they cannot have any. `meant` are the kinds that
    names suggest.
    """

    case: Case
    runtime: Runtime
    unit: str
    inputs: Inputs
    meant: Mapping[str, frozenset[str]]
    texts: _Texts
    both: _Probed | None

    def alone(self) -> _Steps | None:
        """The steps for the unit with only its dependencies; None if a text does not define it."""
        before, after = (isolated_unit(text, self.unit) for text in self.texts)
        if before is None or after is None:
            return None
        return replace(self, texts=(before, after), both=probed(before, after, numbered=False))

    def first(self, report: HarnessReport) -> Comparison:
        """The comparison with the first inputs."""
        found = self._compared(self.inputs.calls, report)
        if self.both is None or report.unseen is None:
            return found
        left, all_ = unreached_probes(self.both, report, self.case.parts), places_of(self.both, self.case.parts)
        return replace(found, unseen=left, places=all_)

    async def further(self, found: Comparison) -> Comparison:
        """The comparison with all further inputs that it needs."""
        if await asyncio.to_thread(needs_observation, found, self._before):
            found = await self._with_observed(found)
        if self.both is not None and found.is_incomplete:
            named = (*self.both[0].literals, *self.both[1].literals)
            base = found.agreed or self.inputs.calls
            found = await self._tried(found, await asyncio.to_thread(coverage_guided_calls, base, named))
        if found.is_incomplete:
            found = await self._tried(found, await solved_calls(self.runtime, self.texts, self.unit))
        if self.case.suggested and found.is_starved:
            found = await self._with_suggested(found)
        return await self._far(found)

    async def _with_observed(self, found: Comparison) -> Comparison:
        """The comparison with values of the shape that a run with stand-ins shows."""
        overlay = self.inputs.place.overlay
        shapes = await calls_with_observed_uses(self.runtime, self.trial(self.inputs.calls), overlay)
        more = await asyncio.to_thread(completed, shapes, self.texts, self.unit)
        further = await self._run(more, await asyncio.to_thread(grown_calls, more, self.texts, self.unit))
        if further is None:
            return found
        found = replace(found, uncompared=growth_of(further.growth))
        still = unreached_probes(self.both, further, self.case.parts) if self.both is not None else frozenset()
        own = replace(self._compared(more, further, found.agreed), uncompared=found.uncompared)
        return found.with_observed(own, still, self.meant)

    async def _with_suggested(self, found: Comparison) -> Comparison:
        """The comparison with the calls that a model named and the old code takes, and near misses of them."""
        named = await asyncio.to_thread(suggested_calls, self.case.suggested, self._before, self.unit)
        taken = await self._taken(within_contract(named, self._before, self.unit))
        more = await asyncio.to_thread(near, taken, self.texts, self.unit)
        calls = within_contract((*taken, *more), self._before, self.unit)
        further = await self._run(calls)
        if further is None:
            return found
        own = self._compared(calls, further, found.agreed)
        still = unreached_probes(self.both, further, self.case.parts) if self.both is not None else frozenset()
        return found.with_suggested(own, still)

    async def _taken(self, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        """The calls that the old code takes: it neither finds a wrong kind in them nor fails by accident."""
        if not calls:
            return ()
        trial = replace(self.trial(calls), texts=self.texts[:1], plain=True, probed=(), probe="", seconds=_FURTHER)
        report = await run(self.runtime, trial, self.inputs.place.overlay)
        outcomes = report.texts[0].outcomes if isinstance(report, HarnessReport) and report.texts else {}
        named = self._named(self._before)
        return tuple(calls[n] for n, each in outcomes.items() if each.valid and not fails_by_accident(each, named))

    async def _tried(self, found: Comparison, more: tuple[Call, ...]) -> Comparison:
        """The comparison with these inputs, too, as far as the documentation allows them."""
        more = within_contract(more, self._before, self.unit)
        further = await self._run(more)
        if further is None or self.both is None:
            return found
        return found.combine(
            self._compared(more, further, found.agreed), unreached_probes(self.both, further, self.case.parts)
        )

    async def _far(self, found: Comparison) -> Comparison:
        """The comparison with more items of iterators, for a few calls."""
        calls = found.agreed[:_ENDLESS]
        if found.differences or not found.partial or not calls:
            return found
        trial = replace(self.trial(calls), probed=(), probe="", items=_MANY, cpu=_PATIENT)
        more = await run(self.runtime, trial, self.inputs.place.overlay)
        if not isinstance(more, HarnessReport) or more.texts[0].problem:
            return found
        return replace(found, differences=compared(found.unit, calls, more).differences)

    async def _run(self, calls: tuple[Call, ...], grown: tuple[GrownCall, ...] = ()) -> HarnessReport | None:
        """The report of further calls; None if there are none, or nothing could be loaded."""
        if not calls:
            return None
        trial = replace(self.trial(calls), seconds=_FURTHER, grown=grown)
        report = await run(self.runtime, trial, self.inputs.place.overlay)
        return report if isinstance(report, HarnessReport) and not report.texts[0].problem else None

    def _compared(self, calls: tuple[Call, ...], report: HarnessReport, earlier: Sequence[Call] = ()) -> Comparison:
        promised, handled = map(self._named, (self._before, self.case.after.text))
        return compared(self.unit, calls, report, promised, self._before, self.meant, earlier, handled)

    @staticmethod
    def _named(text: str) -> frozenset[str]:
        """The words of a text, errors among them."""
        return frozenset(re.findall(r"\w+", text))

    @property
    def _before(self) -> str:
        return self.case.before.text

    def trial(self, calls: tuple[Call, ...]) -> HarnessRun:
        """The run of these calls."""
        place, both, texts = self.inputs.place, self.both, self.texts
        return HarnessRun(
            texts, calls, self.unit, place.path, place.name, place.roots, place.warm,
            private="." in self.unit or not self.unit[:1].isupper(), reads=place.overlay is not None,
            messages=promised_messages(texts[0], self.unit), globals=changed_by(texts, self.unit),
            probed=tuple((each.text, len(each.probes)) for each in both or ()), probe=both[0].name if both else "",
            captured=self.inputs.of_tests.data, former=place.former,
        )  # fmt: skip


def _left(found: Comparison, before: str, after: str) -> str:
    """What no run can compare, or what differs where the documentation alone says whether that counts."""
    is_promised = found.reordered and promises_order(before, found.unit)
    return uncompared_change(before, after, found.unit) or (_REORDERED if is_promised else "")


def _meant(text: str, unit: str) -> dict[str, frozenset[str]]:
    from stet_ls.engine.execution.python.inputs.values.untyped_params import meant_kinds

    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return meant_kinds(subject) if subject else {}
