"""The order in which a change is judged: what can do the most harm first, in case the time is not enough for all."""

from __future__ import annotations

from collections.abc import Iterable

from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.units import UnitChange, UnitChangeKind, is_code

_LARGEST_LINE = 2_000


def by_risk(files: Iterable[ChangedFile]) -> list[ChangedFile]:
    """The files: code of the product, then tests, then the rest; those with the most changed lines first.

    Generated code, which has very long lines, comes after what people wrote.
    """
    return sorted(files, key=lambda each: (_rank(each), -_changed_lines(each), each.path))


def units_by_risk(units: Iterable[UnitChange]) -> list[UnitChange]:
    """The units: changed before removed and added ones, public before private ones, large before small ones."""
    order = [
        UnitChangeKind.CHANGED,
        UnitChangeKind.REMOVED,
        UnitChangeKind.MOVED,
        UnitChangeKind.RENAMED,
        UnitChangeKind.ADDED,
    ]
    return sorted(units, key=lambda each: (order.index(each.change), not each.is_public, -_lines(each)))


def _rank(file: ChangedFile) -> int:
    if not is_code(file):
        return 3
    longest = max(map(len, (file.after or file.before or b"").splitlines()), default=0)
    return 2 if longest > _LARGEST_LINE else 1 if is_of_tests(file.path) else 0


def _changed_lines(file: ChangedFile) -> int:
    old, new = {*(file.before or b"").splitlines()}, {*(file.after or b"").splitlines()}
    return len(old ^ new)


def _lines(unit: UnitChange) -> int:
    return sum(map(len, unit.parts or ()))
