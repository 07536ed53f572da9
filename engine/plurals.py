"""Counts of things in sentences."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """A count of something: "1 test", "1,200 tests"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def verb(stem: str, number: int) -> str:
    """The verb for a count: one test "passes", two "pass"."""
    return stem if number != 1 else f"{stem}es" if stem.endswith("s") else f"{stem}s"
