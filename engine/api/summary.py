"""What a job did, as data and as a sentence. The sentence is for people: no code parses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from stet_ls.engine.api.evidence import CHECKS, Check, Evidence, Ruling
from stet_ls.engine.api.metadata import Metadata

SEPARATOR = " · "

MARKS = {Ruling.PASS: "✓", Ruling.FAIL: "✗", Ruling.SKIPPED: "–", Ruling.UNKNOWN: "?"}
"""The sign of each verdict, at the start of its row."""


class Caution(StrEnum):
    """The warning on an edit that is shown although a trusted judge refuted it."""

    NONE = ""
    REFUTED = "refuted"
    NOT_EQUIVALENT = "not equivalent"


@dataclass(frozen=True, slots=True)
class Summary:
    """What was done, or why nothing is offered."""

    did: str = ""
    """What was done: "Refactored", "Wrote tests for"; "" if nothing is offered."""
    unit: str = ""
    """The changed unit, as markdown: "`add`"; "" for the document."""
    place: str = ""
    """The changed file, if it is not the document."""
    problem: str = ""
    """Why nothing is offered, a sentence; "" if something is."""
    caution: Caution = Caution.NONE
    """The warning at the start."""
    recalled: str = ""
    """The edit's history, if it comes from memory and not from a model: "from memory, kept 3 times"."""
    new_files: tuple[str, ...] = ()
    """Names of new files, if `place` is not one."""
    gains: tuple[str, ...] = ()
    """Improvements: "complexity 9 → 4, 20 → 12 lines"."""
    notes: tuple[str, ...] = ()
    """Further facts for the user, a phrase each."""

    def lead(self) -> tuple[str, ...]:
        """What must be visible even if the line is truncated: the warning, and the new files."""
        noun = "New file" if len(self.new_files) == 1 else "New files"
        made = f"{noun} {', '.join(self.new_files)}" if self.new_files else ""
        return tuple(filter(None, (self.caution.upper(), made)))

    def body(self) -> tuple[str, ...]:
        """What was done, the improvements, and whether memory did it: "Refactored `add`", "3 → 2 lines"."""
        where = f"in {self.place}" if self.place else ""
        done = (" ".join(filter(None, (self.did, self.unit, where))), *self.gains, self.recalled)
        return tuple(filter(None, done))

    def tail(self, metadata: Metadata) -> tuple[str, ...]:
        """The notes, and the remembered solutions."""
        hits = "; ".join(hit.provenance for hit in metadata.memory)
        cached = ("the model's reply is from the cache",) if metadata.cached else ()
        remembered = (f"remembered: {hits}",) if hits and not self.recalled else ()
        return (*self.notes, *cached, *remembered)


def render(summary: Summary, evidence: Iterable[Evidence], metadata: Metadata) -> str:
    """The answer in one line: "Refactored `add` · 3 → 2 lines · syntax ok · names resolve · tests not run"."""
    if summary.problem:
        return summary.problem
    parts = (*summary.lead(), *summary.body(), evidence_line(evidence), *summary.tail(metadata))
    return SEPARATOR.join(filter(None, parts))


def evidence_line(evidence: Iterable[Evidence]) -> str:
    """The evidence in one line: "syntax ok · names resolve · 0 new lint · tests not run"."""
    return SEPARATOR.join(map(phrase, shown_evidence(evidence)))


def shown_evidence(evidence: Iterable[Evidence]) -> list[Evidence]:
    """The evidence that a summary shows, failures first."""
    # Most code has no examples; if nothing was run at all, the tests say so.
    return failed_first(
        item
        for item in evidence
        if not (CHECKS[item.check].silent_pass and item.verdict is Ruling.PASS)
        and not (CHECKS[item.check].silent_skip and item.verdict is Ruling.SKIPPED)
    )


def failed_first(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Failures first, then the rest in the order in which it was judged."""
    return sorted(evidence, key=lambda item: item.verdict is not Ruling.FAIL)


def failure(item: Evidence) -> str:
    """A failed check without its detail: "tests FAILED"."""
    return f"{item.title} FAILED"


def phrase(item: Evidence) -> str:
    """A piece of evidence in a few words: "names resolve", "tests FAILED: test_add fails"."""
    if item.check is Check.REPRODUCED:
        return f"{'' if item.verdict is Ruling.PASS else 'not '}reproduced: {item.detail}"
    if item.verdict is Ruling.FAIL:
        return f"{failure(item)}: {item.detail}"
    if item.verdict is Ruling.SKIPPED:
        return CHECKS[item.check].skipped or f"{item.title} not checked"
    if item.verdict is Ruling.UNKNOWN and not CHECKS[item.check].detail_is_finding:
        return f"{item.title} unknown: {item.detail}"
    return item.detail
