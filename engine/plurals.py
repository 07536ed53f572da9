"""Counts of things in sentences."""

from __future__ import annotations

from collections.abc import Iterable


def plural(number: int, noun: str) -> str:
    """A count of something: "1 test", "1,200 tests"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def verb(stem: str, number: int) -> str:
    """The verb for a count: one test "passes", two "pass"."""
    return stem if number != 1 else f"{stem}es" if stem.endswith("s") else f"{stem}s"


def first_names(names: Iterable[str], most: int = 3) -> str:
    """The first names in their order, without the files of tests before them: "a, b, c and more"."""
    ordered = sorted(each.rpartition("::")[2] for each in names)
    return ", ".join(ordered[:most]) + (" and more" if len(ordered) > most else "")
