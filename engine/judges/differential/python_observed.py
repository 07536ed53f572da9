"""Inputs found by running the old code with doubles: for code whose parameters neither hints nor names describe."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.execution.python.inputs.examples import literals
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.uses.observed import (
    ValueUses,
    observed_calls,
    probing_calls,
    uses_of,
    wanted_texts,
)
from stet_ls.engine.execution.python.inputs.uses.written import written_uses
from stet_ls.engine.execution.python.inputs.values.files import with_files
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.sandbox.spec import Overlay

LEAST_VALID = 20
_ROUNDS = 3
"""How often the run is made, each time with the texts that the one before has wanted."""


def needs_observation(found: Comparison, text: str) -> bool:
    """Whether the inputs so far show too little: the code refuses most of them, fails on all, or reads keys in places
    that none of them executed.
    """
    if found.differences:
        return not found.differences[0].is_telling or found.differences[0].is_refused_guess
    refused = found.compared - found.valid
    return (
        found.valid < LEAST_VALID <= found.compared
        or bool(found.raised)
        or bool(found.unseen and refused > found.valid)
        or bool(_written(text, found.unit).parts)
    )


def _written(text: str, unit: str) -> ValueUses:
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return written_uses(subject) if subject is not None and subject.how == "function" else ValueUses()


async def calls_with_observed_uses(runtime: Runtime, trial: HarnessRun, overlay: Overlay | None) -> tuple[Call, ...]:
    """Calls of a trial's first text with values like those that it uses; none for a method, or if nothing was used."""
    text = trial.texts[0]
    module = await asyncio.to_thread(known_module, text)
    subject = subject_of(module, trial.target) if module else None
    if module is None or subject is None or subject.how != "function" or not subject.parameters:
        return ()
    texts: set[str] = set()
    for _ in range(_ROUNDS):
        calls = with_files(probing_calls(subject, texts), text, trial.target)
        alone = replace(trial, texts=(text,), calls=calls, plain=True, probed=(), probe="", seconds=1.0)
        report = await run(runtime, alone, overlay)
        if not isinstance(report, HarnessReport) or report.texts[0].problem:
            return ()
        outcomes = list(report.texts[0].outcomes.values())
        wanted = wanted_texts(outcomes) - texts
        texts |= wanted
        if not wanted:
            break
    uses = uses_of(outcomes, texts).merged(await asyncio.to_thread(_written, text, trial.target))
    return await asyncio.to_thread(observed_calls, module, subject, uses, tuple(literals(subject.node)))
