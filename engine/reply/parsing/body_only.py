"""Handles a reply that is only the body of the unit: puts it under the document's header."""

from __future__ import annotations

import re
import textwrap

from stet_ls.engine.reply.indent import margin_of
from stet_ls.engine.reply.parsing.reply_spec import FoundCode, NoCode, ReplySpec, SearchResult
from stet_ls.engine.reply.parsing.snippet import Snippet, last_name
from stet_ls.validators.source import Span
from stet_ls.validators.structure import Unit, is_stub
from stet_ls.validators.structure.literals import passages

_GIVES = re.compile(r"\s*(?:return|raise|throw|yield|panic|unreachable|todo)\b")
_BRANCHES = re.compile(r"\b(?:else|default|finally|catch|except|while|loop|match|switch|case|with)\b")
_CLOSERS = re.compile(r"[\s})\];]*")


def wrapped(code: str, wanted: ReplySpec) -> SearchResult:
    """The unit with `code` as its body, if that is a whole body: for a stub, or with as many lines and the same end."""
    name = last_name(wanted.symbol)
    refusal = NoCode(f'The reply contains only a part of "{name}".')
    present = wanted.snippet(wanted.current)
    unit = next((unit for unit in present.units if unit.name == name), None)
    if unit is None or unit.body is None or unit.kind == "class":
        return refusal
    code = textwrap.dedent(code).strip("\n")
    header, old, footer = _parts(present, unit, unit.body)
    if not is_stub(present.source, wanted.language, unit) and not _can_replace(code, old):
        return refusal
    text = header.rstrip() + "\n" + textwrap.indent(code, _indent(header, old)) + footer
    whole = wanted.snippet(text)
    if whole.state != "ok" or not whole.defines(wanted.symbol):
        return refusal
    return FoundCode(text, ("the reply was only the body; the header is the document's",))


def _parts(present: Snippet, unit: Unit, body: Span) -> tuple[str, str, str]:
    """The unit's text before its statements (including a docstring), the statements, and the text after them."""
    data = present.source.data

    def text(start: int, end: int) -> str:
        return data[start:end].decode("utf-8", "surrogatepass")

    start, end = body.start, body.end
    if data[start : start + 1] == b"{" and data[end - 1 : end] == b"}":
        margin, inner = margin_of(text(unit.span.start, unit.span.end)), text(start + 1, end - 1).strip("\n")
        return text(unit.span.start, start + 1), inner, f"\n{margin}" + text(end - 1, unit.span.end)
    for passage in passages(present.source, present.language):
        if passage.kind == "doc" and passage.span.start == start:
            start = passage.span.end
    line = data.rfind(b"\n", 0, start) + 1
    if not data[line:start].strip():
        start = line
    return text(unit.span.start, start), text(start, end).strip("\n"), text(end, unit.span.end)


def _can_replace(code: str, old: str) -> bool:
    lines = [line for line in code.split("\n") if line.strip()]
    old_lines = [line for line in old.split("\n") if line.strip()]
    if len(lines) < len(old_lines) or not old_lines:
        return False
    if not _GIVES.match(old_lines[-1]):
        return True
    last = next((line for line in reversed(lines) if not _CLOSERS.fullmatch(line)), "")
    return bool(_GIVES.match(last)) and (not last[0].isspace() or bool(_BRANCHES.search(code)))


def _indent(header: str, old: str) -> str:
    """The indentation of the present statements; one step more than the header's if there are none."""
    first = next((line for line in old.split("\n") if line.strip()), "")
    return margin_of(first) or margin_of(header) + ("\t" if margin_of(header).startswith("\t") else "    ")
