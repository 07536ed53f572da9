"""The sources of inputs for JavaScript and TypeScript, in the order in which a comparison uses them.

A new source is a row here.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from functools import partial

from stet_ls.engine.execution.inputs.coverage_guided import MOST_GUIDED, coverage_guided_calls
from stet_ls.engine.execution.inputs.repeated_calls import REPEATED, with_repeats
from stet_ls.engine.execution.inputs.rows import GUESSED
from stet_ls.engine.execution.inputs.secret_calls import secret_calls_marked
from stet_ls.engine.execution.inputs.sources import (
    WITHOUT_ACCIDENTS,
    Calls,
    ComparedUnit,
    FirstSource,
    FurtherSource,
    InputsSoFar,
    Need,
    Sources,
    Trust,
    taken,
)
from stet_ls.engine.execution.javascript.inputs.calls import calls_for, fixed_parameters, new_constants
from stet_ls.engine.execution.javascript.inputs.constants import large_numbers
from stet_ls.engine.execution.javascript.inputs.contract import of_declared_kinds, within_contract
from stet_ls.engine.execution.javascript.inputs.depth import with_deep_calls
from stet_ls.engine.execution.javascript.inputs.guided_changes import ASKS_KINDS, changed_call
from stet_ls.engine.execution.javascript.inputs.known_calls.captured_calls import MOST_CAPTURED
from stet_ls.engine.execution.javascript.inputs.known_calls.suggested import MOST, suggested_calls

_AGAIN = """\
const earlier = {0};
if (Array.isArray(earlier)) earlier.length = 0; else if (typeof earlier?.clear === "function") earlier.clear();
"""
"""What runs between two calls: it empties the first result."""


def _drawn(_: Calls, unit: ComparedUnit) -> Calls:
    new = new_constants(unit.before, unit.after, unit.language, unit.name)
    besides = (*new, *large_numbers(unit.before, unit.after))
    return calls_for(unit.before, unit.language, unit.name, unit.tests, besides)


async def _guided(known: InputsSoFar) -> Calls:
    """Calls with the literals of the change in them."""
    fixed = await asyncio.to_thread(fixed_parameters, known.pair.texts[0], known.unit.language, known.unit.name)
    is_open = any(ASKS_KINDS.search(each.text) for each in known.unseen)
    is_typed = known.unit.language.startswith("typescript")
    change = partial(changed_call, is_open=is_open, fixed=fixed, keeps_keys=is_typed)
    calls = await asyncio.to_thread(coverage_guided_calls, known.calls, known.literals, change)
    read = known.unit.before, known.unit.language, known.unit.name
    return of_declared_kinds(within_contract(calls, *read), *read)


async def _suggested(known: InputsSoFar) -> Calls:
    """The calls that a model named and the old code takes, and near misses of them."""
    before, language, unit = known.unit.before, known.unit.language, known.unit.name
    if not known.suggested:
        return ()
    named = await asyncio.to_thread(suggested_calls, known.suggested, before, language, unit)
    words = frozenset(re.findall(r"\w+", known.pair.texts[0]))
    calls = await taken(known.pair, within_contract(named, before, language, unit), words)
    change = partial(changed_call, is_open=False)
    near = await asyncio.to_thread(coverage_guided_calls, calls, known.literals, change)
    return within_contract((*calls, *(replace(each, origin=GUESSED) for each in near)), before, language, unit)


SOURCES: Sources = (
    FirstSource(
        "written and drawn",
        "calls in comments, in the file and in its tests, near misses of them, and draws from types, JSDoc or uses",
        Trust.BY_ORIGIN, _drawn,
    ),
    FirstSource(
        "depth", "15,000 items and levels, for code that became recursive", Trust.GUESSED,
        lambda calls, unit: with_deep_calls(calls, unit.texts, unit.language, unit.name),
    ),
    FirstSource(
        "documentation", "leaves out what the doc comment or a declared type excludes", Trust.AS_BEFORE,
        lambda calls, unit: of_declared_kinds(
            within_contract(calls, unit.before, unit.language, unit.name), unit.before, unit.language, unit.name
        ),
    ),
    FirstSource(
        "captured", "calls of the project's tests", Trust.MEANT,
        lambda calls, unit: (*unit.captured, *calls), MOST_CAPTURED,
    ),
    FirstSource(
        "secrets", "marks what looks like a secret: it runs, and is not shown", Trust.AS_BEFORE,
        lambda calls, _: secret_calls_marked(calls),
    ),
    FirstSource(
        "repeats", "some calls again, after their first result was emptied", Trust.AS_BEFORE,
        lambda calls, _: with_repeats(calls, _AGAIN), REPEATED,
    ),
    # Further sources, each where there is a need for it:
    WITHOUT_ACCIDENTS,
    FurtherSource(
        "guided", "several literals of the change at once, as values and as lengths",
        Need.UNREACHED, Trust.CONCLUSIVE, _guided, MOST_GUIDED,
    ),
    FurtherSource(
        "suggested", f"up to {MOST} example calls of the model, and near misses of them",
        Need.STARVED, Trust.REFUTING, _suggested, MOST + MOST_GUIDED,
    ),
)  # fmt: skip
"""In this order."""
