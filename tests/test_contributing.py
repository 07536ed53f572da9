"""What CONTRIBUTING.md shows as examples is what stands in the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^## A ninth language$.*?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts() -> dict[str, list[str]]:
    """The lines of the example by the file that its comments name."""
    match = _BLOCK.search((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert match is not None
    found: dict[str, list[str]] = {}
    for line in match[1].splitlines():
        if line.startswith("# "):
            found[line[2:].partition(":")[0]] = []
        else:
            found[list(found)[-1]].append(line.strip())
    return found


def test_a_language_takes_at_most_twenty_lines() -> None:
    assert len(parts()) == 4
    assert sum(map(len, parts().values())) + len(parts()) <= 20


@pytest.mark.parametrize("file", list(parts()))
def test_the_rows_stand_in_their_files(file: str) -> None:
    there = [line.strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
    rows = parts()[file]
    starts = [number for number in range(len(there)) if there[number : number + len(rows)] == rows]
    assert len(starts) == 1
