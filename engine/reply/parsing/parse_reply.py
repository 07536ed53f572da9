"""Extracts code, tests and text from any model reply."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from stet_ls.engine.reply.indent import reindent
from stet_ls.engine.reply.parsing.choose import choose, choose_tests, looks_like_tests
from stet_ls.engine.reply.parsing.clean import clean, unquoted
from stet_ls.engine.reply.parsing.envelope import JsonReply, is_error_page, open_json
from stet_ls.engine.reply.parsing.fences import SplitReply, scan
from stet_ls.engine.reply.parsing.omitted_code import omitted_code
from stet_ls.engine.reply.parsing.repetition import loop_start, without_repeats
from stet_ls.engine.reply.parsing.reply_spec import (
    LONGEST_REPLY,
    NO_CODE,
    REPEATED,
    STOPPED,
    TOO_LONG,
    FoundCode,
    NoCode,
    ReplySpec,
    SearchResult,
)
from stet_ls.engine.reply.parsing.thinking import without_leaks, without_thinking

ParsedReplyKind = Literal["unit", "tests", "prose"]

EMPTY = "The reply was empty."
ONLY_THOUGHT = "The reply contains only reasoning."
ERROR_PAGE = "The endpoint sent a web page instead of a reply."

_BULLET = re.compile(r"^[ \t]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]+")
_MOST_NOTES = 20
_LONGEST_NOTE = 500
_JSON = frozenset({"json", "jsonc"})


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The parts of a reply.

    `code` is the requested unit, for reply_kind="unit"; `tests` a block of tests in addition to it, or for "tests".
    `prose` is the text outside code and thoughts, the whole answer for "prose". `notes` are the NOTES lines
    without bullets ("warning: ..."). `problem` is one sentence if nothing usable was found. `repairs` list, for the
    log, the deviations that were corrected.
    """

    code: str | None = None
    tests: str | None = None
    prose: str = ""
    plan: str = ""
    notes: tuple[str, ...] = ()
    problem: str | None = None
    repairs: tuple[str, ...] = ()


def parse_reply(
    text: str,
    *,
    language: str,
    reply_kind: ParsedReplyKind,
    symbol: str = "",
    truncated: bool = False,
    current: str = "",
) -> ParsedReply:
    """The parts of a model's reply. Never raises; time is linear in the length of the reply.

    `symbol` is the (qualified) name of the requested unit, "" for none. `truncated`: the model was stopped.
    `current` is the target's present text, indented or not; without it no change can be applied, and no body can be
    put under its header. Returned code consists of lines of the reply and of `current`, with line feeds.
    """
    if len(text) > LONGEST_REPLY:
        return ParsedReply(problem=TOO_LONG if loop_start(text) is None else REPEATED)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    answer = unquoted(without_leaks(without_thinking(text)).strip("\n"))
    if not answer.strip():
        return ParsedReply(problem=ONLY_THOUGHT if text.strip() and "think" in text[:20].lower() else EMPTY)
    if is_error_page(answer, language):
        return ParsedReply(problem=ERROR_PAGE)
    if reply_kind == "prose":
        return _prose(answer, truncated=truncated)
    if reply_kind != "unit":
        symbol = current = ""
    # As the model saw it: dedented, with line feeds.
    current = reindent(current.replace("\r\n", "\n").replace("\r", "\n"), language, base="", unit=None)
    wanted = ReplySpec(language, symbol, current, truncated)
    envelope = None if language in _JSON else _envelope(answer)
    return _read(answer, wanted, reply_kind) if envelope is None else _unwrap(envelope, wanted, reply_kind)


def _prose(answer: str, *, truncated: bool) -> ParsedReply:
    """The answer as Markdown, without a fence around all of it, cut where it begins to repeat itself."""
    repairs: tuple[str, ...] = ()
    if (loop := loop_start(answer)) is not None:
        answer = answer[:loop].rstrip()
        repairs = ("it repeated itself at the end",)
    page = scan(answer)
    if len(page.pieces) == 1 and page.blocks and page.blocks[0].tag in ("markdown", "md", ""):
        answer = page.blocks[0].text
    if (shorter := without_repeats(answer)) != answer:
        answer = shorter
        repairs += ("it repeated its answer",)
    if truncated:
        repairs += ("it was cut off",)
    if not answer.strip():
        return ParsedReply(problem=EMPTY)
    return ParsedReply(prose=answer.strip("\n"), repairs=repairs)


