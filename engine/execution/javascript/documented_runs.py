"""Runs the documented calls of a JavaScript or TypeScript unit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from stet_ls.engine.execution.harness_run import CallOutcome, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.javascript.harness import run
from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import (
    DocumentedCall,
    documented_calls,
    stated_calls,
)
from stet_ls.engine.execution.javascript.module_location import locate_script, with_exposed_names
from stet_ls.engine.execution.javascript.probes import probed
from stet_ls.engine.execution.runtime import Runtime

_CPU = 0.5
"""Seconds for a call: it should end."""


def examples_for(text: str, language: str, unit: str, stated: str) -> tuple[DocumentedCall, ...]:
    """The documented calls of a unit, and those `stated` elsewhere. Parses: not for an event loop."""
    found = (*stated_calls(stated, unit), *(each for each in documented_calls(text, language, unit) if each.certain))
    return tuple({each.source: each for each in reversed(found)}.values())[::-1]


async def outcomes(
    runtime: Runtime, text: str, language: str, path: Path | None, examples: Sequence[DocumentedCall]
) -> Mapping[int, CallOutcome] | NotRunnable:
    """The outcome of each call, by its number; a call that does not end has none."""
    report = await _ran(runtime, (text,), language, path, examples)
    if isinstance(report, NotRunnable):
        return report
    problem = report.texts[0].problem
    return NotRunnable(f"cannot load the file ({problem})") if problem else report.texts[0].outcomes


async def unreached(
    runtime: Runtime, before: str, after: str, language: str, path: Path | None, examples: Sequence[DocumentedCall]
) -> int | None:
    """How many of the places that a change touches no call executes; None if unknown."""
    both = await asyncio.to_thread(probed, before, after, language)
    if both is None:
        return None
    noting = (await asyncio.to_thread(with_exposed_names, both[1].text, language), len(both[1].probes))
    report = await _ran(runtime, (after, after), language, path, examples, (noting, noting), both[1].name)
    # Both sides are the same text, which may be loaded once.
    return len(report.unseen[0]) if isinstance(report, HarnessReport) and report.unseen is not None else None


async def _ran(
    runtime: Runtime,
    texts: tuple[str, ...],
    language: str,
    path: Path | None,
    examples: Sequence[DocumentedCall],
    probes: tuple[tuple[str, int], ...] = (),
    probe: str = "",
) -> HarnessReport | NotRunnable:
    place = await asyncio.to_thread(locate_script, path, texts, language, runtime)
    shown = await asyncio.to_thread(lambda: tuple(with_exposed_names(text, language) for text in texts))
    trial = HarnessRun(
        shown, tuple(each.call for each in examples), "", place.path, place.path.stem,
        reads=place.overlay is not None, cpu=_CPU, probed=probes, probe=probe,
    )  # fmt: skip
    return await run(runtime, trial, language, place.overlay)
