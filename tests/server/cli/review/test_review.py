"""`stet review` on the command line; what it finds is tested in `tests/engine/review`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.repository import Repository
from support.servers.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("words", "says"), [(("HEAD..nowhere",), "unknown revision `nowhere`"), (("--fail-on", "taste"), "invalid choice")]
)
def test_usage_errors(stet: Stet, folder: Path, words: tuple[str, ...], says: str) -> None:
    Repository.new(folder).commit({"a.py": "x = 1\n"})
    ran = stet("review", *words)
    assert (ran.status, says in ran.err) == (2, True), ran


def test_a_confirmed_finding_of_the_reviewer_fails_the_command(
    stet: Stet, folder: Path, scripted: ScriptedModel
) -> None:
    scripted.default = "- `return 1 / n` | bug | inverse(0) raises ZeroDivisionError\n"
    repository = Repository.new(folder)
    repository.commit({"a.py": "def inverse(n):\n    return 1 / n if n else 0\n"})
    repository.write({"a.py": "def inverse(n):\n    return 1 / n\n"})
    ran = stet("review", "--fail-on", "confirmed")
    if "1 confirmed" not in ran.out:
        pytest.skip(f"code cannot run here: {ran}")
    assert ran.status == 1
    assert "a.py:2 bug confirmed: inverse(0) raises" in ran.out
    asked = len(scripted.requests)
    alone = stet("review", "--no-model", "--json")
    assert (alone.status, json.loads(alone.out)["schema"]) == (0, "stet.review/1")
    assert len(scripted.requests) == asked
