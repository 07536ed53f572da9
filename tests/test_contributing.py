"""What CONTRIBUTING.md shows as examples works: applied to a copy of the project, their cases pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import how_to

NEW = {"A new judge": 2, "A new runner": 2}
"""The examples that add something, by heading, and how many of the product's files each takes."""


@pytest.mark.parametrize("section", NEW)
def test_an_example_works_as_shown(section: str, tmp_path: Path) -> None:
    found = how_to.parts(section)
    cases = [part.path for part in found if part.path.startswith("tests/")]
    assert cases, "an example shows its own test"
    assert len({part.path for part in found} - set(cases)) <= NEW[section]

    folder = how_to.copy(tmp_path / "copy")
    for part in found:
        how_to.apply(part, folder)

    ran = how_to.run_tests(folder, *cases)
    assert ran.returncode == 0, ran.stdout + ran.stderr


LANGUAGE = "A ninth language"


def test_the_rows_of_a_language_stand_in_their_files(tmp_path: Path) -> None:
    """And without them the language's own case fails: nothing else makes it known."""
    found = how_to.parts(LANGUAGE)
    rows = [part for part in found if not part.path.startswith("tests/")]
    assert all(part.is_there for part in found)
    assert len({part.path for part in rows}) == len(rows) == 3, "one file a room"
    assert sum(len(part.lines) for part in found) + len(found) <= 20

    case = ("tests/validators/test_syntax.py", "-k", "shellscript")
    folder = how_to.copy(tmp_path / "copy")
    assert how_to.run_tests(folder, *case).returncode == 0
    for part in rows:
        how_to.remove(part, folder)
    ran = how_to.run_tests(folder, *case)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "failed" in ran.stdout
