"""Salvages code without an end: a fence that is never closed, a reply that is cut off."""

from __future__ import annotations

import re

from stet_ls.engine.reply.parsing.fences import label_of
from stet_ls.engine.reply.parsing.repetition import loop_start
from stet_ls.engine.reply.parsing.reply_spec import REPEATED, STOPPED, FoundCode, NoCode, ReplySpec, SearchResult
from stet_ls.engine.reply.parsing.snippet import Snippet
from stet_ls.validators.languages import for_language

_GLUED_FENCE = re.compile(r"[ \t]*`{3,}[ \t]*$")


def complete_part(text: str, wanted: ReplySpec) -> SearchResult:
    """The code of a block without an end, as far as it is certainly complete."""
    text, ended = _without_tail(text)
    snippet = wanted.snippet(text)
    if (ended or not wanted.truncated) and snippet.state != "broken" and wanted.accepts(snippet):
        return FoundCode(text, ("the code fence was not closed",))
    if not wanted.truncated and loop_start(text) is not None:
        return NoCode(REPEATED)
    whole = wanted.snippet(complete_units(snippet))
    if wanted.symbol and whole.state == "ok" and wanted.accepts(whole):
        return FoundCode(whole.text, ("the reply was cut off after the code",))
    return NoCode(STOPPED if loop_start(text) is None else REPEATED)


def complete_units(snippet: Snippet) -> str:
    """The text up to the end of the last top-level unit that is certainly complete, or ""."""
    for unit in reversed(snippet.top_units):
        if _is_complete(snippet, unit.span.end, snippet.text_of(unit.span)):
            return snippet.source.data[: unit.span.end].decode("utf-8", "surrogatepass")
    return ""


def _is_complete(snippet: Snippet, end: int, text: str) -> bool:
    if Snippet(text, snippet.language).state != "ok":
        return False
    rest = snippet.source.data[end:].decode("utf-8", "surrogatepass")
    # If the language's blocks have no closing mark, the last statement may always be missing.
    if not for_language(snippet.language).indented:
        return text.rstrip().endswith(("}", ";", "end")) or bool(rest.strip())
    following = next((line for line in rest.split("\n") if line.strip()), "")
    return bool(following) and not following[0].isspace()


def _without_tail(text: str) -> tuple[str, bool]:
    """The code before a label or a fence at its end, and whether there was one."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line[:1].isupper() and label_of(line) is not None:
            return "\n".join(lines[:index]), True
        if _GLUED_FENCE.search(line[-20:]) and line.strip("` \t"):
            return "\n".join([*lines[:index], _GLUED_FENCE.sub("", line)]), True
    return text, False
