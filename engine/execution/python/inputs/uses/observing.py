"""Inputs found by running the old code with doubles: for code whose parameters neither hints nor names describe."""

from __future__ import annotations

import asyncio

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.sources import VersionRunner
from stet_ls.engine.execution.python.inputs.calls import new_literals
from stet_ls.engine.execution.python.inputs.examples import literals, normalized_texts
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.uses.observed import (
    ValueUses,
    observed_calls,
    probing_calls,
    uses_of,
    wanted_texts,
)
from stet_ls.engine.execution.python.inputs.uses.written import written_uses
from stet_ls.engine.execution.python.inputs.values.resources.files import with_files

_ROUNDS = 3
"""How often the run is made, each time with the texts that the one before has wanted."""
_SECONDS = 1.0
"""For each of these runs."""


def names_parts(text: str, unit: str) -> bool:
    """Whether a function names keys, items or attributes of its arguments."""
    return bool(_written(text, unit).parts)


def _written(text: str, unit: str) -> ValueUses:
    module = known_module(text)
    subject = subject_of(module, unit) if module else None
    return written_uses(subject) if subject is not None and subject.how == "function" else ValueUses()


async def calls_with_observed_uses(pair: VersionRunner, unit: str) -> tuple[Call, ...]:
    """Calls of a unit's old text with values like those that it uses; none for a method, or if nothing was used."""
    text = pair.texts[0]
    module = await asyncio.to_thread(known_module, text)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None or subject.how != "function" or not subject.parameters:
        return ()
    texts: set[str] = set()
    for _ in range(_ROUNDS):
        found = await pair.run_old(with_files(probing_calls(subject, texts), text, unit), _SECONDS)
        if found is None:
            return ()
        outcomes = list(found.values())
        wanted = wanted_texts(outcomes) - texts
        texts |= wanted
        if not wanted:
            break
    uses = uses_of(outcomes, texts).merged(await asyncio.to_thread(_written, text, unit))
    new = await asyncio.to_thread(new_literals, *pair.texts[:2], unit)
    return await asyncio.to_thread(
        observed_calls, module, subject, uses, (*new, *normalized_texts(subject.node), *literals(subject.node))
    )
