"""JavaScript's and TypeScript's old text against their new one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison, compared
from stet_ls.engine.judges.differential.runnable import comparison
from stet_ls.engine.judges.harness.node import run
from stet_ls.engine.judges.harness.script_place import Place, alone, exported_variables, opened, place_of
from stet_ls.engine.judges.harness.trial import Call, Impossible, Report, Trial
from stet_ls.engine.judges.inputs.repeats import with_repeats
from stet_ls.engine.judges.inputs.script.calls import calls_for
from stet_ls.engine.judges.inputs.script.examples import test_texts
from stet_ls.engine.judges.inputs.script.subject import changed_units, read_module
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Attachment

_AGAIN = """\
const earlier = {0};
if (Array.isArray(earlier)) earlier.length = 0; else if (typeof earlier?.clear === "function") earlier.clear();
"""


def changed(case: Case) -> list[str]:
    """The functions and classes that a candidate changes."""
    before, after = (read_module(each.text, case.language) for each in (case.before, case.after))
    return changed_units(before, after, case.unit) if before and after else []


async def compare(case: Case, runtime: Runtime, unit: str) -> Comparison | Impossible:
    """Old against new of one unit; where the file cannot be loaded, the unit with what it needs of it."""
    texts = case.before.text, case.after.text
    place, calls = await asyncio.to_thread(_prepare, case, runtime, unit)
    if not calls:
        return Impossible("it is nothing that could be called")
    report = await _run(case, runtime, texts, unit, calls, place)
    is_alone = False
    if isinstance(report, Report) and report.texts[0].problem:
        problem = report.texts[0].problem
        single = [await asyncio.to_thread(alone, text, case.language, unit) for text in texts]
        if single[0] is None or single[1] is None:
            return Impossible(f"the file cannot be loaded ({problem})")
        texts, is_alone = (single[0], single[1]), True
        report = await _run(case, runtime, texts, unit, calls, place)
        if isinstance(report, Impossible) or report.texts[0].problem:
            return Impossible(f"the file cannot be loaded ({problem})")
    if isinstance(report, Impossible):
        return report
    shown = (report.built[0], report.built[1]) if len(report.built) > 1 else _opened(texts, case.language)

    def runnable(name: str, title: str, calls: Sequence[Call]) -> Attachment | None:
        return comparison(name, title, shown, calls)

    return replace(compared(unit, calls, report), is_alone=is_alone, runnable=runnable)


def _prepare(case: Case, runtime: Runtime, unit: str) -> tuple[Place, tuple[Call, ...]]:
    place = place_of(case.path, (case.before.text, case.after.text), case.language, runtime)
    tests = test_texts(case.path, runtime.root_of(case.path))
    calls = calls_for(case.before.text, case.language, unit, tests)
    return place, with_repeats(calls, _AGAIN)


async def _run(
    case: Case, runtime: Runtime, texts: tuple[str, str], unit: str, calls: tuple[Call, ...], place: Place
) -> Report | Impossible:
    shown = await asyncio.to_thread(_opened, texts, case.language)
    trial = Trial(
        shown, calls, unit, place.path, place.path.stem,
        reads=place.overlay is not None, globals=_seen(texts, case.language),
    )  # fmt: skip
    return await run(runtime, trial, case.language, place.overlay)


def _opened(texts: tuple[str, str], language: str) -> tuple[str, str]:
    seen = _seen(texts, language)
    return opened(texts[0], language, seen), opened(texts[1], language, seen)


def _seen(texts: tuple[str, str], language: str) -> tuple[str, ...]:
    """The variables that both texts export."""
    both = set(exported_variables(texts[1], language))
    return tuple(name for name in exported_variables(texts[0], language) if name in both)
