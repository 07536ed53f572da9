"""The score of a review. Its parts have fixed weights, and what was not measured does not count."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.actions.analysis.target_measures import COMPLEX
from stet_ls.engine.actions.reviewing.change_measures import ChangeMeasures
from stet_ls.engine.api.evidence import PROVING, Evidence, Ruling
from stet_ls.engine.api.review import ReviewFinding, ScorePart
from stet_ls.engine.api.summary import phrase
from stet_ls.engine.plurals import plural

JUDGES, FINDINGS, COVERAGE, COMPLEXITY, STYLE, COPIES, SECURITY = 40, 20, 15, 10, 5, 5, 5
_CONFIRMED, _SEVERE, _MILD = 10.0, 4.0, 1.0
SEVERE = frozenset({"bug", "risk", "security"})
"""The kinds of findings that can make code wrong; the others are matters of taste."""


def parts_of(
    judged: ScorePart, measures: ChangeMeasures, findings: Sequence[ReviewFinding], note: str
) -> tuple[ScorePart, ...]:
    """All parts; `note` says why no reviewer was asked, "" if one was."""
    return (judged, _found(findings, note), *_measured(measures))


def judged_by(evidence: Sequence[Evidence]) -> ScorePart:
    """The part of the judges: all if one that ran the code proves it, half if none refutes it."""
    refuted = next((each for each in evidence if each.verdict is Ruling.FAIL and each.trusted), None)
    proof = next(
        (each for each in evidence if each.verdict is Ruling.PASS and each.trusted and each.check in PROVING), None
    )
    if refuted is not None:
        return ScorePart("judges", JUDGES, 0.0, phrase(refuted))
    if proof is not None:
        return ScorePart("judges", JUDGES, float(JUDGES), phrase(proof))
    return ScorePart("judges", JUDGES, JUDGES / 2, "nothing refutes it, nothing that ran proves it")


def _found(findings: Sequence[ReviewFinding], note: str) -> ScorePart:
    if note:
        return ScorePart("findings", FINDINGS, None, note)
    own = [each for each in findings if each.counts]
    lost = sum(_CONFIRMED if each.confirmed else _SEVERE if each.kind in SEVERE else _MILD for each in own)
    confirmed = sum(each.confirmed for each in own)
    words = f"{plural(len(own), 'finding')}, {confirmed} confirmed by a run"
    return ScorePart("findings", FINDINGS, max(FINDINGS - lost, 0.0), words)


def _measured(measures: ChangeMeasures) -> Sequence[ScorePart]:
    reached, paths, copies = measures.reached, measures.complexity, measures.copies
    covered = isinstance(measures.coverage, str)
    above = 0 if paths is None else max(paths[1] - max(paths[0], COMPLEX), 0)
    return (
        ScorePart("coverage", COVERAGE, None, str(measures.coverage) if covered else "no statement changed")
        if reached is None
        else ScorePart(
            "coverage", COVERAGE, round(COVERAGE * reached[0] / reached[1], 1),
            "tests reach {} of {} changed statements".format(*reached),
        ),
        ScorePart("complexity", COMPLEXITY, None, "no function was counted")
        if paths is None
        else ScorePart(
            "complexity", COMPLEXITY, float(max(COMPLEXITY - above, 0)), "{} before, {} after".format(*paths)
        ),
        _fewer("style", STYLE, measures.new_lint, 1.0, "new lint finding", "no linter answered"),
        ScorePart("duplication", COPIES, None, "not measured")
        if copies is None
        else ScorePart(
            "duplication", COPIES, max(COPIES - 2.0 * max(copies[1] - copies[0], 0), 0.0),
            "{} duplicated places before, {} after".format(*copies),
        ),
        _fewer("security", SECURITY, measures.new_hazards, float(SECURITY), "new dangerous call", "no table of calls"),
    )  # fmt: skip


def _fewer(name: str, most: int, found: Sequence[object] | None, each: float, what: str, lacking: str) -> ScorePart:
    if found is None:
        return ScorePart(name, most, None, lacking)
    return ScorePart(name, most, max(most - each * len(found), 0.0), plural(len(found), what))