def _envelope(answer: str) -> JsonReply | None:
    """The JSON object that a reply is, bare or as its only block."""
    page = scan(answer)
    if page.blocks and page.blocks[0].tag not in ("json", ""):
        return None
    body = page.blocks[0].text if len(page.blocks) == 1 and page.text.lstrip().startswith("```") else answer
    opened = open_json(body) if body.lstrip().startswith("{") or not page.blocks else None
    if opened is None and len(page.blocks) == 1 and page.blocks[0].tag == "json":
        opened = open_json(page.blocks[0].text)
    return opened


def _unwrap(envelope: JsonReply, wanted: ReplySpec, reply_kind: ParsedReplyKind) -> ParsedReply:
    """Reads the parts of a JSON reply, each of which may be fenced again."""
    if envelope.cut:
        return ParsedReply(plan=envelope.plan, notes=envelope.notes, problem=STOPPED)
    inner = envelope.code if reply_kind == "unit" else envelope.tests or envelope.code
    read = _read(inner, wanted, reply_kind) if inner.strip() else ParsedReply(problem=NO_CODE)
    if read.code is None and read.tests is None and scan(inner).blocks == () and inner.strip():
        found = _checked(FoundCode(clean(inner, wanted.language).strip("\n")), wanted)
        snippet = wanted.snippet(found.text) if isinstance(found, FoundCode) else None
        if isinstance(found, FoundCode) and snippet is not None and wanted.accepts(snippet):
            read = ParsedReply(**{("code" if reply_kind == "unit" else "tests"): found.text})  # type: ignore[arg-type]
    tests = read.tests or (envelope.tests.strip("\n") or None if reply_kind == "unit" else None)
    repairs = ("the reply was a JSON object", *read.repairs)
    return replace(read, tests=tests, plan=envelope.plan.strip(), notes=envelope.notes or read.notes, repairs=repairs)


def _read(answer: str, wanted: ReplySpec, reply_kind: ParsedReplyKind) -> ParsedReply:
    page = scan(answer)
    found = _checked(choose(page, wanted) if reply_kind == "unit" else choose_tests(page, wanted), wanted)
    frame = ParsedReply(prose=page.prose("", "notes"), plan=page.prose("plan"), notes=_notes(page))
    if isinstance(found, NoCode):
        return replace(frame, problem=found.problem)
    if reply_kind == "tests":
        return replace(frame, tests=found.text, repairs=found.repairs)
    return replace(frame, code=found.text, tests=_accompanying_tests(page, found.text), repairs=found.repairs)


def _checked(found: SearchResult, wanted: ReplySpec) -> SearchResult:
    """The code, unless parts of it are omitted or it repeats itself without end."""
    if isinstance(found, NoCode):
        return found
    text = clean(found.text, wanted.language).strip("\n")
    if not text.strip():
        return NoCode(NO_CODE)
    if (line := omitted_code(text, wanted.language, wanted.current)) is not None:
        return NoCode(f'The reply omits part of the code ("{line}").')
    if wanted.truncated and wanted.snippet(text).state == "broken" and loop_start(text) is not None:
        return NoCode(REPEATED)
    return FoundCode(text, found.repairs)


def _accompanying_tests(page: SplitReply, code: str) -> str | None:
    """The tests that came with the code, if they are complete."""
    found = [
        block.text.strip("\n")
        for block in page.blocks
        if block.closed and block.text.strip() and (block.label == "tests" or looks_like_tests(block.text))
    ]
    found = [text for text in found if text != code and looks_like_tests(text)]
    return "\n\n".join(dict.fromkeys(found)) or None


def _notes(page: SplitReply) -> tuple[str, ...]:
    notes: list[str] = []
    for line in page.prose("notes").split("\n"):
        if _BULLET.match(line):
            notes.append(_BULLET.sub("", line).strip())
        elif line.strip() and notes:
            notes[-1] += " " + line.strip()
        elif line.strip():
            notes.append(line.strip())
    return tuple(note[:_LONGEST_NOTE] for note in notes[:_MOST_NOTES])
