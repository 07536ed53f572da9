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
