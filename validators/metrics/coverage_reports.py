"""Reports of coverage tools, read for one source file: JSON of coverage.py and Istanbul, lcov, Go profiles, XML.

A report is part of a project, so it is as untrusted as the project: nothing in it is expanded, followed or run, and a
file of unknown format is ignored.
"""

from __future__ import annotations

import json
import os.path
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.source import occurrences

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class CoveragePiece:
    """Some lines (from 0, both ends included) that were executed or not. `weight` is their number of statements."""

    first: int
    last: int
    hit: bool
    weight: int = 1


@dataclass(frozen=True, slots=True)
class CoverageQuery:
    """The source file whose coverage is requested. `folders` are its own and those above it, up to the workspace's.

    `home` is the report's project folder. `end` is the deadline of reading, by the monotonic clock.
    """

    path: Path
    folders: tuple[Path, ...] = ()
    home: Path = Path()
    end: float = field(default_factory=lambda: time.monotonic() + 2.0)

    def rank(self, name: str, *sources: str) -> int:
        """How well a name in a report matches: 0 for another file, most for the same path. `sources`: its folders."""
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not parts or parts[-1] != self.path.name:
            return 0
        meant = [_plain(base / name) for base in (*map(Path, sources), self.home)]
        if self.path in meant:
            return _EXACT
        if any(_is_file(place) for place in meant):
            return 0
        if any(_plain(folder / name) == self.path for folder in self.folders):
            return _EXACT
        # Go writes the module's name before the path in it; JaCoCo and Cobertura leave source folders out.
        same, _ = common_ends(parts[::-1], self.path.parts[::-1])
        below = max((len(self.path.relative_to(folder).parts) for folder in self.folders), default=0)
        return same if same >= 2 and (same == len(parts) or same >= below) else 0


_EXACT = 1000


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except (OSError, ValueError):
        return False


Reader = Callable[[bytes, CoverageQuery], "tuple[CoveragePiece, ...] | None"]


def read_json(data: bytes, wanted: CoverageQuery) -> tuple[CoveragePiece, ...] | None:
    """coverage.py's `coverage json`, Istanbul's coverage-final.json. Only the requested file's object is decoded."""
    text = data.decode("utf-8", "replace")
    best, rank = None, 0
    for at in occurrences(text, json.dumps(wanted.path.name)[1:-1] + '"'):
        end = text.index('"', at)
        opening = _OBJECT.match(text, end)
        start = text.rfind('"', max(0, at - _LONGEST_NAME), at)
        fits = wanted.rank(text[start + 1 : end].replace("\\\\", "\\")) if opening and start >= 0 else 0
        if opening is None or fits <= rank:
            continue
        try:
            value, _ = json.JSONDecoder().raw_decode(text, opening.end())
        except (ValueError, RecursionError):
            continue
        pieces = _coverage_py(value) if "executed_lines" in value else _istanbul(value)
        if pieces is not None:
            best, rank = pieces, fits
    return best


_OBJECT = re.compile(r'"\s*:\s*(?={)')
_LONGEST_NAME = 4000


def _coverage_py(value: Mapping[str, Any]) -> tuple[CoveragePiece, ...] | None:
    hit, missed = value.get("executed_lines"), value.get("missing_lines")
    if not isinstance(hit, list) or not isinstance(missed, list):
        return None
    lines = [(line, True) for line in hit] + [(line, False) for line in missed]
    return tuple(CoveragePiece(line - 1, line - 1, run) for line, run in lines if isinstance(line, int) and line > 0)


def _istanbul(value: Mapping[str, Any]) -> tuple[CoveragePiece, ...] | None:
    places, counts = value.get("statementMap"), value.get("s")
    if not isinstance(places, dict) or not isinstance(counts, dict):
        return None
    pieces = []
    for number, place in places.items():
        try:
            first, last = place["start"]["line"], place["end"]["line"]
            pieces.append(CoveragePiece(int(first) - 1, max(int(last), int(first)) - 1, counts[number] > 0))
        except (KeyError, TypeError, ValueError):
            continue
    return tuple(pieces)


def read_lcov(data: bytes, wanted: CoverageQuery) -> tuple[CoveragePiece, ...] | None:
    """lcov's tracefile: SF, then DA:line,count. Several records of one file (one per test) add up."""
    best, hits = 0, dict[int, bool]()
    for at in occurrences(data, wanted.path.name.encode()):
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[start : end if end >= 0 else None]
        fits = wanted.rank(line[3:].strip().decode("utf-8", "replace")) if line.startswith(b"SF:") else 0
        if not fits or fits < best or end < 0:
            continue
        if fits > best:
            best, hits = fits, {}
        stop = data.find(b"end_of_record", end)
        for row, count in _DA.findall(data[end : stop if stop >= 0 else None]):
            hits[int(row) - 1] = hits.get(int(row) - 1, False) or int(count) > 0
    return _lines(hits) if best else None


