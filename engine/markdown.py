"""Markdown that is safe to show: it comes from a model, which the code it read may have influenced.

Editors render reports. An image in one is fetched without a click, and its address can leak the code; a link can be a
command of the editor. So only plain text, code and lists are kept of such text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stet_ls.validators.invisible_chars import escape_invisible

# CommonMark 0.31: 4.5 fenced code blocks, 6.1 code spans, 2.4 backslash escapes.
_OPENING = re.compile(r"(?P<indent>[ \t]*)(?:(?P<ticks>`{3,})[^`]*|(?P<tildes>~{3,}).*)")
_TOKEN = re.compile(r"(?P<escape>\\[!-/:-@\[-`{-~])|(?P<ticks>`+)|(?P<active>!\[|\](?=[(\[:])|<(?=[A-Za-z/!?]))")
_HARMLESS = {"![": "!\\[", "]": "\\]", "<": "\\<"}


def harmless(markdown: str) -> str:
    """The text with its images, links and HTML as literal characters. Code is not changed.

    Fences are moved to the margin and closed: only there all markdown parsers agree on where a block ends; otherwise
    one renders what another takes for code.
    """
    return "\n".join(_lines(escape_invisible(markdown.replace("\r\n", "\n").replace("\r", "\n"))))


def plain(text: str) -> str:
    """A sentence for a message box, which shows no markdown; but VS Code makes `[x](command:y)` a link that runs y."""
    return escape_invisible(text).replace("](", "] (")


def code_span(text: str) -> str:
    """`text` as a code span that it cannot end."""
    line = " ".join(escape_invisible(text).split())
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, tag: str = "") -> str:
    """`text` as a code block that it cannot end."""
    ticks = "`" * (max(map(len, re.findall("`{3,}", text)), default=2) + 1)
    return f"{ticks}{tag}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{ticks}\n"


def _lines(markdown: str) -> Iterator[str]:
    fence, indent = "", 0
    for line in markdown.split("\n"):
        if fence:
            kept = re.sub(rf"^[ \t]{{0,{indent}}}", "", line) if indent else line
            if re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*", kept):
                fence = ""
            yield kept
        elif opening := _OPENING.fullmatch(line):
            fence, indent = opening["ticks"] or opening["tildes"], len(opening["indent"])
            # A bar would make the line the header of a table.
            yield line[indent:].split("|")[0].rstrip()
        else:
            yield _line(line)
    if fence:
        yield fence


def _line(line: str) -> str:
    """A line of prose. Unpaired backticks are escaped, so that no code span continues on the next line."""
    pieces: list[str] = []
    at = 0
    while match := _TOKEN.search(line, at):
        pieces.append(line[at : match.start()])
        at = match.end()
        if match["ticks"]:
            ticks = match["ticks"]
            partner = re.compile(rf"(?<!`){ticks}(?!`)").search(line, at)
            # Table cells are split before code spans are parsed.
            if partner and "|" not in line[at : partner.start()]:
                pieces.append(line[match.start() : partner.end()])
                at = partner.end()
            else:
                pieces.append("\\`" * len(ticks))
        else:
            pieces.append(match["escape"] or _HARMLESS[match["active"]])
    return "".join([*pieces, line[at:]])
