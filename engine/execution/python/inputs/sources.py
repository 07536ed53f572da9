"""The sources of inputs for Python, in the order in which a comparison uses them. A new source is a row here."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from stet_ls.engine.execution.inputs.coverage_guided import MOST_GUIDED, coverage_guided_calls
from stet_ls.engine.execution.inputs.repeated_calls import REPEATED, with_repeats
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
from stet_ls.engine.execution.python.inputs.calls import calls_for, changed_literals
from stet_ls.engine.execution.python.inputs.contract import within_contract
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.generators import MOST_ITERATORS, with_first_values, with_iterators
from stet_ls.engine.execution.python.inputs.guided_changes import changed_call
from stet_ls.engine.execution.python.inputs.known_calls.captured_calls import MOST_CAPTURED
from stet_ls.engine.execution.python.inputs.known_calls.solver import solved_calls
from stet_ls.engine.execution.python.inputs.known_calls.suggested import MOST, MOST_NEAR, near, suggested_calls
from stet_ls.engine.execution.python.inputs.module_state import MOST_NEIGHBOR_CALLS, with_neighbor_calls
from stet_ls.engine.execution.python.inputs.uses.fitting import fitting
from stet_ls.engine.execution.python.inputs.uses.observed import ROWS
from stet_ls.engine.execution.python.inputs.uses.observing import calls_with_observed_uses
from stet_ls.engine.execution.python.inputs.values.looked_up_values import with_looked_up_values
from stet_ls.engine.execution.python.inputs.values.nested_values import with_nested_values
from stet_ls.engine.execution.python.inputs.values.resources.databases import MOST_DATABASES, with_databases
from stet_ls.engine.execution.python.inputs.values.resources.files import MOST_FILES, with_files
from stet_ls.engine.execution.python.inputs.values.sizes import with_sizes
from stet_ls.engine.execution.python.inputs.values.twins import with_equal_lists

_AGAIN = "earlier = {0}\nif hasattr(earlier, 'clear'): earlier.clear()\n"
"""What runs between two calls: it empties the first result."""


def _drawn(_: Calls, unit: ComparedUnit) -> Calls:
    new = changed_literals(unit.before, unit.after, unit.name)
    return calls_for(unit.before, unit.name, _tests(unit), new, unit.after)


def _with_edge_cases(calls: Calls, unit: ComparedUnit) -> Calls:
    new = changed_literals(unit.before, unit.after, unit.name)
    return with_edge_cases(calls, unit.before, unit.name, new, _tests(unit))


def _tests(unit: ComparedUnit) -> tuple[str, ...]:
    return tuple(text for text, _ in unit.tests)


def _captured(calls: Calls, unit: ComparedUnit) -> Calls:
    known = {(each.setup, each.body) for each in unit.captured}
    return (*unit.captured, *(each for each in calls if (each.setup, each.body) not in known))


async def _observed(known: InputsSoFar) -> Calls:
    """Values of the shape that a run with stand-ins shows."""
    shapes = await calls_with_observed_uses(known.pair, known.unit.name)
    running = replace(known.unit, texts=known.pair.texts)
    return await asyncio.to_thread(_completed, shapes, running)


def _completed(calls: Calls, unit: ComparedUnit) -> Calls:
    """The calls as the first ones are extended, with sizes and uses of objects."""
    for source in SOURCES:
        if isinstance(source, FirstSource) and source.for_observed:
            calls = source.extend(calls, unit)
    return calls


async def _guided(known: InputsSoFar) -> Calls:
    """Calls with the literals of the change in them."""
    calls = await asyncio.to_thread(coverage_guided_calls, known.agreed or known.calls, known.literals, changed_call)
    return within_contract(calls, known.unit.before, known.unit.name)


async def _solved(known: InputsSoFar) -> Calls:
    """What a solver finds."""
    calls = await solved_calls(known.pair.runtime, known.pair.texts, known.unit.name)
    return within_contract(calls, known.unit.before, known.unit.name)


async def _suggested(known: InputsSoFar) -> Calls:
    """The calls that a model named and the old code takes, and near misses of them."""
    before, unit = known.unit.before, known.unit.name
    if not known.suggested:
        return ()
    named = await asyncio.to_thread(suggested_calls, known.suggested, before, unit)
    words = frozenset(re.findall(r"\w+", before))
    calls = await taken(known.pair, within_contract(named, before, unit), words)
    return within_contract((*calls, *await asyncio.to_thread(near, calls, known.pair.texts, unit)), before, unit)


SOURCES: Sources = (
    FirstSource(
        "written and drawn",
        "calls in docstrings, in the file and in its tests, near misses of them, and draws from hints or uses",
        Trust.BY_ORIGIN, _drawn,
    ),
    FirstSource(
        "edge cases",
        "what the change is about (words, entries of tables, patterns), texts that the code parses, other scripts, "
        "numbers in many notations, items of mixed kinds, equal arguments, module constants",
        Trust.BY_ORIGIN, _with_edge_cases,
    ),
    FirstSource(
        "looked-up values", "a key of one argument for another that the code looks up in it", Trust.AS_BEFORE,
        lambda calls, unit: with_looked_up_values(calls, unit.texts, unit.name),
    ),
    FirstSource(
        "nested values", "containers in containers, for code that calls itself", Trust.AS_BEFORE,
        lambda calls, unit: with_nested_values(calls, unit.texts, unit.name), for_observed=True,
    ),
    FirstSource(
        "fitting kinds", "leaves out guesses of kinds that the code never meets together", Trust.AS_BEFORE,
        lambda calls, unit: fitting(calls, unit.texts, unit.name), for_observed=True,
    ),
    FirstSource(
        "sizes", "sizes and texts that the code names, 2,500 items and levels", Trust.AS_BEFORE,
        lambda calls, unit: with_sizes(calls, unit.texts, unit.name), for_observed=True,
    ),
    FirstSource(
        "equal items", "lists of items that differ in one text alone, for code that picks or sorts", Trust.AS_BEFORE,
        lambda calls, unit: with_equal_lists(calls, unit.texts, unit.name), for_observed=True,
    ),
    FirstSource(
        "documentation", "leaves out what the docstring excludes", Trust.AS_BEFORE,
        lambda calls, unit: within_contract(calls, unit.before, unit.name), for_observed=True,
    ),
    FirstSource(
        "uses of results", "objects compared, printed, entered; functions that are returned called", Trust.AS_BEFORE,
        lambda calls, unit: with_protocol(calls, unit.before, unit.name), for_observed=True,
    ),
    FirstSource(
        "files", "real files for parameters that the code opens", Trust.AS_BEFORE,
        lambda calls, unit: with_files(calls, unit.before, unit.name), MOST_FILES, for_observed=True,
    ),
    FirstSource(
        "databases", "a database in memory for a parameter on which the code runs SQL", Trust.BY_ORIGIN,
        lambda calls, unit: with_databases(calls, unit.texts, unit.name), MOST_DATABASES,
    ),
    FirstSource("captured", "calls of the project's tests", Trust.MEANT, _captured, MOST_CAPTURED),
    FirstSource(
        "secrets", "marks what looks like a secret: it runs, and is not shown", Trust.AS_BEFORE,
        lambda calls, _: secret_calls_marked(calls),
    ),
    FirstSource(
        "repeats", "some calls again, after their first result was emptied", Trust.AS_BEFORE,
        lambda calls, _: with_repeats(calls, _AGAIN), REPEATED,
    ),
    FirstSource(
        "first values", "only the first value of a generator", Trust.GUESSED,
        lambda calls, unit: with_first_values(calls, unit.before, unit.name), MOST_ITERATORS,
    ),
    FirstSource(
        "iterators", "iterators in place of lists, where any iterable is accepted", Trust.AS_BEFORE,
        lambda calls, unit: with_iterators(calls, unit.before, unit.name), MOST_ITERATORS,
    ),
    FirstSource(
        "neighbor calls", "calls after another call that changes module variables", Trust.AS_BEFORE,
        lambda calls, unit: with_neighbor_calls(calls, unit.before, unit.name), MOST_NEIGHBOR_CALLS,
    ),
    # Further sources, each where there is a need for it:
    WITHOUT_ACCIDENTS,
    FurtherSource(
        "observed",
        f"{ROWS} draws of the shape that a run of the old code with stand-ins shows, extended as the first ones",
        Need.REFUSED, Trust.INSTEAD, _observed, is_timed=True,
    ),
    FurtherSource(
        "guided", "several literals of the change at once, as values and as lengths",
        Need.UNREACHED, Trust.CONCLUSIVE, _guided, MOST_GUIDED,
    ),
    FurtherSource(
        "solved", "what CrossHair finds (extra `solver`)", Need.UNREACHED, Trust.CONCLUSIVE, _solved, 1,
    ),
    FurtherSource(
        "shapes for the rest", "draws of the observed shape, if there were none before",
        Need.UNREACHED, Trust.ADDING, _observed, ROWS, unless="observed",
    ),
    FurtherSource(
        "suggested", f"up to {MOST} example calls of the model, and near misses of them",
        Need.STARVED, Trust.REFUTING, _suggested, MOST + MOST_NEAR,
    ),
)  # fmt: skip
"""In this order."""
