"""Functions of JavaScript and TypeScript with one planted bug each: `tests/corpora/repairs/script.toml`."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parents[2] / "corpora/repairs/script.toml"
HALVES = ("tuning", "reporting")


@dataclass(frozen=True, slots=True)
class PlantedRepair:
    """A function whose comment shows its bug; `hidden` are further calls with their results."""

    name: str
    language: str
    unit: str
    right: str
    broken: str
    hidden: tuple[tuple[str, str], ...]

    @property
    def half(self) -> str:
        """The half that a hash of its name says: the search may be worked on with the cases of `tuning` alone."""
        return HALVES[int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % 2]


def planted_repairs() -> list[PlantedRepair]:
    """All of them. ValueError if the place of a bug does not stand in its text once."""
    found = []
    for row in tomllib.loads(_FILE.read_text())["bug"]:
        text = row["text"]
        if text.count(row["right"]) != 1:
            raise ValueError(f"{row['name']}: the place of the bug is not unique")
        unit = row.get("unit") or text.partition("function ")[2].partition("(")[0]
        broken = text.replace(row["right"], row["wrong"])
        hidden = tuple((call, want) for call, want in row["hidden"])
        found.append(PlantedRepair(row["name"], row.get("language", "javascript"), unit, text, broken, hidden))
    return found
