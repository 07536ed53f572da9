"""The line of a Python unit that takes most of its time, measured on enlarged inputs in the sandbox."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import Call, HarnessRun, NotRunnable
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.harness import run
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.timing import prepare_timing
from stet_ls.validators.ast_text import literal_eval

_LEAST_SHARE = 0.3
"""A line that takes less stands out from no other."""
_LEAST_MICROSECONDS = 200
_CALL = re.compile(r"__out__\((?P<call>(?!await ).+)\);?")
_MOST_CALLS = 30

# Appended to the module, so that it sees the frames of its file. A call into other code counts for the line that makes
# it. `clock_gettime` is no clock that a run pins.
_PROFILER = """


def __stet_hot__(call):
    import sys, time
    spent, own, clock = {}, sys._getframe().f_code.co_filename, time.CLOCK_THREAD_CPUTIME_ID
    at = [0, time.clock_gettime(clock)]

    def mark(line):
        now = time.clock_gettime(clock)
        spent[at[0]] = spent.get(at[0], 0.0) + now - at[1]
        at[0], at[1] = line, time.clock_gettime(clock)

    def trace(frame, event, argument):
        if frame.f_code.co_filename != own:
            return None
        above = frame.f_back
        is_back = event == "return" and above is not None and above.f_code.co_filename == own
        mark(above.f_lineno if is_back else frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    mark(0)
    return [[line, int(seconds * 1e6)] for line, seconds in sorted(spent.items()) if line]
"""


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line, from 0, and its share of the unit's time."""

    line: int
    share: float


async def hot_line(case: Case) -> HotLine | None:
    """The line of the text before that takes the most time; None if none stands out or nothing can be measured."""
    runtime = case.runtime
    if runtime is None or runtime.python is None or not for_language(case.language).times or not case.unit:
        return None
    place, calls = await asyncio.to_thread(prepare_timing, case, runtime)
    watched = tuple(_watched(calls))[-_MOST_CALLS:]
    if not watched:
        return None
    trial = HarnessRun(
        (case.before.text + _PROFILER,), watched, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, plain=True, cpu=0.5, seconds=3.0,
    )  # fmt: skip
    report = await run(runtime, trial, place.overlay)
    if isinstance(report, NotRunnable) or not report.texts:
        return None
    spent: Counter[int] = Counter()
    for outcome in report.texts[0].outcomes.values():
        if outcome.kind == "ok" and outcome.results:
            spent.update(_read(outcome.results[0]))
    within = range(1, len(case.before.text.splitlines()) + 1)
    spent = Counter({line: took for line, took in spent.items() if line in within})
    total = sum(spent.values())
    if total < _LEAST_MICROSECONDS:
        return None
    (line, took), *_ = spent.most_common(1)
    return HotLine(line - 1, took / total) if took / total >= _LEAST_SHARE else None


def _watched(calls: tuple[Call, ...]) -> Iterator[Call]:
    """The calls of one line, each within the profiler."""
    for call in calls:
        if match := _CALL.fullmatch(call.body.strip()):
            yield replace(call, body=f"__out__(__stet_hot__(lambda: {match['call']}))")


def _read(result: str) -> dict[int, int]:
    """The microseconds of each line. The text comes from the sandbox, so it may be anything."""
    try:
        pairs = literal_eval(result.replace("\x01", ""))
        return {int(line): int(took) for line, took in pairs if int(took) > 0}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {}
