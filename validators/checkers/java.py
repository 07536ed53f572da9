"""Java: javac to the end of its parser. No annotation processor, no class file, no other source file is touched."""

from __future__ import annotations

import re

from stet_ls.validators.checkers.asking import FILE, Answered, Asked, Run, ask
from stet_ls.validators.checkers.reading import distinct, finding, judged
from stet_ls.validators.parse import clean
from stet_ls.validators.process import PRIVATE, ToolResult

# "A.java:3: error: ';' expected", the line itself, and a caret below the place.
_ERROR = re.compile(r"^.*?\.java:(\d+): error: (.+)\n.*\n([ \t]*)\^$", re.MULTILINE)
_ARGUMENTS = (
    "-J-XX:TieredStopAtLevel=1",  # 0.5 s: most of the time is the start of a JVM
    "-J-XX:+UseSerialGC",
    "-J-Xmx512m",
    "-J-Duser.language=en",
    "-proc:none",
    "-XDshould-stop.ifNoError=PARSE",  # types need the project's classes; what is left are errors of syntax
    "-XDshould-stop.ifError=PARSE",
    "-encoding", "UTF-8", "-Xmaxerrs", "100", "-nowarn", "-implicit:none",
    "-d", PRIVATE, "-classpath", PRIVATE, "-sourcepath", PRIVATE,
    FILE,
)  # fmt: skip


def javac(asked: Asked) -> Answered:
    """The errors of the compiler's parser."""

    def read(result: ToolResult) -> Answered:
        text = result.stderr.decode("utf-8", "replace")
        found = (
            finding(asked.source, m[2], int(m[1]), len(m[3]) + 1, "javac", encoding="utf-16")
            for m in _ERROR.finditer(text)
        )
        return judged(result, distinct(found), "javac")

    # javac takes a byte order mark for a character; a space in its place keeps the columns.
    text = re.sub(rb"^\xef\xbb\xbf", b" ", clean(asked.source))
    return ask(asked, Run("javac", _ARGUMENTS, text=text), read)
