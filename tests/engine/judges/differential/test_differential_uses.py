"""Kinds of rewrites that failures, chains, records, foreign kinds or what a docstring says of parameters decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.corpora.rewrites import RIGHT, WRONG, kinds
from support.judging import MakeCase

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

FILE = Path(__file__).with_name("rewrites") / "uses.txt"
KNOWN_WRONG, KNOWN_RIGHT = kinds(FILE, WRONG), kinds(FILE, RIGHT)


@pytest.mark.parametrize("kind", KNOWN_WRONG)
async def test_a_wrong_rewrite_is_not_proven(make: MakeCase, kind: str) -> None:
    rewrite = KNOWN_WRONG[kind]
    assert rewrite.after is not None, "the text has other words"
    evidence = await judge(make(rewrite.before, rewrite.after, rewrite.unit))
    assert evidence.verdict in (Ruling.FAIL, Ruling.UNKNOWN), evidence
    assert "none of which" not in evidence.detail, evidence
    assert "not compared" not in evidence.detail, evidence


@pytest.mark.parametrize("kind", KNOWN_RIGHT)
async def test_a_right_rewrite_is_proven(make: MakeCase, kind: str) -> None:
    rewrite = KNOWN_RIGHT[kind]
    assert rewrite.after is not None, "the text has other words"
    evidence = await judge(make(rewrite.before, rewrite.after, rewrite.unit))
    assert evidence.verdict is Ruling.PASS, evidence
