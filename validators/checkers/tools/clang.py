"""C and C++ by clang: syntax and types, with the project's own flags if it has a compile_commands.json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stet_ls.validators.checkers.checker_request import (
    AdvisoryFindings,
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import distinct, finding
from stet_ls.validators.checkers.tool_process import ToolResult
from stet_ls.validators.checkers.tools.c_includes import missing_include
from stet_ls.validators.checkers.tools.compile_commands import flags
from stet_ls.validators.findings import Finding, Kind

_ERROR = re.compile(
    r"^<stdin>:(?P<line>\d+):(?P<column>\d+):(?:\{[^ ]*\}:)? (?:fatal )?error: (?P<message>.+?)"
    r"(?: \[(?P<category>[\w ]+)\])?$",
    re.MULTILINE,
)
_NO_HEADER = re.compile(rb"fatal error: '[^'\n]*' file not found")
_NEWEST = {"c": "-std=gnu17", "cpp": "-std=gnu++20"}
_ARGUMENTS = (
    "-fsyntax-only", "-w", "-fno-color-diagnostics", "-fno-caret-diagnostics", "-fdiagnostics-show-category=name",
    "-ferror-limit=100", "-fno-spell-checking", "-fno-diagnostics-show-note-include-stack",
)  # fmt: skip
_MEMORY = 2_000_000_000  # a template can ask for any amount


def clang(request: CheckerRequest) -> CheckerResult:
    """Errors of syntax and types. Unavailable if a header is not found: errors that follow from that prove nothing.

    Without the project's flags it only advises, once there is an unknown name: missing flags may explain it. A `.h` may
    be C or C++; it is correct if it is correct as one.
    """
    found = _as(request, request.language)
    if found and request.path is not None and request.path.suffix == ".h" and request.language == "cpp":
        other = _as(replace(request, deadline=request.deadline / 2), "c")
        found = () if other == () else found
    if isinstance(found, Unavailable) or not found or flags(request.path) is not None:
        return found
    return AdvisoryFindings(found) if found[0].kind == "semantic" else found


def _as(request: CheckerRequest, language: str) -> CheckerResult:
    project = flags(request.path)
    own = project or ()
    if not any(flag.startswith(("-std=", "--std=", "-ansi")) for flag in own):
        own = (_NEWEST[language], *own)
    includes = ("-iquote", str(request.path.absolute().parent)) if request.path else ()
    if (
        request.path
        and (found := missing_include(request.source.data, request.path.absolute(), (*own, *includes))) is not None
    ):
        return Unavailable(f"`{found.name}`, which it includes, is too large or no regular file")

    def read(result: ToolResult) -> CheckerResult:
        if _NO_HEADER.search(result.stderr):
            hint = "" if project is not None else "; a compile_commands.json would say where it is"
            return Unavailable(f"clang did not find a header{hint}")
        found = distinct(_findings(request, result.stderr.decode("utf-8", "replace")))
        if result.status != 0 and not found:
            return Unavailable(f"clang failed without a location (exit status {result.status})")
        return found

    # Headers matter too, and they change without the text: such an answer is not cached.
    run = ToolCommand(
        "clang",
        ("-x", "c++" if language == "cpp" else "c", *_ARGUMENTS, *own, *includes, "-"),
        pure=False,
        memory=_MEMORY,
    )
    return run_tool_on(request, run, read)


def _findings(request: CheckerRequest, text: str) -> Iterator[Finding]:
    for match in _ERROR.finditer(text):
        kind: Kind = "semantic" if match["category"] == "Semantic Issue" else "syntax"
        line, column = int(match["line"]), int(match["column"])
        yield finding(request.source, match["message"], line, column, "clang", encoding="utf-8", kind=kind)
