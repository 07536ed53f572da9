"""Combines a reporter's events: one case for each test, one error for each file without any."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from stet_ls.engine.runners.captured_calls import CapturedCalls, captured_calls
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import (
    AssertComparison,
    CaseFailure,
    CaseOutcome,
    CaseResult,
    CollectionError,
    Frame,
    FrameOrigin,
    Phase,
    RunCoverage,
    SuiteOutcome,
    TracedLines,
)
from stet_ls.engine.runners.report_channel import FOLDER, Event
from stet_ls.validators.test_files import is_test_file

_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules", "vendor", FOLDER, ".venv", "venv", ".cargo"})


@dataclass(slots=True)
class ReporterEvents:
    """A reporter's events. `known` are the ids it collected; `finished` is True if it reached its end.

    `exit` is the status it meant to end with; `broken` is why the runner itself failed; `absent` names a program or
    module that the runner needs and the sandbox lacks; `stopped` is TIMEOUT or LIMIT if a part of the run was stopped.
    `traced` are the lines that ran of each traced file. `signs` are signs of a forged report. `captured` are the calls
    of each file whose calls were requested.
    """

    cases: list[CaseResult] = field(default_factory=list)
    collection: list[CollectionError] = field(default_factory=list)
    known: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    finished: bool = False
    exit: int = 0
    broken: str = ""
    absent: str = ""
    coverage: RunCoverage | None = None
    stopped: SuiteOutcome | None = None
    traced: dict[str, TracedLines] = field(default_factory=dict)
    signs: frozenset[str] = frozenset()
    captured: Mapping[str, CapturedCalls] = field(default_factory=dict)


def case_results(events: Iterable[Event], plan: TestPlan) -> ReporterEvents:
    """The events `start`, `raised`, `phase`, `end` of each test, and those about the whole run, as findings."""
    events = tuple(events)
    found = ReporterEvents(captured=captured_calls(events))
    open_: dict[str, _Open] = {}
    for event in events:
        kind, identifier = event["event"], str(event.get("id", ""))
        if kind in ("start", "raised", "phase"):
            case = open_.setdefault(identifier, _Open(identifier))
            case.take(event, plan)
        elif kind == "end" and identifier in open_:
            found.cases.append(open_.pop(identifier).close(_number(event.get("seconds"))))
        elif kind == "forget":
            open_.pop(identifier, None)
        elif kind != "ran":
            _whole(event, found, plan)
    found.traced = _traced([event for event in events if event["event"] == "ran"])
    found.running = tuple(open_)
    found.cases += [case.died() for case in open_.values()]
    return found


def _whole(event: Event, found: ReporterEvents, plan: TestPlan) -> None:
    match event["event"]:
        case "collected":
            found.known = tuple(str(each) for each in event.get("ids", ()))
        case "uncollected":
            failure = failure_of(event.get("failure"), Phase.COLLECT, plan)
            found.collection.append(CollectionError(inside(str(event.get("path", "")), plan), failure))
        case "broken":
            failure = failure_of(event.get("failure"), Phase.COLLECT, plan)
            found.broken = f"{failure.type}: {failure.message}" if failure.type else failure.message
        case "missing":
            found.absent = str(event.get("program", ""))
        case "done":
            found.finished, found.exit = True, int(_number(event.get("exit")))
        case "coverage":
            found.coverage = _coverage(event)


class _Open:
    """A test that started, with the reports of its phases so far."""

    def __init__(self, identifier: str) -> None:
        self.id = identifier
        self.outcome: CaseOutcome | None = None
        self.failure: CaseFailure | None = None
        self.stdout = ""
        self.reason = ""
        self._raised: Event = {}

    def take(self, event: Event, plan: TestPlan) -> None:
        if event["event"] == "raised":
            self._raised = event
        elif event["event"] == "phase":
            self.stdout = str(event.get("stdout", "")) or self.stdout
            self.reason = str(event.get("reason", "")) or self.reason
            self._phase(event, plan)

    def _phase(self, event: Event, plan: TestPlan) -> None:
        when = _phase(event.get("phase"))
        expected = event.get("expected_failure")
        match event.get("outcome"):
            case "failed":
                worse = self.outcome is not CaseOutcome.FAILED
                if worse:
                    self.outcome = CaseOutcome.FAILED if when is Phase.CALL else CaseOutcome.ERROR
                    raised = self._raised if self._raised.get("phase") == when.value else {}
                    self.failure = failure_of(raised.get("failure") or event.get("failure"), when, plan)
            case "skipped" if self.outcome in (None, CaseOutcome.PASSED):
                self.outcome = CaseOutcome.SKIPPED if expected is None else CaseOutcome.XFAILED
                self.reason = str(expected or "") or self.reason
            case "passed" if when is Phase.CALL and self.outcome is None:
                self.outcome = CaseOutcome.PASSED if expected is None else CaseOutcome.XPASSED

    def close(self, seconds: float) -> CaseResult:
        outcome = self.outcome or CaseOutcome.NOT_RUN
        return CaseResult(self.id, outcome, round(seconds, 6), self.failure, self.stdout, self.reason)

    def died(self) -> CaseResult:
        if self.outcome is CaseOutcome.FAILED:
            return self.close(0.0)
        failure = CaseFailure("ProcessDied", "the process exited while this test ran", Phase.CALL)
        return CaseResult(self.id, CaseOutcome.ERROR, 0.0, failure, self.stdout)


def failure_of(data: Any, phase: Phase, plan: TestPlan) -> CaseFailure:
    """The failure in an event; fields that the event lacks are empty."""
    data = data if isinstance(data, dict) else {}
    compared = data.get("comparison")
    place = data.get("place")
    return CaseFailure(
        type=str(data.get("type", "")),
        message=str(data.get("message", "")),
        phase=phase,
        mro=tuple(str(each) for each in data.get("mro", ())),
        comparison=_comparison(compared) if isinstance(compared, dict) else None,
        frames=tuple(_frame(each, plan) for each in data.get("frames", ()) if isinstance(each, dict)),
        module=str(data.get("module", "")),
        place=(inside(str(place[0]), plan), int(_number(place[1])), int(_number(place[2]))) if place else None,
    )


def _comparison(data: dict[str, Any]) -> AssertComparison:
    names = ("operator", "left", "right")
    return AssertComparison(*(str(data.get(name, "")) for name in names))


def _frame(data: dict[str, Any], plan: TestPlan) -> Frame:
    return frame_at(
        str(data.get("path", "")),
        int(_number(data.get("line"))),
        str(data.get("function", "")),
        plan,
        tuple((str(name), str(value)) for name, value in data.get("locals", ())),
        str(data.get("code", "")),
    )


def frame_at(
    path: str, line: int, function: str, plan: TestPlan, names: tuple[tuple[str, str], ...] = (), code: str = ""
) -> Frame:  # fmt: skip
    """A stack frame with its origin, derived from its path."""
    return Frame(inside(path, plan), line, function, origin(path, plan), names, code)


def inside(path: str, plan: TestPlan) -> str:
    """The path relative to the working folder, if it is inside."""
    path = path.removeprefix("file://")
    return os.path.relpath(path, plan.root) if path.startswith(f"{plan.root}/") else path


def origin(path: str, plan: TestPlan) -> FrameOrigin:
    """The owner of a path: the tests, the project, or other code."""
    own = inside(path, plan)
    pure = PurePosixPath(own)
    if not own or pure.is_absolute() or own.startswith(("..", "<", "node:")) or _FOREIGN.intersection(pure.parts):
        return FrameOrigin.LIBRARY
    is_test = own in plan.tests or pure.name == "conftest.py" or is_test_file(own)
    return FrameOrigin.TEST if is_test else FrameOrigin.PROJECT


def _coverage(event: Event) -> RunCoverage:
    def lines(table: Any) -> dict[str, tuple[int, ...]]:
        return {str(path): tuple(numbers) for path, numbers in table.items()} if isinstance(table, dict) else {}

    def branches(table: Any) -> dict[str, tuple[tuple[int, int], ...]]:
        rows = table.items() if isinstance(table, dict) else ()
        return {str(path): tuple((int(line), int(to)) for line, to in arcs) for path, arcs in rows}

    return RunCoverage(
        lines(event.get("lines")), lines(event.get("missing")),
        branches(event.get("taken")), branches(event.get("untaken")), str(event.get("why_not", "")),
    )  # fmt: skip


def _traced(events: Iterable[Event]) -> dict[str, TracedLines]:
    """The lines of each file by test; a file is missing once an event does not know all of its lines."""
    ran: dict[str, dict[str, frozenset[int]]] = {}
    loaded: dict[str, frozenset[int]] = {}
    unknown: set[str] = set()
    for event in events:
        path, test = str(event.get("path", "")), str(event.get("id", ""))
        own = ran.setdefault(path, {})
        own[test] = own.get(test, frozenset()) | _lines(event.get("lines"))
        loaded[path] = loaded.get(path, frozenset()) | _lines(event.get("top"))
        unknown |= set() if event.get("whole") is True else {path}
    return {path: TracedLines(own, loaded[path]) for path, own in ran.items() if path not in unknown}


def _lines(value: Any) -> frozenset[int]:
    return frozenset(int(_number(each)) for each in value) if isinstance(value, list) else frozenset()


def _phase(value: Any) -> Phase:
    try:
        return Phase(value)
    except ValueError:
        return Phase.CALL


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
