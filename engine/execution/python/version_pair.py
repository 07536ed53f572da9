"""Runs the old and the new text of a Python unit on the same calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.execution.harness_run import (
    Call,
    CallOutcome,
    CapturedData,
    GrownCall,
    HarnessReport,
    HarnessRun,
    NotRunnable,
)
from stet_ls.engine.execution.inputs.sources import ComparedUnit, Probed, TextPair
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.execution.python.inputs.compared_values import compared_values
from stet_ls.engine.execution.python.inputs.contract import promised_messages
from stet_ls.engine.execution.python.inputs.draw import caught_errors
from stet_ls.engine.execution.python.inputs.examples import test_texts
from stet_ls.engine.execution.python.inputs.grown import grown_calls
from stet_ls.engine.execution.python.inputs.known_calls.captured_calls import CapturedInputs, captured_inputs
from stet_ls.engine.execution.python.inputs.module_state import changed_by
from stet_ls.engine.execution.python.inputs.subject import Module, known_module, subject_of
from stet_ls.engine.execution.python.inputs.uses.observing import names_parts
from stet_ls.engine.execution.python.module_location import (
    ModuleLocation,
    isolated_location,
    isolated_unit,
    locate_module,
)
from stet_ls.engine.execution.python.probes import probed
from stet_ls.engine.execution.runtime import Runtime

_FURTHER = 3.0
"""Seconds for further inputs, if the first ones did not execute all of the change."""
_MANY, _LONG_SECONDS = 12_000, 0.3
"""Up to how many items the iterators of a longer run are compared, and the processor seconds for each call."""


@dataclass(frozen=True, slots=True)
class VersionPair:
    """The two texts of a unit, and where they are loaded.

    `texts` are those that run, `both` the same with probes, None if they cannot have any. `captured` are the objects of
    the tests that the calls use.
    """

    runtime: Runtime
    unit: str
    place: ModuleLocation
    texts: TextPair
    both: Probed | None
    captured: CapturedData

    def isolated(self) -> VersionPair | None:
        """The unit with only its dependencies; None if a text does not define it. Parses: not for an event loop."""
        before, after = (isolated_unit(text, self.unit) for text in self.texts)
        if before is None or after is None:
            return None
        texts = before, after
        place = self.place if self.captured.files else isolated_location(self.place, texts)
        return replace(self, texts=texts, place=place, both=probed(*texts, numbered=False))

    def grown(self, calls: tuple[Call, ...]) -> tuple[GrownCall, ...]:
        """Some of the calls with larger arguments. Parses: not for an event loop."""
        return grown_calls(calls, self.texts, self.unit)

    async def run(self, calls: tuple[Call, ...], grown: Sequence[GrownCall] = ()) -> HarnessReport | NotRunnable:
        """The report of the first calls, and of how the time of the `grown` ones grows."""
        return await self._report(replace(self._trial(calls), grown=tuple(grown)))

    async def run_further(self, calls: tuple[Call, ...], grown: Sequence[GrownCall] = ()) -> HarnessReport | None:
        """The report of further calls; None if there are none, or nothing could be loaded."""
        if not calls:
            return None
        return _loaded(await self._report(replace(self._trial(calls), seconds=_FURTHER, grown=tuple(grown))))

    async def run_longer(self, calls: tuple[Call, ...]) -> HarnessReport | None:
        """The report of calls with more items of their iterators; None if nothing could be loaded."""
        trial = replace(self._trial(calls), probed=(), probe="", items=_MANY, cpu=_LONG_SECONDS)
        return _loaded(await self._report(trial))

    async def run_old(self, calls: tuple[Call, ...], seconds: float | None = None) -> Mapping[int, CallOutcome] | None:
        """The outcomes of calls of the old text alone; None if it could not be loaded."""
        alone = replace(
            self._trial(calls), texts=self.texts[:1], plain=True, probed=(), probe="", seconds=seconds or _FURTHER
        )
        report = _loaded(await self._report(alone))
        return report.texts[0].outcomes if report is not None else None

    async def _report(self, trial: HarnessRun) -> HarnessReport | NotRunnable:
        return await run(self.runtime, trial, self.place.overlay)

    def _trial(self, calls: tuple[Call, ...]) -> HarnessRun:
        place, both, texts = self.place, self.both, self.texts
        return HarnessRun(
            texts, calls, self.unit, place.path, place.name, place.roots, place.warm,
            private="." in self.unit or not self.unit[:1].isupper(), reads=place.overlay is not None,
            messages=promised_messages(texts[0], self.unit), globals=changed_by(texts, self.unit),
            probed=tuple((each.text, len(each.probes)) for each in both or ()), probe=both[0].name if both else "",
            captured=self.captured, former=place.former, named=self.named,
            caught=self.caught,
        )  # fmt: skip

    @property
    def named(self) -> tuple[int | str | None, ...]:
        """The numbers, short texts and None that either text compares with, sorted: both find the same ones."""
        return compared_values(self._nodes())

    @property
    def caught(self) -> tuple[str, ...]:
        """The names of the errors that either text of the unit handles."""
        return tuple(sorted({name for node in self._nodes() for name in caught_errors(node)}))

    def _nodes(self) -> list[ast.AST]:
        modules = (known_module(text) for text in self.texts)
        subjects = (subject_of(module, self.unit) for module in modules if module)
        return [each.node for each in subjects if each is not None]


def _loaded(report: HarnessReport | NotRunnable) -> HarnessReport | None:
    is_loaded = isinstance(report, HarnessReport) and bool(report.texts) and not report.texts[0].problem
    return report if isinstance(report, HarnessReport) and is_loaded else None


def comparable(path: Path | None, texts: TextPair, runtime: Runtime, unit: str) -> str:
    """The unit, or the class that it has to be compared with: a method whose private attributes have other names."""
    return _comparable_unit(texts, unit, test_texts(path, runtime.root_of(path)))


def version_pair(
    path: Path | None, texts: TextPair, runtime: Runtime, unit: str, former: Mapping[Path, str]
) -> tuple[ComparedUnit, VersionPair]:
    """A unit of a file as it is compared, and how it runs. `former` are other files as they were.

    Parses and reads files: not for an event loop.
    """
    before, after = texts
    known = runtime.captured.get((path, before)) if path is not None else None
    of_tests = captured_inputs(known, before, after, unit) if known is not None else CapturedInputs()
    place = locate_module(path, texts, runtime, in_project=bool(of_tests.data.files))
    if place.overlay is not None:
        root = place.overlay.root
        place = replace(place, former={each.relative_to(root).as_posix(): text for each, text in former.items()})
    tests = (*([of_tests.written] if of_tests.written else []), *test_texts(path, runtime.root_of(path)))
    compared = ComparedUnit(
        texts, unit, "python", tuple((text, "python") for text in tests), of_tests.calls, of_tests.uncaptured,
        names_parts(before, unit),
    )  # fmt: skip
    return compared, VersionPair(runtime, unit, place, texts, probed(*texts), of_tests.data)


def _comparable_unit(texts: tuple[str, str], unit: str, others: Iterable[str]) -> str:
    """The unit; its class, if the unit is a method and a private attribute of that class has another name now: then
    objects are compared by their methods.

    Not if one of the `others`, texts of the project, reads that attribute.
    """
    owner, _, method = unit.partition(".")
    modules = [known_module(text) for text in texts]
    if not method or any(module is None or owner not in module.shapes for module in modules):
        return unit
    words = [set(re.findall(r"\w+", text)) for text in texts]
    gone = {name for module in modules[:1] if module for name in _private(module, owner)} - words[1]
    added = {name for module in modules[1:] if module for name in _private(module, owner)} - words[0]
    is_read = any(re.search(rf"\.{re.escape(name)}\b", text) for text in others for name in gone)
    return owner if gone and added and not is_read else unit


def _private(module: Module, owner: str) -> set[str]:
    nodes = ast.walk(module.shapes[owner].node)
    return {each.attr for each in nodes if isinstance(each, ast.Attribute) and re.match(r"_(?!_)", each.attr)}
