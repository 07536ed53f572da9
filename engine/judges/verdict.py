"""What the evidence adds up to: a chance of being right, and the line that the user reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stet_ls.engine.models import Check, Evidence, Ruling

Tier = Literal["tiny", "mid", "strong"]

# The chance that a single reply is right which parses, whose names resolve and which adds no lint, by class of model.
# Start values, marked as such in the answer's metadata ("calibration": "default") until they are measured.
_PLAUSIBLE: dict[Tier, float] = {"tiny": 0.35, "mid": 0.55, "strong": 0.75}
_UNJUDGED = 0.2
_REFUTED = 0.1
# What running it adds: start values too (engine facts, section 3: tiers E4 and E5).
_RUN = 0.9
_SHOWN_BY_RUNNING = (Check.DIFFERENTIAL, Check.DOCTEST, Check.TESTS)

_SKIPPED = {
    Check.DOCTEST: "doctests not run",
    Check.TESTS: "tests not run",
    Check.DIFFERENTIAL: "behaviour not compared",
    Check.MUTANTS: "tests not tried on mutants",
    Check.TIMING: "speed not measured",
}
"""What is said of a check that did not take place; the others were "not checked"."""
_UNREAD = (Check.NOOP, Check.DANGER)
"""Checks that a reader need not see when they pass."""
_TELLING = (Check.LINT, Check.DANGER)
"""Checks whose words say that something was found, not that nothing could be told."""


def confidence(evidence: Sequence[Evidence], tier: Tier, *, truncated: bool = False) -> float:
    """The chance from 0 to 1 that the candidate is right, from the tier of evidence it reached."""
    verdicts = {item.check: item.verdict for item in evidence}
    if any(item.verdict is Ruling.FAIL and item.trusted for item in evidence):
        return _REFUTED
    if truncated or verdicts.get(Check.SYNTAX) is not Ruling.PASS:
        return _UNJUDGED
    if any(item.verdict is Ruling.PASS and item.trusted and item.check in _SHOWN_BY_RUNNING for item in evidence):
        return _RUN
    return _PLAUSIBLE[tier]


def summary(evidence: Sequence[Evidence]) -> str:
    """The evidence in one line: "syntax ok · names resolve · 0 new lint · tests not run"."""
    shown = [
        item
        for item in evidence
        if not (item.check in _UNREAD and item.verdict is Ruling.PASS)
        # Most code has no examples; where nothing was run at all, the tests say so.
        and not (item.check is Check.DOCTEST and item.verdict is Ruling.SKIPPED)
    ]
    return " · ".join(_phrase(item) for item in shown)


def _phrase(item: Evidence) -> str:
    if item.verdict is Ruling.FAIL:
        return f"{item.check} FAILED: {item.detail}"
    if item.verdict is Ruling.SKIPPED:
        return _SKIPPED.get(item.check, f"{item.check} not checked")
    if item.verdict is Ruling.UNKNOWN and item.check not in _TELLING:
        return f"{item.check} unknown: {item.detail}"
    return item.detail
