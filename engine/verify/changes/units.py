"""The units of a change: functions, methods, classes and the code around them, each paired with its former self."""

from __future__ import annotations

import re
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from stet_ls.engine.verify.changes.change import ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.reported_unit import ReportedUnit
from stet_ls.validators import structure
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit

_SIMILAR = 0.6
"""The share of equal words above which a unit that vanished and a new one are the same: a rename."""
_MOST_PAIRS = 4_000
_LEAST_WORDS = 5
"""A shorter body says too little to be recognized."""


class Pairing(StrEnum):
    """How the old form of a unit was found."""

    NAME = "path and name"
    EQUAL = "equal body"
    SIMILAR = "similar body"
    NONE = "none"


class UnitChangeKind(StrEnum):
    """What happened to a unit."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class UnitChange:
    """A unit that differs between the trees.

    `name` is its qualified name, "" for the code outside of units; `was` its former name, with its path if that
    differs. `line` counts from 1, in the new text (in the old one if it was removed). `parts` are the lines of a
    changed unit in the old and in the new text.
    """

    file: ChangedFile
    name: str
    line: int
    change: UnitChangeKind
    pairing: Pairing
    was: str = ""
    parts: tuple[range, range] | None = None

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.file.path

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Its path and name, and the former ones if they differ."""
        path, _, name = self.was.rpartition("::")
        former = self.path if path in ("", self.file.was) else path
        return ((self.path, self.name), *([(former, name)] if self.was and self.name else []))

    @property
    def is_public(self) -> bool:
        """Whether code in other places may use it by its name."""
        return is_public_name(self.name)

    @property
    def label(self) -> str:
        """Its name for people."""
        return self.name or "module code"


def is_public_name(qualified: str) -> bool:
    """Whether a unit's name is one that code in other places may use."""
    names = qualified.split(".")
    return bool(qualified) and not any(each.startswith("_") and not each.endswith("__") for each in names)


@dataclass(frozen=True, slots=True)
class _Piece:
    file: ChangedFile
    name: str
    line: int
    text: str
    body: str
    lines: range = range(0)


