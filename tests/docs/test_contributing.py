"""What CONTRIBUTING.md shows as examples works: applied to a copy of the project, their cases pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import how_to

NEW = {
    "A new action": (2, ()),
    "A new check": (2, ()),
    "A new runner": (2, ()),
    "A new source of inputs": (2, ()),
    "A language at full depth": (4, ("A new runner",)),
}
"""The examples that add something, by heading: how many of the product's files each takes, and what it builds on."""


@pytest.mark.parametrize("section", NEW)
def test_an_example_works_as_shown(section: str, tmp_path: Path) -> None:
    most, earlier = NEW[section]
    found = how_to.parts(section)
    cases = [part.path for part in found if part.path.startswith("tests/")]
    assert cases, "an example shows its own test"
    assert len({part.path for part in found} - set(cases)) <= most

    folder = how_to.copy(tmp_path / "copy")
    for part in (*(each for name in earlier for each in how_to.parts(name)), *found):
        how_to.apply(part, folder)

    ran = how_to.run_tests(folder, *cases)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if "code cannot run here" in ran.stdout or "no sandbox works" in ran.stdout:
        pytest.skip("the example runs code, and no sandbox works on this machine")
    assert "skipped" not in ran.stdout


LANGUAGE = "A new language"


def test_the_rows_of_a_language_stand_in_their_files(tmp_path: Path) -> None:
    """And without them the language's own case fails: nothing else makes it known."""
    found = how_to.parts(LANGUAGE)
    rows = [part for part in found if not part.path.startswith("tests/")]
    assert all(part.is_there for part in found)
    assert len({part.path for part in rows}) == len(rows) == 2, "one file a room"
    assert sum(len(part.lines) for part in found) + len(found) <= 20

    case = ("tests/validators/syntax/test_syntax.py", "-k", "shellscript")
    folder = how_to.copy(tmp_path / "copy")
    assert how_to.run_tests(folder, *case).returncode == 0
    for part in rows:
        how_to.remove(part, folder)
    ran = how_to.run_tests(folder, *case)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "failed" in ran.stdout
