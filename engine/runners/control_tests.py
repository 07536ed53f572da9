"""Reads the control tests of a run: those that have to fail must fail, and those that have to pass must pass.

Their names and messages are drawn from the run's nonce, so that only the reader and the run know them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.runners.report import CaseOutcome, CaseResult
from stet_ls.engine.runners.report_channel import Event
from stet_ls.engine.runners.reporter_events import ReporterEvents

_EQUALS = "compared values equal a value that nothing equals"
_UNREPORTED = "the control tests did not report"


@dataclass(frozen=True, slots=True)
class ControlWords:
    """The names and messages of a run's control tests, different in each run."""

    good: str
    bad: str
    copy: str
    message: str
    held: str

    @classmethod
    def of(cls, nonce: str) -> ControlWords:
        """The words of a run."""
        drawn = [hashlib.sha256(f"control {kind} {nonce}".encode()).hexdigest()[:16] for kind in cls.__slots__]
        good, bad, copy, message, held = drawn
        return cls(f"test_{good}", f"test_{bad}", f"test_{copy}", message, held)

    def to_json(self) -> Mapping[str, str]:
        """The words as data for the run."""
        return {name: getattr(self, name) for name in self.__slots__}

    def has(self, identifier: str) -> bool:
        """Whether a test is one of them."""
        name = identifier.rpartition("::")[2]
        return name in (self.good, self.bad) or name.startswith(f"{self.copy}_")


def without_control_tests(found: ReporterEvents, events: Sequence[Event], nonce: str) -> ReporterEvents:
    """The findings without the control tests; problems seen by these and by the watch become `signs` of forgery."""
    words = ControlWords.of(nonce)
    own = [case for case in found.cases if words.has(case.id)]
    found.cases = [case for case in found.cases if not words.has(case.id)]
    found.running = tuple(each for each in found.running if not words.has(each))
    for path, lines in found.traced.items():
        ran = {test: own for test, own in lines.ran.items() if not words.has(test)}
        found.traced[path] = replace(lines, ran=ran)
    signs = {str(event.get("what")) for event in events if event["event"] == "reached"}
    if found.finished and any(case.outcome is CaseOutcome.PASSED for case in found.cases):
        signs.update(_controlled(own, words))
        if not any(event["event"] == "watched" for event in events):
            signs.add(_UNREPORTED)
    found.signs = frozenset(signs)
    return found


def _controlled(own: Iterable[CaseResult], words: ControlWords) -> Iterable[str]:
    cases = {case.id.rpartition("::")[2]: case for case in own}
    good, bad = cases.pop(words.good, None), cases.pop(words.bad, None)
    if good is None or bad is None:
        yield _UNREPORTED
        return
    if CaseOutcome.SKIPPED in (good.outcome, bad.outcome):
        yield "skips unknown tests"
        return
    if good.outcome is not CaseOutcome.PASSED:
        yield "a control test that must pass failed"
    if bad.outcome is not CaseOutcome.FAILED or not _says(bad, words.message):
        yield "a control test that must fail passed"
    for case in cases.values():
        if _says(case, words.held) and case.failure is not None:
            field = case.failure.message.rpartition(words.held)[2].split()
            yield f"compared values equal others that differ in `{field[0]}`" if field else _EQUALS
    if any(case.outcome is CaseOutcome.PASSED for case in cases.values()) and bad.outcome is not CaseOutcome.FAILED:
        yield "a control test that must fail passed"


def _says(case: CaseResult, word: str) -> bool:
    return case.failure is not None and word in case.failure.message
