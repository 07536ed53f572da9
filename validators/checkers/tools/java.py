"""Java: javac up to its parser. No annotation processor runs; no class file or other source file is read or written."""

from __future__ import annotations

import re
from pathlib import Path

from stet_ls.validators.checkers.checker_request import (
    FILE,
    CheckerRequest,
    CheckerResult,
    ToolCommand,
    Unavailable,
    run_tool_on,
)
from stet_ls.validators.checkers.output_parsing import distinct, finding, judged
from stet_ls.validators.checkers.tool_process import PRIVATE, ToolResult
from stet_ls.validators.parsing.parse import clean
from stet_ls.validators.source import Source

ERROR = r"\.java:(\d+): error: (.+)(?:\n.*\n([ \t]*)\^)?$"
"""The end of a file's name, the line, the message, the line itself, and a caret below the place; without the last two
at the end of a file that ends in blanks.
"""
_ERROR = re.compile(rf"^.*?{ERROR}", re.MULTILINE)

ARGUMENTS = (
    "-J-XX:TieredStopAtLevel=1",  # 0.5 s: starting a JVM takes most of the time
    "-J-XX:+UseSerialGC",
    "-J-Xmx512m",
    "-J-Duser.language=en",
    "-proc:none",
    "-XDshould-stop.ifNoError=PARSE",  # types need the project's classes; only errors of syntax are left
    "-XDshould-stop.ifError=PARSE",
    "-encoding", "UTF-8", "-nowarn", "-implicit:none",
    "-d", PRIVATE, "-classpath", PRIVATE, "-sourcepath", PRIVATE,
)  # fmt: skip
"""All arguments but the files."""
_MOST = ("-Xmaxerrs", "100")


def javac(request: CheckerRequest) -> CheckerResult:
    """The errors of the compiler's parser."""
    if is_module(request.path):
        return Unavailable("javac would look for the modules that it names", missing=True)

    def read(result: ToolResult) -> CheckerResult:
        text = result.stderr.decode("utf-8", "replace")
        found = (
            finding(request.source, m[2], int(m[1]), len(m[3] or "") + 1, "javac", encoding="utf-16")
            for m in _ERROR.finditer(text)
        )
        return judged(result, distinct(found), "javac")

    return run_tool_on(request, ToolCommand("javac", (*ARGUMENTS, *_MOST, FILE), text=file_text(request.source)), read)


def is_module(path: Path | None) -> bool:
    """True for a module's declaration: its names are resolved before anything is parsed."""
    return path is not None and path.name == "module-info.java"


def file_text(source: Source) -> bytes:
    """A text's bytes for javac. It takes a byte order mark for a character; a space keeps the columns."""
    return re.sub(rb"^\xef\xbb\xbf", b" ", clean(source))
