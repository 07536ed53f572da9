"""Runs the old and the new text of a JavaScript or TypeScript unit on the same calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.execution.harness_run import Call, CallOutcome, GrownCall, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.inputs.sources import ComparedUnit, Probed, TextPair
from stet_ls.engine.execution.javascript.harness import run
from stet_ls.engine.execution.javascript.inputs.examples import test_texts
from stet_ls.engine.execution.javascript.inputs.grown import grown_calls
from stet_ls.engine.execution.javascript.inputs.known_calls.captured_calls import captured_inputs
from stet_ls.engine.execution.javascript.module_location import (
    ScriptLocation,
    exported_variables,
    isolated_unit,
    locate_script,
    with_exposed_names,
)
from stet_ls.engine.execution.javascript.probes import probed
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.captured_calls import CapturedCalls

_FURTHER = 5.0
"""Seconds for further inputs, if the first ones did not execute all of the change."""


@dataclass(frozen=True, slots=True)
class VersionPair:
    """The two texts of a unit, and where they are loaded.

    `texts` are those that run, each with a line that exposes its functions to the harness; `both` the same with probes,
    None if they cannot have any.
    """

    runtime: Runtime
    unit: str
    language: str
    place: ScriptLocation
    texts: TextPair
    both: Probed | None

    @property
    def exposed(self) -> TextPair:
        """The texts as they run. Parses: not for an event loop."""
        return self._exposed(self.texts)

    def isolated(self) -> VersionPair | None:
        """The unit with only its dependencies; None if a text does not define it. Parses: not for an event loop."""
        before, after = (isolated_unit(text, self.language, self.unit) for text in self.texts)
        if before is None or after is None:
            return None
        return replace(self, texts=(before, after), both=probed(before, after, self.language, numbered=False))

    def grown(self, calls: tuple[Call, ...]) -> tuple[GrownCall, ...]:
        """Some of the calls with larger arguments. Parses: not for an event loop."""
        return grown_calls(calls, self.texts, self.language, self.unit)

    async def run(self, calls: tuple[Call, ...], grown: Sequence[GrownCall] = ()) -> HarnessReport | NotRunnable:
        """The report of the first calls, and of how the time of the `grown` ones grows."""
        return await self._report(replace(await asyncio.to_thread(self._trial, calls), grown=tuple(grown)))

    async def run_further(self, calls: tuple[Call, ...], grown: Sequence[GrownCall] = ()) -> HarnessReport | None:
        """The report of further calls; None if there are none, or nothing could be loaded."""
        if not calls:
            return None
        trial = await asyncio.to_thread(self._trial, calls)
        report = await self._report(replace(trial, seconds=_FURTHER, grown=tuple(grown)))
        is_loaded = isinstance(report, HarnessReport) and bool(report.texts) and not report.texts[0].problem
        return report if isinstance(report, HarnessReport) and is_loaded else None

    async def run_old(self, calls: tuple[Call, ...], seconds: float | None = None) -> Mapping[int, CallOutcome] | None:
        """The outcomes of calls of the old text alone; None if it could not be loaded."""
        alone = replace(self, texts=(self.texts[0], self.texts[0]), both=None)
        report = await alone._report(replace(await asyncio.to_thread(alone._trial, calls), seconds=seconds or _FURTHER))
        if isinstance(report, NotRunnable) or not report.texts or report.texts[0].problem:
            return None
        return report.texts[0].outcomes

    async def _report(self, trial: HarnessRun) -> HarnessReport | NotRunnable:
        return await run(self.runtime, trial, self.language, self.place.overlay)

    def _trial(self, calls: tuple[Call, ...]) -> HarnessRun:
        path, both = self.place.path, self.both
        trial = HarnessRun(
            self.exposed, calls, self.unit, path, path.stem, reads=self.place.overlay is not None, globals=self._seen()
        )
        if both is None:
            return trial
        noting = self._exposed((both[0].text, both[1].text))
        counts = (len(each.probes) for each in both)
        return replace(trial, probed=tuple(zip(noting, counts, strict=True)), probe=both[0].name)

    def _exposed(self, texts: TextPair) -> TextPair:
        seen = _seen(texts, self.language)
        return with_exposed_names(texts[0], self.language, seen), with_exposed_names(texts[1], self.language, seen)

    def _seen(self) -> tuple[str, ...]:
        return _seen(self.texts, self.language)


def _seen(texts: TextPair, language: str) -> tuple[str, ...]:
    """The variables that both texts export."""
    both = set(exported_variables(texts[1], language))
    return tuple(name for name in exported_variables(texts[0], language) if name in both)


def version_pair(
    path: Path | None, texts: TextPair, language: str, runtime: Runtime, unit: str
) -> tuple[ComparedUnit, VersionPair]:
    """A unit of a file as it is compared, and how it runs. Parses and reads files: not for an event loop."""
    before, after = texts
    place = locate_script(path, texts, language, runtime)
    tests = test_texts(path, runtime.root_of(path))
    known = runtime.captured.get((path, before)) if path is not None else None
    of_tests = captured_inputs(known or CapturedCalls(), before, after, language, unit)
    compared = ComparedUnit(texts, unit, language, tests, of_tests.calls, of_tests.uncaptured)
    return compared, VersionPair(runtime, unit, language, place, texts, probed(*texts, language))
