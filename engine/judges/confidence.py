"""Combines evidence into a chance of being right, with its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stet_ls.engine.api.evidence import REASONS, Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import phrase
from stet_ls.engine.judges import calibration
from stet_ls.engine.prompt.task_spec import ModelTier

REFUTED = 0.1
"""The highest chance after a trusted judge failed the candidate."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """The `chance` from 0 to 1 that a candidate is right, its `reasons` (a phrase each), and its calibration row.

    `interval` is that of the chance, where too few such answers were counted; None where enough were, or where the
    candidate is refuted.
    """

    chance: float
    strength: EvidenceTier
    calibration: str
    reasons: tuple[str, ...]
    interval: tuple[float, float] | None = None

    def metadata(self) -> Metadata:
        """The metadata of an answer with this confidence, before its job adds to it."""
        return Metadata(
            calibration=self.calibration,
            reasons=self.reasons,
            evidence_tier=self.strength,
            confidence_interval=self.interval,
        )


def confidence(
    evidence: Sequence[Evidence], tier: ModelTier, *, action: str = "", model: str = "", truncated: bool = False
) -> Confidence:
    """The chance that the candidate is right: counted for such evidence, action and model, else a default."""
    at = calibration.strength(evidence, truncated=truncated)
    known = calibration.estimate(at, tier, model, action)
    refuted = [item for item in evidence if item.verdict is Ruling.FAIL and item.trusted]
    reasons = _reasons(evidence, refuted, at, truncated)
    if refuted:
        return Confidence(min(known.chance, REFUTED), at, known.row, reasons)
    return Confidence(
        known.chance, at, known.row, reasons, known.interval if known.row == calibration.DEFAULT else None
    )


def _reasons(
    evidence: Sequence[Evidence], refuted: Sequence[Evidence], at: EvidenceTier, truncated: bool
) -> tuple[str, ...]:
    if refuted:
        return tuple(phrase(item) for item in refuted)
    if truncated:
        return ("the reply is incomplete",)
    held = (item for item in evidence if item.verdict is Ruling.PASS or calibration.is_partly_equal(item))
    passed = {item.check: phrase(item) for item in held}
    stated = [passed[check] for check in REASONS if check in passed]
    if not stated and at is EvidenceTier.PARSED:
        stated = [*(passed[check] for check in (Check.SYNTAX, Check.NAMES) if check in passed), "not executed"]
    return tuple(stated) or ("not checked",)
