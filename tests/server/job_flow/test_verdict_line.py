"""The line above a diff: the refutation, else what is proven, else why the user is asked."""

from __future__ import annotations

import pytest

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.server.job_flow.diff_offer import verdict_line

UNSEEN = "differential unknown: none of 7 inputs ran line 3"


@pytest.mark.parametrize(
    ("known", "asked", "line"),
    [
        (("2 tests pass",), (), "✓ 2 tests pass · 90 %"),
        (("2 tests pass",), (UNSEEN,), f"✓ 2 tests pass · 90 % · ? {UNSEEN}"),
        (("2 tests pass", UNSEEN), (UNSEEN,), f"✓ 2 tests pass · 90 % · ? {UNSEEN}"),
        ((UNSEEN,), (UNSEEN,), f"90 % · ? {UNSEEN}"),
        ((), (UNSEEN,), f"? {UNSEEN}"),
    ],
)
def test_each_fact_stands_once_and_only_what_is_known_is_ticked(
    known: tuple[str, ...], asked: tuple[str, ...], line: str
) -> None:
    metadata = Metadata(reasons=known)
    assert verdict_line(Answer(True, "refactor", "python", Summary(), metadata=metadata, confidence=0.9), asked) == line


def test_a_refutation_stands_alone() -> None:
    evidence = (Evidence(Check.DIFFERENTIAL, Ruling.FAIL, "`f(1)` was: 1, now: 2", trusted=True),)
    answer = Answer(True, "refactor", "python", Summary(), metadata=Metadata(reasons=("a",)), evidence=evidence)
    assert verdict_line(answer, ("a",)) == "✗ changes behavior: `f(1)` was: 1, now: 2"
