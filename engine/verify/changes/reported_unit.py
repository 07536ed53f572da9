"""A changed unit as a report holds it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReportedUnit:
    """A changed unit without the texts that it is in: `reported` in `units.py` makes it.

    `change` and `pairing` are the values of their enumerations. `lines` are its first and last one in the new text,
    `edited_lines` those of them that the old file does not hold: a review shows nothing elsewhere.
    """

    path: str
    name: str
    line: int
    change: str
    pairing: str
    was: str = ""
    lines: tuple[int, int] = (1, 1)
    edited_lines: tuple[int, ...] = ()
    of_tests: bool = False

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name or "module code"

    @property
    def is_there(self) -> bool:
        """Whether the new text holds it."""
        return self.change != "removed"
