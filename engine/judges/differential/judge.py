"""Runs old and new on the same inputs, and reports the first on which they differ."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Check, Evidence, MissingInputs, Ruling
from stet_ls.engine.execution.harness_run import ITEMS, NotRunnable
from stet_ls.engine.execution.inputs.rows import DOUBLE
from stet_ls.engine.execution.probe import Probe, in_order
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import TOO_LARGE, Case
from stet_ls.engine.judges.differential.comparison import LEAST_VALID, Comparison
from stet_ls.engine.judges.differential.difference import Difference
from stet_ls.engine.judges.differential.language_table import COMPARERS
from stet_ls.engine.judges.differential.through_callers import compared_units
from stet_ls.engine.plurals import plural
from stet_ls.validators.languages import row_for

_MOST_UNITS = 3
_WITH_DOUBLES, _OLD_FAILS = "with stand-ins for the objects passed in", "where the old code fails"
_SAME_FORM = "the same code in another form"
_OUTSIDE = "only on inputs outside the inferred types"


async def judge(case: Case) -> Evidence:
    """Fails on a counter-example. Passes on enough valid inputs without one; otherwise says what was not possible."""
    comparer = row_for(COMPARERS, case.language, None)
    if comparer is None:
        return _skipped(f"behavior comparison does not support {case.language} yet")
    if case.runtime is None:
        return _skipped("no code ran")
    if case.is_too_large_to_run:
        return _skipped(f"not compared: {TOO_LARGE}")
    changed = await asyncio.to_thread(comparer.changed, case)
    units = list(dict.fromkeys([case.unit, *changed])) if case.unit else changed
    if not units:
        return _skipped("the change affects no callable function or class")
    done: list[Comparison] = []
    for unit in units[:_MOST_UNITS]:
        found = await compared_units(comparer, case, case.runtime, unit)
        if isinstance(found, NotRunnable):
            return Evidence(Check.DIFFERENTIAL, Ruling.UNKNOWN, f"`{unit}` not compared: {found.reason}")
        done.extend(found)
    if len(units) > _MOST_UNITS:
        rest = f"{len(units) - _MOST_UNITS} of {len(units)} changed units not compared, including `{units[-1]}`"
        evidence = _evidence(done, case.runtime)
        return evidence if evidence.verdict is Ruling.FAIL else _ruled(Ruling.UNKNOWN, rest)
    evidence = _evidence(done, case.runtime)
    starved = next((each.unit for each in done if each.is_starved), "") if evidence.verdict is Ruling.UNKNOWN else ""
    missing = None
    if starved and not case.suggested and (code := await asyncio.to_thread(comparer.shown, case, starved)):
        missing = MissingInputs(starved, code)
    attachments = tuple(file for each in done for file in each.attachments())
    return replace(evidence, attachments=attachments, missing=missing)


async def judge_unit(case: Case, unit: str) -> Evidence:
    """As `judge`, for one unit of both texts alone."""
    comparer = row_for(COMPARERS, case.language, None)
    if comparer is None:
        return _skipped(f"behavior comparison does not support {case.language} yet")
    if case.runtime is None or case.is_too_large_to_run:
        return _skipped("no code ran" if case.runtime is None else f"not compared: {TOO_LARGE}")
    found = await compared_units(comparer, case, case.runtime, unit)
    if isinstance(found, NotRunnable):
        return _ruled(Ruling.UNKNOWN, f"`{unit}` not compared: {found.reason}")
    evidence, first = _evidence(found, case.runtime), found[0]
    return replace(
        evidence, attachments=tuple(file for each in found for file in each.attachments()),
        count=evidence.count or first.compared, differing=len(first.differences),
        for_tests_alone=first.differs_for_tests_alone,
    )  # fmt: skip


def _evidence(done: Sequence[Comparison], runtime: Runtime) -> Evidence:
    if different := next((each for each in done if each.differences), None):
        return _different(different.unit, different.differences[0], runtime)
    if more := next((each.uncompared for each in done if each.uncompared), ""):
        inputs = sum(each.compared for each in done if each.valid)
        summary = f"same behavior on {inputs} inputs, but " if inputs else ""
        return _ruled(Ruling.UNKNOWN, summary + more, trusted=True)
    return _alike(done, runtime)


def _different(unit: str, first: Difference, runtime: Runtime) -> Evidence:
    if excuse := runtime.excuse(first.new.lacks):
        # Trusted, so that the user is asked: the old code could be run, and the new code's behavior is unknown.
        return _ruled(Ruling.UNKNOWN, f"`{unit}` not compared: {excuse}", trusted=True)
    if not first.call.body and first.new.kind == "reached":
        return _ruled(Ruling.FAIL, f"besides its result, {first.new.message}", trusted=True)
    if not first.call.body and first.new.kind == "late":
        return _ruled(Ruling.UNKNOWN, f"cannot load the new code: {first.new.message}", trusted=True)
    if not first.call.body:
        return _ruled(Ruling.FAIL, f"cannot load the new code: {first.new.message}", trusted=True)
    if first.is_conclusive:
        return _ruled(Ruling.FAIL, str(first), trusted=True)
    # Trusted, so that the user is asked: whether the difference matters depends on the code's purpose.
    if first.is_other_function:
        return _ruled(Ruling.UNKNOWN, f"`{unit}` returns another function or pattern: {first}", trusted=True)
    if first.is_direct:
        where = f"only if `{unit}` is called directly, not through what calls it"
        return _ruled(Ruling.UNKNOWN, f"behavior differs {where}: {first}", trusted=True)
    if first.is_in_rare_letters and not first.fixes:
        return _ruled(Ruling.UNKNOWN, f"behavior differs only on rare letters and digits: {first}", trusted=True)
    where = _WITH_DOUBLES if first.call.origin == DOUBLE else _OLD_FAILS if first.fixes else _OUTSIDE
    return _ruled(Ruling.UNKNOWN, f"behavior differs {where}: {first}", trusted=True)


def _alike(done: Sequence[Comparison], runtime: Runtime) -> Evidence:
    """What follows from no difference."""
    weakest = _weakest(done)
    unclear = _unclear(done, runtime)
    if unclear and (why := _unclear([each for each in done if not each.is_same_form], runtime)):
        return _ruled(Ruling.UNKNOWN, why)
    inputs = sum(each.compared for each in done)
    valid = sum(each.valid for each in done)
    summary = f"same behavior on {inputs} input{'' if inputs == 1 else 's'}"
    summary += _origins(done, f"{valid} of them valid" if valid < inputs else "") + _reserve(done)
    if why := _why_unproven(done):
        return replace(_ruled(Ruling.UNKNOWN, summary + why), count=weakest.valid)
    if unclear:
        summary = f"{_SAME_FORM}; {summary}" if inputs else _SAME_FORM
    # An answer is only as certain as its least compared unit.
    return replace(_ruled(Ruling.PASS, summary, trusted=True), count=weakest.valid)


def _unclear(done: Sequence[Comparison], runtime: Runtime) -> str:
    """Why the results of some units are too weak to say that they behave alike; "" if they are not."""
    if not done:
        return ""
    weakest = _weakest(done)
    if weakest.opaque:
        return f"what `{weakest.unit}` returns cannot be compared"
    if failing := next((each for each in done if each.raised), None):
        if excuse := next(filter(None, map(runtime.excuse, sorted(failing.lacks))), ""):
            return f"`{failing.unit}` not compared: {excuse}"
        errors = " or ".join(failing.raised)
        return f"`{failing.unit}` raises {errors} on all {failing.valid} inputs, before and after"
    if _is_small(weakest):
        return ""
    if weakest.fails_on_most:
        few = f"{weakest.succeeded} of {weakest.compared} inputs of `{weakest.unit}` ended without an error"
        return f"only {few}"
    return _too_few(weakest) if weakest.valid < LEAST_VALID else ""


def _weakest(done: Sequence[Comparison]) -> Comparison:
    """The comparison that shows least: by its valid inputs, as far as they are few, and those without an error."""
    return min(done, key=lambda each: (min(each.valid, LEAST_VALID), each.succeeded, each.valid))


def _origins(done: Sequence[Comparison], valid: str) -> str:
    """How many inputs are valid, and which come from the tests or from a model."""
    captured = sum(each.captured for each in done)
    uncaptured = Counter[str]()
    for each in done:
        uncaptured.update(each.uncaptured)
    of_tests = f"{captured} captured from tests" if captured else ""
    suggested = sum(each.suggested for each in done)
    of_model = f"{suggested} suggested by the model" if suggested else ""
    lost = f"{plural(uncaptured.total(), 'call')} of tests not copied: {', '.join(sorted(uncaptured))}"
    summary = ", ".join(filter(None, (valid, of_tests, of_model, lost if uncaptured else "")))
    return f" ({summary})" if summary else ""


def _reserve(done: Sequence[Comparison]) -> str:
    """The limits of the equality."""
    exceptions = [
        *(["rounding"] if any(each.rounded for each in done) else []),
        *(["the order of keys"] if any(each.reordered for each in done) else []),
        *(["which error is raised where both fail"] if any(each.failing for each in done) else []),
        *sorted({excuse for each in done for excuse in each.excuses}),
    ]
    return "".join(
        (
            f", except for {' and '.join(exceptions)}" if exceptions else "",
            f", for iterators the first {ITEMS:,} items" if any(each.partial for each in done) else "",
            ", with stand-ins for the objects passed in" if any(map(_has_doubles, done)) else "",
            ", without the rest of its file" if any(each.is_alone for each in done) else "",
        )
    )


def _has_doubles(each: Comparison) -> bool:
    return any(call.origin == DOUBLE for call in each.calls)


def _why_unproven(done: Sequence[Comparison]) -> str:
    """Why equal results prove nothing: sharing differs, no input executed all of the change, or only those of a model.

    Who wrote the code names calls on which it is right: these only refute.
    """
    if sharing := next((each.sharing[0] for each in done if each.sharing), None):
        return f", but shares objects differently: {sharing}"
    if all(each.is_same_form for each in done):
        return ""
    # Of units that change together, one may execute what another did not.
    left = frozenset.intersection(*(each.unseen for each in done))
    if left:
        return f", none of which {_first(left)}"
    return ", but only inputs that the model suggested execute the change" if any(e.suggested for e in done) else ""


def _first(unseen: Collection[Probe]) -> str:
    """The places that no input executed, the most significant first."""
    first, *others = in_order(unseen)
    more = len({(each.line, each.is_old) for each in others} - {(first.line, first.is_old)})
    return f"{first} ({more} more such)" if more else str(first)


def _is_small(each: Comparison) -> bool:
    """Whether the unit has only one input, as without parameters."""
    whole = each.valid == each.compared and not each.left_out and not each.missing
    return 0 < each.compared < 4 and whole


def _too_few(each: Comparison) -> str:
    if each.missing:
        return f"out of time after {each.compared} of {each.compared + each.missing} inputs of `{each.unit}`"
    if each.left_out:
        reason = max(each.left_out, key=lambda why: each.left_out[why])
        return f"`{each.unit}` not compared: {reason}"
    return f"only {each.valid} of {each.compared} inputs were valid for `{each.unit}`"


def _ruled(verdict: Ruling, detail: str, *, trusted: bool = False) -> Evidence:
    return Evidence(Check.DIFFERENTIAL, verdict, detail, trusted=trusted)


def _skipped(reason: str) -> Evidence:
    return Evidence(Check.DIFFERENTIAL, Ruling.SKIPPED, reason)
