"""`stet review` on the command line; what it finds is tested in `tests/engine/review`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.command import Stet
from support.repository import Repository


@pytest.mark.parametrize(
    ("words", "says"), [(("HEAD..nowhere",), "unknown revision `nowhere`"), (("--fail-on", "taste"), "invalid choice")]
)
def test_usage_errors(stet: Stet, folder: Path, words: tuple[str, ...], says: str) -> None:
    Repository.new(folder).commit({"a.py": "x = 1\n"})
    ran = stet("review", *words)
    assert (ran.status, says in ran.err) == (2, True), ran
