"""Parses failures that a runner could only quote: Node's output for a file that it could not load, as data.

file:///box/sum.mjs:2                    Failure("SyntaxError", "missing ) after argument list",
  return values.reduce((a, 0;      =>            place=("sum.mjs", 2, 0))
SyntaxError: missing ) after …
"""

from __future__ import annotations

import re
from dataclasses import replace

from stet_ls.engine.diagnosis.diagnosis import Symptom
from stet_ls.engine.runners.report import CaseFailure, Frame, FrameOrigin

_ERROR = re.compile(r"^(?P<type>\w*(?:Error|Exception))(?: \[(?P<code>\w+)\])?: (?P<message>.*)$", re.MULTILINE)
_PLACE = re.compile(r"^(?:file://)?/box/(?P<path>[^\s:]+):(?P<line>\d+)$", re.MULTILINE)
_MODULE = re.compile(
    r"Cannot find (?:package|module) '(?P<module>[^']+)'(?: imported from (?:file://)?/box/(?P<path>\S+))?"
)
_STACK = re.compile(
    r"^\s+at (?:(?P<function>[^\s(]+) \()?(?:file://)?/box/(?P<path>[^\s:)]+):(?P<line>\d+)", re.MULTILINE
)


def parse(symptom: Symptom) -> Symptom:
    """The symptom with the contents of its text as data; unchanged if there are none."""
    failure = symptom.failure
    if failure.type or not (error := _ERROR.search(failure.message)):
        return symptom
    kind, message = error["code"] or error["type"], error["message"]
    if "does not provide an export" in message:
        kind = "ImportError"  # the syntax is valid, a name is missing
    module = _MODULE.search(message)
    place = _PLACE.search(failure.message)
    return replace(
        symptom,
        failure=replace(
            failure,
            type=kind,
            message=message,
            module=module["module"].removeprefix("/box/") if module is not None else "",
            frames=_frames(failure, symptom.file, module["path"] if module is not None else None),
            place=(place["path"], int(place["line"]), 0) if place is not None else None,
        ),
    )


def _frames(failure: CaseFailure, test: str, importer: str | None) -> tuple[Frame, ...]:
    """The stack in the text, outermost first; for a missing module, the file that imports it."""
    found = [(match["path"], int(match["line"]), match["function"] or "") for match in _STACK.finditer(failure.message)]
    found = list(reversed(found)) or ([(importer, 0, "")] if importer is not None else [])
    return tuple(
        Frame(path, line, name, FrameOrigin.TEST if path == test else FrameOrigin.PROJECT) for path, line, name in found
    )
