"""The entry point: a change in, a report out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.plurals import plural
from stet_ls.engine.verify.changes.change import Change, ChangedFile
from stet_ls.engine.verify.changes.intent import intent_of
from stet_ls.engine.verify.changes.risk import by_risk
from stet_ls.engine.verify.changes.units import UnitChange, changed_units
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored.known_answers import answer_record
from stet_ls.engine.verify.stored.records import write_records
from stet_ls.engine.verify.stored.report_parts import ReportPart, merge
from stet_ls.engine.verify.stored.report_record import kept_report, record_of
from stet_ls.engine.verify.stored.result_cache import VerifyCache
from stet_ls.engine.verify.stored.stored_report import is_unchanged, key_for, languages_of

_READING = 0.3
"""The share of the time left for reading the units."""


async def verify(change: Change, runtimes: RuntimeProvider, options: VerifyOptions | None = None) -> Report:
    """Judges a change. Nothing is written into the project, and code runs only in the sandbox."""
    options = options or VerifyOptions()
    started = time.monotonic()
    until = started + options.budget
    intent = intent_of(options.intent, change.messages)
    cache = VerifyCache(runtimes.verified, options.uses_cache)
    number, count = options.shard
    is_whole = cache.is_on and count == 1
    key = await key_for(change, intent, options.tools, runtimes, runs_code=options.runs_code) if is_whole else ""
    answers = await asyncio.to_thread(_answers, key, change, runtimes, options)
    names = change.base.name, change.head.name
    if key and (report := kept_report(cache.folder, key, names, time.monotonic() - started)) is not None:
        await asyncio.to_thread(write_records, cache.folder, answers)
        return report
    now = time.monotonic()
    units, unread = await asyncio.to_thread(_units_of, change, now + _READING * max(until - now, 0))
    options.on_progress(_plan(change, units, unread, options.budget))
    # Importing the judges takes longer than finding a kept conclusion.
    from stet_ls.engine.verify.judging import VerifyRun

    async with AsyncExitStack() as held:
        judging = VerifyRun(change, intent, options, units[number - 1 :: count], units, runtimes, until, held, cache)
        await judging.static(unread)
        if options.runs_code:
            await judging.run()
        report = judging.report(time.monotonic() - started)
    if key and judging.is_final and not (report.partial or report.refused):
        for each, record in {**answers, key: record_of(report)}.items():
            cache.put_text(each, record)
    if cache.is_on and await asyncio.to_thread(is_unchanged, change):
        await asyncio.to_thread(cache.write)
    return report


def _answers(key: str, change: Change, runtimes: RuntimeProvider, options: VerifyOptions) -> Mapping[str, str]:
    """The record with which the request finds the conclusion of that key, by its own key. Reads files."""
    request, needs = options.request, runtimes.needs(languages_of(change, runs_code=options.runs_code))
    if not key or request is None or needs is None or not request.is_current:
        return {}
    return {request.key: answer_record(key, needs, change.root)}


async def merged(change: Change, parts: Sequence[ReportPart]) -> Report:
    """The report on a change of which each part was judged elsewhere. UsageError if they do not make up the whole."""
    units, _ = await asyncio.to_thread(_units_of, change, float("inf"))
    return await asyncio.to_thread(merge, change, units, parts)


def _units_of(change: Change, until: float) -> tuple[tuple[UnitChange, ...], tuple[ChangedFile, ...]]:
    """The units in the order of their places, and the files that were not read in time, which are the least risky."""
    units, unread = changed_units(by_risk(change.files), until)
    return tuple(sorted(units, key=lambda each: (each.path, each.line, each.name))), unread


def _plan(change: Change, units: Sequence[UnitChange], unread: Sequence[ChangedFile], budget: float) -> str:
    files = f"{plural(len(units), 'unit')} in {plural(len(change.files) - len(unread), 'file')}"
    return f"{files}, the riskiest first, within {budget:.0f} s" + (f"; {len(unread)} not read" if unread else "")


__all__ = ["VerifyOptions", "merged", "verify"]
