"""The lines of a file that tests executed, by a report in the workspace or a run just made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.metrics.coverage_reports import CoveragePiece, CoverageQuery, Reader, candidates
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source

LARGEST = 16_000_000
"""Maximum size in bytes of a report."""
_LARGEST_SOURCE = 8_000_000


@dataclass(frozen=True, slots=True)
class CoverageBranch:
    """One way on from the condition in `line` (from 0), to the line `to` if that is known; `hit`: a test took it."""

    line: int
    to: int | None
    hit: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of one file. `stale` says why it may not fit the current text, "" if it fits.

    `source` is the name of the report, or says which tests ran just now (`has_run`), which gives `branches` too.
    """

    source: str
    pieces: tuple[CoveragePiece, ...]
    stale: str = ""
    branches: tuple[CoverageBranch, ...] = ()
    has_run: bool = False

    def untaken(self, lines: range) -> tuple[CoverageBranch, ...]:
        """The branches from some lines that no test took."""
        return tuple(each for each in self.branches if each.line in lines and not each.hit)

    def count(self, lines: range) -> tuple[int, int]:
        """The number of executed statements in some lines, and the number of all."""
        inside = [piece for piece in self.pieces if piece.first in lines]
        return sum(piece.weight for piece in inside if piece.hit), sum(piece.weight for piece in inside)

    def missed(self, lines: range) -> tuple[range, ...]:
        """The ranges of lines that no test executed; lines between two of them that hold no code join them."""
        state: dict[int, bool] = {}
        for piece in self.pieces:
            for line in range(max(piece.first, lines.start), min(piece.last + 1, lines.stop)):
                state[line] = state.get(line, True) and piece.hit
        runs: list[range] = []
        open_run: list[int] = []
        for line in sorted(state):
            if not state[line]:
                open_run.append(line)
            elif open_run:
                runs.append(range(open_run[0], open_run[-1] + 1))
                open_run = []
        return (*runs, range(open_run[0], open_run[-1] + 1)) if open_run else tuple(runs)


def find_coverage(source: Source, path: Path, folders: Sequence[Path], *, deadline: float = 2.0) -> Coverage | str:
    """The coverage of a file by the nearest report that names it, the newest of one folder first.

    `folders`: the file's own and those above it, nearest first. A sentence if there is none, with what is there
    instead. `source` is the current text; the report was made from the file on disk.
    """
    end = time.monotonic() + deadline
    path = path.absolute()
    others: list[str] = []
    for folder in folders:
        for report, reader, stamp in _by_age(candidates(folder.absolute())):
            if time.monotonic() > end:
                return "Coverage: the reports here could not be read in time."
            try:
                data = read_regular(report, most=LARGEST)
            except OSError as error:
                others.append(f"{report.name}: {error.strerror}")
                continue
            pieces = reader(
                data, CoverageQuery(path, tuple(each.absolute() for each in folders), folder.absolute(), end)
            )
            if pieces is None:
                others.append(f"{report.name} does not name this file")
                continue
            return Coverage(report.name, pieces, _stale(source, path, stamp, pieces))
    if others:
        return f"Coverage: {'; '.join(others[:3])}."
    if any((folder / ".coverage").is_file() for folder in folders):
        return "Coverage: `.coverage` is there; `coverage json` makes a report of it that can be read."
    return "Coverage: no report in the workspace."


def _by_age(places: Iterable[tuple[Path, Reader]]) -> list[tuple[Path, Reader, float]]:
    there = []
    for report, reader in places:
        try:
            there.append((report, reader, report.stat().st_mtime))
        except (OSError, ValueError):
            continue
    return sorted(there, key=lambda item: -item[2])


def _stale(source: Source, path: Path, stamp: float, pieces: Iterable[CoveragePiece]) -> str:
    try:
        if path.stat().st_mtime > stamp:
            return "the file was changed after the tests ran"
        if read_regular(path, most=_LARGEST_SOURCE) != source.data:
            return "the text has changes that are not saved"
    except OSError:
        return "the file is not on the disk"
    if any(piece.last >= source.line_count for piece in pieces):
        return "it lists lines that do not exist"
    return ""