def reported(unit: UnitChange) -> ReportedUnit:
    """The unit as a report holds it."""
    own = unit.parts[1] if unit.parts is not None else range(unit.line, unit.line + 1)
    edited = (at for at in _edited_lines(unit.file) if at >= unit.line and (unit.parts is None or at in own))
    return ReportedUnit(
        unit.path, unit.name, unit.line, unit.change.value, unit.pairing.value, unit.was, (own.start, own.stop - 1),
        tuple(edited), is_of_tests(unit.path),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _edited_lines(file: ChangedFile) -> tuple[int, ...]:
    """The lines of the new text, from 1, that the old one does not hold."""
    old = {*(file.text(file.before) or "").splitlines()}
    new = (file.text(file.after) or "").splitlines()
    return tuple(at for at, line in enumerate(new, 1) if line not in old)


def is_code(file: ChangedFile) -> bool:
    """Whether a file holds units: settings, data and prose do not."""
    return file.language in NODE_KINDS and None not in (file.text(file.before), file.text(file.after))


def changed_units(
    files: Sequence[ChangedFile], until: float = float("inf")
) -> tuple[tuple[UnitChange, ...], tuple[ChangedFile, ...]]:
    """The changed units of some files, in their order, and the files that were not read until then (on the clock of
    `time.monotonic`). Parses: not for an event loop.
    """
    found: list[UnitChange] = []
    gone: list[_Piece] = []
    came: list[_Piece] = []
    left: tuple[ChangedFile, ...] = ()
    for number, file in enumerate(files):
        if time.monotonic() > until:
            left = tuple(each for each in files[number:] if is_code(each))
            break
        if not is_code(file):
            continue
        old, new = _pieces(file, file.before), _pieces(file, file.after)
        if file.was != file.path and file.before == file.after:
            found.append(UnitChange(file, "", 1, UnitChangeKind.MOVED, Pairing.EQUAL, file.was))
        for key in old.keys() | new.keys():
            before, after = old.get(key), new.get(key)
            if before is not None and after is not None:
                if before.text != after.text:
                    found.append(
                        UnitChange(
                            file,
                            after.name,
                            after.line,
                            UnitChangeKind.CHANGED,
                            Pairing.NAME,
                            "",
                            (before.lines, after.lines),
                        )
                    )
            elif key[0]:
                gone += [before] if before is not None else []
                came += [after] if after is not None else []
            elif (only := after or before) is not None and only.text.strip():
                kind = UnitChangeKind.ADDED if after is not None else UnitChangeKind.REMOVED
                found.append(UnitChange(file, "", only.line, kind, Pairing.NONE))
    found += _across(gone, came)
    order = {file.path: number for number, file in enumerate(files)}
    return tuple(sorted(found, key=lambda each: (order[each.path], each.line, each.name))), left


def _across(gone: Sequence[_Piece], came: Sequence[_Piece]) -> Iterator[UnitChange]:
    """The units that vanished and those that are new, paired by their bodies."""
    left, pairs = list(gone), dict[int, tuple[_Piece, Pairing]]()
    for number, new in enumerate(came):
        same = [old for old in left if old.body == new.body and len(new.body.split()) >= _LEAST_WORDS]
        if same:
            best = next((old for old in same if old.name == new.name), same[0])
            left.remove(best)
            pairs[number] = best, Pairing.EQUAL
    if len(left) * len(came) <= _MOST_PAIRS:
        shares = ((_alike(old.body, new.body), number, old) for number, new in enumerate(came) if number not in pairs
                  for old in left if old.file.language == new.file.language)  # fmt: skip
        for share, number, old in sorted(shares, key=lambda row: -row[0]):
            if share >= _SIMILAR and number not in pairs and old in left:
                left.remove(old)
                pairs[number] = old, Pairing.SIMILAR
    for number, new in enumerate(came):
        if number not in pairs:
            yield UnitChange(new.file, new.name, new.line, UnitChangeKind.ADDED, Pairing.NONE)
            continue
        old, how = pairs[number]
        moved = old.file.path != new.file.path or old.name.rpartition(".")[0] != new.name.rpartition(".")[0]
        was = old.name if old.file.path == new.file.path else f"{old.file.was}::{old.name}"
        yield UnitChange(
            new.file, new.name, new.line, UnitChangeKind.MOVED if moved else UnitChangeKind.RENAMED, how, was
        )
    for old in left:
        yield UnitChange(old.file, old.name, old.line, UnitChangeKind.REMOVED, Pairing.NONE)


def _alike(one: str, other: str) -> float:
    first, second = Counter(re.findall(r"\w+|[^\w\s]", one)), Counter(re.findall(r"\w+|[^\w\s]", other))
    most = max(first.total(), second.total())
    return (first & second).total() / most if most >= _LEAST_WORDS else 0.0


def _pieces(file: ChangedFile, data: bytes | None) -> Mapping[tuple[str, int], _Piece]:
    """The units of a text by name and number among those of that name, and under ("", 0) the code around them."""
    text = file.text(data)
    if text is None:
        return {}
    source = Source(text)
    known = _outer(structure.units(source, file.language))
    found: dict[tuple[str, int], _Piece] = {}
    seen = Counter[str]()
    for unit in known:
        inside = [each for each in known if each is not unit and unit.span.contains(each.span)]
        own = _without(source, unit.span.start, unit.span.end, inside)
        body = textwrap.dedent(source.slice(unit.body)).strip() if unit.body else own
        line = source.line_of(unit.span.start) + 1
        lines = range(line, source.line_of(unit.span.end) + 2)
        found[unit.qualified, seen[unit.qualified]] = _Piece(file, unit.qualified, line, own, body, lines)
        seen[unit.qualified] += 1
    around = _without(source, 0, len(source.data), known)
    if data is not None:
        found["", 0] = _Piece(file, "", 1, around, around)
    return found


def _outer(units: Sequence[Unit]) -> list[Unit]:
    """The units that callers can name: what is defined within a function is part of it."""
    found: list[Unit] = []
    for unit in sorted(units, key=lambda each: (each.span.start, -each.span.end)):
        if not any(each.kind != "class" and each.span.contains(unit.span) for each in found):
            found.append(unit)
    return found


def _without(source: Source, start: int, end: int, inside: Sequence[Unit]) -> str:
    """A part of a text without units in it and without blank lines."""
    parts, at = [], start
    for unit in sorted(inside, key=lambda each: each.span.start):
        if unit.span.start >= at:
            parts.append(source.data[at : unit.span.start])
        at = max(at, unit.span.end)
    parts.append(source.data[at:end])
    text = b"\n".join(parts).decode("utf-8", "replace")
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
