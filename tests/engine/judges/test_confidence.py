"""The chance that an answer is right: by the strength of its evidence, from a table of counts, with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stet_ls.engine.api.evidence import CHECKS, Attachment, Check, Evidence, EvidenceTier, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import evidence_line
from stet_ls.engine.judges.calibration import (
    DEFAULT,
    FILE,
    HIGHEST,
    LOWEST,
    CalibrationRow,
    MeasuredChance,
    estimate,
    read,
    strength,
)
from stet_ls.engine.judges.confidence import REFUTED, confidence

PARSES = Evidence(Check.SYNTAX, Ruling.PASS, "syntax ok", trusted=True)
NAMES = Evidence(Check.NAMES, Ruling.PASS, "names resolve", trusted=True)
TESTS = Evidence(Check.TESTS, Ruling.PASS, "14 tests pass", trusted=True, count=14)
DOCTESTS = Evidence(Check.DOCTEST, Ruling.PASS, "4 doctests pass", trusted=True, count=4)
OWN_TESTS = Evidence(Check.TESTS, Ruling.PASS, "3 tests of its own pass", count=3)
EQUAL = Evidence(Check.DIFFERENTIAL, Ruling.PASS, "same behavior on 214 inputs", trusted=True, count=214)
NEARLY = Evidence(Check.DIFFERENTIAL, Ruling.PASS, "same behavior on 30 inputs", trusted=True, count=30)
AGREE = Evidence(Check.AGREEMENT, Ruling.PASS, "3 of 3 samples agree on 214 inputs")
AT_ODDS = replace(OWN_TESTS, verdict=Ruling.UNKNOWN, attachments=(Attachment.of("test_add.py", "python", "..."),))
FAILED = Evidence(Check.TESTS, Ruling.FAIL, "test_add fails: 3 == 4 is false", trusted=True, count=1)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([], EvidenceTier.UNCHECKED),
        ([NAMES], EvidenceTier.UNCHECKED),
        ([PARSES, NAMES], EvidenceTier.PARSED),
        ([PARSES, OWN_TESTS], EvidenceTier.SELF_TESTED),
        ([PARSES, AGREE], EvidenceTier.COMPARED),
        ([PARSES, NEARLY], EvidenceTier.COMPARED),
        ([PARSES, EQUAL], EvidenceTier.EQUIVALENT),
        ([PARSES, DOCTESTS], EvidenceTier.TESTED),
        ([PARSES, EQUAL, TESTS], EvidenceTier.TESTED),
        ([PARSES, OWN_TESTS, AGREE], EvidenceTier.COMPARED),
        ([PARSES, DOCTESTS, AGREE, OWN_TESTS], EvidenceTier.TESTED),
        ([PARSES, DOCTESTS, AT_ODDS], EvidenceTier.SELF_TESTED),
        ([PARSES, DOCTESTS, replace(AT_ODDS, attachments=())], EvidenceTier.TESTED),
        ([PARSES, DOCTESTS, replace(AGREE, verdict=Ruling.UNKNOWN)], EvidenceTier.SELF_TESTED),
        ([PARSES, DOCTESTS, replace(AGREE, verdict=Ruling.UNKNOWN), TESTS], EvidenceTier.TESTED),
    ],
)
def test_the_strongest_evidence_decides(evidence: list[Evidence], expected: EvidenceTier) -> None:
    assert strength(evidence) is expected
    assert strength(evidence, truncated=True) is EvidenceTier.UNCHECKED


def test_claims_are_not_evidence() -> None:
    unknown = replace(TESTS, verdict=Ruling.UNKNOWN)
    assert strength([PARSES, unknown]) is EvidenceTier.PARSED
    assert strength([PARSES, replace(EQUAL, verdict=Ruling.SKIPPED)]) is EvidenceTier.PARSED


def test_a_failing_trusted_test_caps_the_confidence_at_a_tenth() -> None:
    found = confidence([PARSES, DOCTESTS, EQUAL, FAILED], "strong")
    assert found.chance == REFUTED == 0.1
    assert found.reasons == ("tests FAILED: test_add fails: 3 == 4 is false",)
    untrusted = confidence([PARSES, DOCTESTS, replace(FAILED, trusted=False)], "strong")
    assert untrusted.chance > REFUTED


def test_the_reason_names_the_checks_that_ran() -> None:
    found = confidence([PARSES, NAMES, AGREE, DOCTESTS], "strong")
    assert found.reasons == ("4 doctests pass", "3 of 3 samples agree on 214 inputs")
    metadata = replace(found.metadata(), confidence_interval=None)
    assert metadata == Metadata(calibration=DEFAULT, reasons=found.reasons, evidence_tier=EvidenceTier.TESTED)
    assert confidence([PARSES, NAMES], "tiny").reasons == (PARSES.detail, NAMES.detail, "not executed")
    assert confidence([PARSES], "tiny").reasons == (PARSES.detail, "not executed")
    assert confidence([PARSES, DOCTESTS], "tiny", truncated=True).reasons == ("the reply is incomplete",)


def test_the_chances_of_the_shipped_table_follow_from_its_counts() -> None:
    rows = read(FILE)
    assert [row.profile for row in rows if not row.model] == ["tiny", "mid", "strong"]
    for row in rows:
        for cell in row.cells.values():
            assert 0 <= cell.right <= cell.count
            assert LOWEST <= cell.chance <= HIGHEST
            assert (cell.interval is None) == (cell.count == 0)
            if cell.measured:
                assert cell.chance == pytest.approx(cell.right / cell.count, abs=0.02)
        assert bool(row.date) == any(cell.count for cell in row.cells.values())


@pytest.mark.parametrize("profile", ["tiny", "mid", "strong"])
def test_default_chances_rise_with_the_evidence(profile: str) -> None:
    row = next(row for row in read(FILE) if row.profile == profile and not row.model)
    starts = [cell.chance for cell in row.cells.values() if not cell.measured]
    assert starts == sorted(starts)


def _row(profile: str, model: str, chances: float, count: int) -> CalibrationRow:
    cell = MeasuredChance(chances, round(chances * count), count, (0.0, 1.0) if count else None)
    return CalibrationRow(profile, model, "2026-01-01" if count else "", dict.fromkeys(EvidenceTier, cell))


def test_the_row_of_the_model_precedes_that_of_its_profile() -> None:
    rows = [_row("tiny", "", 0.3, 0), _row("mid", "", 0.5, 100), _row("mid", "qwen:7b", 0.6, 50)]

    def chance(profile: str, model: str) -> tuple[float, str]:
        found = estimate(EvidenceTier.PARSED, profile, model, rows=rows)
        return found.chance, found.row

    assert chance("mid", "Qwen:7B") == (0.6, "qwen:7b")
    assert chance("mid", "llama:8b") == (0.5, "mid")
    assert chance("tiny", "qwen:1b") == (0.3, DEFAULT)
    assert chance("unheard of", "x") == (0.3, DEFAULT)


def test_few_cases_move_the_default_and_leave_a_wide_interval() -> None:
    rows = [_row("tiny", "", 0.35, 0), _row("tiny", "qwen:1b", 0.35, 0)]
    none = estimate(EvidenceTier.PARSED, "tiny", "qwen:1b", rows=rows)
    assert none.chance == pytest.approx(0.35)
    assert none.interval[1] - none.interval[0] > 0.5
    few = dict(rows[1].cells) | {EvidenceTier.PARSED: MeasuredChance(0.35, 3, 18, (0.06, 0.39))}
    some = estimate(EvidenceTier.PARSED, "tiny", "qwen:1b", rows=[rows[0], replace(rows[1], cells=few)])
    assert some.row == DEFAULT
    assert some.chance == pytest.approx((3 + 4 * 0.35) / 22)
    assert some.interval[0] < 0.1 < some.chance < 0.4 < some.interval[1] < 0.5


def test_an_estimate_is_shown_as_its_interval_and_a_count_as_its_share() -> None:
    estimated = confidence([PARSES, NAMES], "tiny")
    low, high = estimated.interval or (0, 0)
    assert high - low > 0.3
    assert low < estimated.chance < high
    assert confidence([PARSES, DOCTESTS], "tiny").interval is None, "29 of 33 were counted"
    assert confidence([PARSES, FAILED], "tiny").interval is None, "it is refuted"


def test_no_confidence_is_zero_or_one() -> None:
    sure, hopeless = _row("tiny", "", 1.0, 500), _row("mid", "", 0.0, 500)
    assert estimate(EvidenceTier.TESTED, "tiny", "", rows=[sure]).chance == HIGHEST
    assert estimate(EvidenceTier.UNCHECKED, "mid", "", rows=[hopeless]).chance == LOWEST


def test_every_check_has_a_row() -> None:
    assert set(CHECKS) == set(Check)


def test_the_reason_names_tests_before_examples_before_comparisons() -> None:
    reasons = confidence([PARSES, EQUAL, DOCTESTS, TESTS], "mid").reasons
    assert reasons == (TESTS.detail, DOCTESTS.detail, EQUAL.detail)


@pytest.mark.parametrize(
    ("check", "verdict", "reported"),
    [
        (Check.NOOP, Ruling.PASS, ""),
        (Check.DANGER, Ruling.PASS, ""),
        (Check.NAMES, Ruling.PASS, "what it says"),
        (Check.DANGER, Ruling.UNKNOWN, "what it says"),
        (Check.LINT, Ruling.UNKNOWN, "what it says"),
        (Check.NAMES, Ruling.UNKNOWN, "names unknown: what it says"),
        (Check.NOOP, Ruling.FAIL, "change FAILED: what it says"),
        (Check.TESTS, Ruling.SKIPPED, "tests not run"),
        (Check.NAMES, Ruling.SKIPPED, "names not checked"),
    ],
)
def test_a_summary_describes_a_check(check: Check, verdict: Ruling, reported: str) -> None:
    assert evidence_line([Evidence(check, verdict, "what it says")]) == reported
