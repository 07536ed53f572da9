"""The checks as rows: what each looks at, what its result means, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stet_ls.engine.api.evidence import Check


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check.

    `looks_at`: what it judges, for the line of progress ("checking: the examples").
    `skipped`: what the summary says where it did not take place; "" for "NAME not checked".
    `proves`: it ran the candidate's code, and a trusted pass of it counts as proof.
    `blocks_offer`: a candidate that fails it is never offered.
    `silent_pass`: its pass is not shown in the summary.
    `detail_is_finding`: where it cannot tell, its words say that something was found.
    `measured_anew`: a replay gets another result, because it measures the machine.
    `reason_rank`: its place among the reasons of a confidence, from 1; 0 if it is none.
    """

    check: Check
    looks_at: str
    skipped: str = ""
    proves: bool = False
    blocks_offer: bool = False
    silent_pass: bool = False
    detail_is_finding: bool = False
    measured_anew: bool = False
    reason_rank: int = 0


_ROWS = (
    CheckSpec(Check.NOOP, "what changed", blocks_offer=True, silent_pass=True),
    CheckSpec(Check.SYNTAX, "syntax", blocks_offer=True),
    CheckSpec(Check.NAMES, "names"),
    CheckSpec(Check.SIGNATURE, "signature"),
    CheckSpec(Check.LINT, "lint", detail_is_finding=True),
    CheckSpec(Check.DOCTEST, "the examples", skipped="doctests not run", proves=True, reason_rank=2),
    CheckSpec(Check.TESTS, "the project's tests", skipped="tests not run", proves=True, reason_rank=1),
    CheckSpec(Check.DIFFERENTIAL, "old against new", skipped="behaviour not compared", proves=True, reason_rank=3),
    CheckSpec(Check.MUTANTS, "mutants", skipped="tests not tried on mutants", reason_rank=5),
    CheckSpec(
        Check.TIMING, "old against new for speed", skipped="speed not measured", measured_anew=True, reason_rank=6
    ),
    CheckSpec(Check.AGREEMENT, "the samples against each other", reason_rank=4),
    CheckSpec(Check.REPRODUCED, "the failure"),
    CheckSpec(Check.DANGER, "what it does beside", silent_pass=True, detail_is_finding=True),
    CheckSpec(Check.CUSTOM, ""),
)

CHECKS: Mapping[Check, CheckSpec] = MappingProxyType({row.check: row for row in _ROWS})
"""Every check, those first whose failure says most about why a candidate was refuted."""
REASONS = tuple(row.check for row in sorted(_ROWS, key=lambda row: row.reason_rank) if row.reason_rank)
"""The checks that give a confidence its reason, in the order in which it names them."""
PROVING = frozenset(row.check for row in _ROWS if row.proves)
"""The checks that ran the candidate's code and can prove it."""
