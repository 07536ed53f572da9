"""Which of what was found may enter a prompt: its share of tokens, whole units, no loser, nothing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.corpora.remembered import DATE, REVERSE
from support.engine import request_for

from stet_ls.engine.memory.recall import choose_hits
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.prompt.tokens import estimate

SHARE = 1500
"""Tokens of a prompt for all hits together, as docs/memory.md says."""
LONG = replace(DATE, code="def one():\n" + "    print('a line of this function')\n" * 90)
LONGER = replace(LONG, code=LONG.code.replace("one", "other"))


def enter(*found: Solution, text: str = "x = 1\n$0") -> list[str]:
    """The codes that enter the prompt of a document."""
    rows: list[dict[str, Any]] = [{**each.to_json(), "score": 0.9, "team": False} for each in found]
    return [known.text for known in choose_hits(rows, request_for("generate", text), "parse a date", "")]


def test_recalled_solutions_stay_within_their_token_share() -> None:
    assert SHARE / 2 < estimate(LONG.code) < SHARE, "one fits, and two do not"
    assert enter(LONG, LONGER, DATE) == [LONG.code, DATE.code], "what is too long makes way for what is not"


def test_a_solution_that_is_too_long_is_left_out() -> None:
    assert enter(replace(DATE, code=LONG.code + "    print('and on')\n" * 300)) == []


@pytest.mark.parametrize("code", ["x = 1\n", "    return x\n", "# def f(): ...\n"])
def test_solutions_that_are_not_whole_units_are_left_out(code: str) -> None:
    assert enter(replace(DATE, code=code), REVERSE) == [REVERSE.code]


def test_solutions_with_more_losses_than_wins_are_left_out() -> None:
    assert enter(replace(DATE, losses=2, wins=1), replace(REVERSE, losses=1, wins=1)) == [REVERSE.code]


def test_a_solution_that_the_document_contains_is_left_out() -> None:
    assert enter(DATE, REVERSE, text=f"import datetime\n\n{DATE.code}\n\n$0") == [REVERSE.code]
