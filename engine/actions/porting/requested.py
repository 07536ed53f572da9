"""Whether a request asks to port a module, by rule: "port prices.js to Python", "convert this module to Python"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stet_ls.engine.actions.porting.language_table import SOURCES, TARGETS, PortSource, PortTarget
from stet_ls.engine.api.request import Request

_SOURCE = "|".join(re.escape(row.title) for row in SOURCES.values())
_TARGETS = {row.title.lower(): language for language, row in TARGETS.items()}
_ASKS = re.compile(
    rf"^\s*(?:please\s+)?(?:port|translate|convert|rewrite|migrate)\s+(?P<what>[^\n]*?)\s+(?:from\s+(?:{_SOURCE})\s+)?"
    rf"(?:to|into|in|as)\s+(?P<target>{'|'.join(map(re.escape, _TARGETS))})\b(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"it|this|(?:(?:this|the|my|whole|all)\s+)*(?:(?:{_SOURCE})\s+)?(?:module|file|code|script)", re.IGNORECASE
)
_BY_SUFFIX = {suffix: language for language, row in SOURCES.items() for suffix in row.suffixes}
_FILE = re.compile(rf"[\w./-]+(?:{'|'.join(map(re.escape, _BY_SUFFIX))})\b")


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A module to port, the module that it becomes, and the file of its tests, None if there is none; absolute."""

    source: Path
    target: Path
    tests: Path | None
    source_language: str
    target_language: str

    @property
    def source_row(self) -> PortSource:
        """What is known of the module's language."""
        return SOURCES[self.source_language]

    @property
    def target_row(self) -> PortTarget:
        """What is known of the port's language."""
        return TARGETS[self.target_language]

    @property
    def target_tests(self) -> Path:
        """The file of the ported tests."""
        return self.target.with_name(self.target_row.tests.format(name=self.target.name))


def port_request(request: Request, goal: str) -> PortRequest | None:
    """What is to be ported; None for any other request. Looks at the disk: not for an event loop."""
    asked = _ASKS.match(goal)
    if asked is None or request.path is None:
        return None
    own = request.path.absolute()
    root = request.workspace.root_of(own) or own.parent
    named = _FILE.search(asked["what"])
    if named is None:
        source = own if own.suffix in _BY_SUFFIX and _WHOLE.fullmatch(asked["what"]) else None
    else:
        places = (root / named[0], own.parent / named[0])
        source = next((place for place in places if place.is_file() and place.resolve().is_relative_to(root)), None)
    if source is None:
        return None
    language, target_language = _BY_SUFFIX[source.suffix], _TARGETS[asked["target"].lower()]
    row = TARGETS[target_language]
    new = re.search(rf"\b(?:as|to|into|in)\s+`?(?P<name>[\w./-]+{re.escape(row.suffix)})\b", asked["rest"])
    target = source.with_name(f"{row.module_name(source.stem)}{row.suffix}")
    if new is not None:
        target = (root if "/" in new["name"] else source.parent) / PurePosixPath(new["name"])
    tests = (source.parent / each.format(stem=source.stem, suffix=source.suffix) for each in SOURCES[language].tests)
    found = next((each.resolve() for each in tests if each.is_file()), None)
    return PortRequest(source, target, found, language, target_language)