_DA = re.compile(rb"^DA:(\d{1,9}),(\d{1,18})", re.MULTILINE)


def read_go(data: bytes, wanted: CoverageQuery) -> tuple[CoveragePiece, ...] | None:
    """A Go profile: blocks of statements, each with its number of statements and of runs. A block may occur twice."""
    if not data.startswith(b"mode:"):
        return None
    found: dict[bytes, dict[tuple[bytes, ...], bool]] = {}
    name = wanted.path.name.encode()
    for at in occurrences(data, name + b":"):
        block = _BLOCK.match(data, at + len(name))
        if block is None:
            continue
        blocks = found.setdefault(data[data.rfind(b"\n", 0, at) + 1 : at + len(name)], {})
        where = block.groups()[:5]
        blocks[where] = blocks.get(where, False) or int(block[6]) > 0
    ranked = {file: wanted.rank(file.decode("utf-8", "replace")) for file in found}
    best = max(ranked, key=lambda file: ranked[file], default=None)
    if best is None or not ranked[best]:
        return None
    return tuple(
        CoveragePiece(int(first) - 1, max(int(first), int(last)) - 1, hit, int(statements))
        for (first, _, last, _, statements), hit in found[best].items()
    )


_BLOCK = re.compile(rb":(\d{1,9})\.(\d{1,9}),(\d{1,9})\.(\d{1,9}) (\d{1,9}) (\d{1,18})")


def read_xml(data: bytes, wanted: CoverageQuery) -> tuple[CoveragePiece, ...] | None:
    """Cobertura, JaCoCo and Clover: a file's element, with one element per line."""
    reader = _Xml(wanted)
    try:
        for start in range(0, len(data), _CHUNK):
            if time.monotonic() > wanted.end:
                return None
            reader.feed(data[start : start + _CHUNK])
    except (expat.ExpatError, ValueError):
        return None
    return _lines(reader.hits) if reader.best else None


class _Xml:
    """Handles the elements of a report. Entities are refused at their declaration, so that nothing can expand."""

    def __init__(self, wanted: CoverageQuery) -> None:
        self.best, self.hits = 0, dict[int, bool]()
        self._wanted = wanted
        self._sources: list[str] = []
        self._package, self._inside, self._text = "", False, ""
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse

    def feed(self, data: bytes) -> None:
        self._parser.Parse(data, False)

    def _refuse(self, *_: object) -> None:
        raise ValueError("a coverage report declares no entities")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._text = ""
        if tag == "package":
            self._package = attributes.get("name", "")
        elif tag == "class" and "filename" in attributes:  # Cobertura
            self._open(attributes["filename"])
        elif tag == "sourcefile":  # JaCoCo
            self._open(f"{self._package}/{attributes.get('name', '')}".lstrip("/"))
        elif tag == "file":  # Clover
            self._open(attributes.get("path") or attributes.get("name", ""))
        elif tag == "line" and self._inside:
            number = attributes.get("number") or attributes.get("nr") or attributes.get("num") or ""
            count = attributes.get("hits") or attributes.get("ci") or attributes.get("count") or ""
            if number.isdecimal() and count.isdecimal() and len(number) < 10 and len(count) < 20:
                line = int(number) - 1
                self.hits[line] = self.hits.get(line, False) or int(count) > 0

    def _open(self, name: str) -> None:
        fits = self._wanted.rank(name, *self._sources)
        self._inside = fits > 0 and fits >= self.best
        if self._inside and fits > self.best:
            self.best, self.hits = fits, {}

    def _characters(self, text: str) -> None:
        if len(self._text) < 4000:
            self._text += text

    def _end(self, tag: str) -> None:
        if tag in ("class", "sourcefile", "file"):
            self._inside = False
        elif tag == "source" and len(self._sources) < 20:
            self._sources.append(self._text.strip())


def _lines(hits: Mapping[int, bool]) -> tuple[CoveragePiece, ...]:
    return tuple(CoveragePiece(line, line, hit) for line, hit in sorted(hits.items()) if line >= 0)


READERS: Mapping[str, Reader] = {
    "coverage.json": read_json,
    "coverage/coverage-final.json": read_json,
    "coverage.xml": read_xml,
    "coverage/cobertura-coverage.xml": read_xml,
    "coverage/clover.xml": read_xml,
    "cobertura.xml": read_xml,
    "coverage.cobertura.xml": read_xml,
    "target/site/jacoco/jacoco.xml": read_xml,
    "build/reports/jacoco/test/jacocoTestReport.xml": read_xml,
    "lcov.info": read_lcov,
    "coverage/lcov.info": read_lcov,
    "coverage.lcov": read_lcov,
    "cover.out": read_go,
    "coverage.out": read_go,
    "c.out": read_go,
}
"""The paths of tools' reports, relative to a folder above the source, and their readers."""


def candidates(folder: Path) -> Iterator[tuple[Path, Reader]]:
    """The possible reports in one folder."""
    for name, reader in READERS.items():
        yield folder / name, reader
