"""Whether a request asks to port a module, by rule: "port prices.js to Python", "convert this module to Python"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from stet_ls.engine.api.request import Request

_ASKS = re.compile(
    r"^\s*(?:please\s+)?(?:port|translate|convert|rewrite|migrate)\s+(?P<what>[^\n]*?)\s+(?:from\s+javascript\s+)?"
    r"(?:to|into|in|as)\s+python\b(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"it|this|(?:(?:this|the|my|whole|all)\s+)*(?:javascript\s+)?(?:module|file|code|script)", re.IGNORECASE
)
_FILE = re.compile(r"[\w./-]+\.(?:js|mjs|cjs)\b")
_TARGET = re.compile(r"\b(?:as|to|into|in)\s+`?(?P<name>[\w./-]+\.py)\b")
_SUFFIXES = (".js", ".mjs", ".cjs")
_TESTS = ("{stem}.test{suffix}", "{stem}.spec{suffix}", "test/{stem}.test{suffix}", "tests/{stem}.test{suffix}",
          "__tests__/{stem}.test{suffix}", "test/{stem}{suffix}", "../test/{stem}.test{suffix}",
          "../tests/{stem}.test{suffix}")  # fmt: skip


@dataclass(frozen=True, slots=True)
class PortRequest:
    """A module to port, the module that it becomes, and the file of its tests, None if there is none; absolute."""

    source: Path
    target: Path
    tests: Path | None

    @property
    def target_tests(self) -> Path:
        """The file of the ported tests."""
        return self.target.with_name(f"test_{self.target.name}")


def port_request(request: Request, goal: str) -> PortRequest | None:
    """What is to be ported; None for any other request. Looks at the disk: not for an event loop."""
    asked = _ASKS.match(goal)
    if asked is None or request.path is None:
        return None
    own = request.path.absolute()
    roots = [root for root in request.workspace.roots if own.is_relative_to(root)]
    root = max(roots, key=lambda each: len(each.parts), default=own.parent)
    named = _FILE.search(asked["what"])
    if named is None:
        source = own if own.suffix in _SUFFIXES and _WHOLE.fullmatch(asked["what"]) else None
    else:
        places = (root / named[0], own.parent / named[0])
        source = next((place for place in places if place.is_file() and place.resolve().is_relative_to(root)), None)
    if source is None:
        return None
    new = _TARGET.search(asked["rest"])
    target = source.with_name(f"{_module_name(source.stem)}.py")
    if new is not None:
        target = (root if "/" in new["name"] else source.parent) / PurePosixPath(new["name"])
    tests = (source.parent / each.format(stem=source.stem, suffix=source.suffix) for each in _TESTS)
    return PortRequest(source, target, next((each.resolve() for each in tests if each.is_file()), None))


def _module_name(stem: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    return re.sub(r"\W+", "_", words)
