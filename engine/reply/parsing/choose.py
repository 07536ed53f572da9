"""Finds the code among a reply's blocks, and its imports, helpers and tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from stet_ls.engine.reply.parsing import patch
from stet_ls.engine.reply.parsing.body_only import wrapped
from stet_ls.engine.reply.parsing.clean import clean
from stet_ls.engine.reply.parsing.fences import FencedBlock, SplitReply
from stet_ls.engine.reply.parsing.repetition import loop_start
from stet_ls.engine.reply.parsing.reply_spec import (
    LONGEST,
    NO_CODE,
    REPEATED,
    TOO_LONG,
    FoundCode,
    NoCode,
    ReplySpec,
    SearchResult,
)
from stet_ls.engine.reply.parsing.snippet import Snippet
from stet_ls.engine.reply.parsing.truncated_code import complete_part, complete_units
from stet_ls.engine.reply.parsing.unfenced import unfenced
from stet_ls.validators.languages import PLAIN, family
from stet_ls.validators.languages import language as language_row
from stet_ls.validators.structure import calls, imports

_OUTPUT_TAGS = frozenset({"output", "console", "stdout", "stderr", "log", "traceback", "terminal", "shell-session"})
_PATCH_TAGS = frozenset({"diff", "patch", "udiff"})
_TESTS = re.compile(
    r"\bdef test_|^[ \t]*(?:import pytest|from unittest|import unittest)|unittest\.TestCase"
    r"|\bfunc Test\w+\(\w+ \*testing\.|#\[(?:\w+::)?test\]|^[ \t]*@Test\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b"
    r"|\b(?:describe|it|test)\(['\"`]|\b(?:TEST|TEST_F|TEST_CASE)\(|function test\w*\(|RSpec\.describe",
    re.MULTILINE,
)
_CORRECTED = re.compile(
    r"\b(?:oops|wait|actually|corrected?|correction|fixed|mistake|instead|better|improved|revised|updated|final)\b",
    re.IGNORECASE,
)
_EXTENSIONS_TRIED = 6
_BLOCKS_TRIED = 24


@dataclass(frozen=True, slots=True)
class CodeCandidate:
    """A block in the requested language, cleaned."""

    block: FencedBlock
    snippet: Snippet

    @property
    def whole(self) -> bool:
        """True if the block ended and does not fail to parse."""
        return self.block.closed and self.snippet.state != "broken"


def looks_like_tests(text: str) -> bool:
    """True if the code has the signs of a known test framework."""
    return _TESTS.search(text) is not None


def choose(page: SplitReply, wanted: ReplySpec) -> SearchResult:
    """The code of a reply: from its blocks, else from a change to the present text, else from its prose."""
    candidates = _candidates(page, wanted)
    if isinstance(candidates, NoCode):
        return candidates
    fitting = [candidate for candidate in candidates if wanted.accepts(candidate.snippet)]
    if wanted.symbol:
        fitting = [c for c in fitting if c.block.label != "tests"] or fitting
    elif fitting:
        fitting = [c for c in fitting if not _is_tests(c)]
    if fitting:
        return _take(page, fitting, candidates, wanted)
    if (changed := _changed(page, wanted)) is not None:
        return changed
    rest = [c for c in candidates if not _is_tests(c) and not c.snippet.is_prose]
    if rest:
        return _renamed(rest, wanted) or _inside(rest, wanted)
    found = unfenced(page, wanted)
    # As for a block: tests are no answer where no unit is named.
    is_tests = isinstance(found, FoundCode) and not wanted.symbol and looks_like_tests(found.text)
    return NoCode(NO_CODE) if is_tests else found


def choose_tests(page: SplitReply, wanted: ReplySpec) -> SearchResult:
    """The tests of a reply: the blocks under the tests label, else those that look like tests, else its only code."""
    candidates = _candidates(page, wanted)
    if isinstance(candidates, NoCode):
        return candidates
    candidates = [c for c in candidates if not c.snippet.is_prose and c.snippet.text.strip()]
    found = [c for c in candidates if c.block.label == "tests"]
    found = [c for c in found if looks_like_tests(c.snippet.text)] or found
    found = found or [c for c in candidates if looks_like_tests(c.snippet.text)] or candidates[-1:]
    if not found:
        return unfenced(page, wanted)
    whole = [c for c in found if c.whole]
    if whole:
        return FoundCode(_joined([c.snippet.text for c in whole]), ())
    if found[-1].block.closed:
        return FoundCode(found[-1].snippet.text)
    last = found[-1].snippet
    text = complete_units(last) if last.state != "ok" else ""
    if looks_like_tests(text):  # tests are independent, so those before the cut are usable
        return FoundCode(text, ("the reply was cut off in a later test",))
    return complete_part(last.text, wanted)


def _candidates(page: SplitReply, wanted: ReplySpec) -> list[CodeCandidate] | NoCode:
    """The blocks that may be code of the requested language; if all have another tag, those that parse in it."""
    if any(len(block.text) > LONGEST for block in page.blocks):
        start = loop_start(page.text)
        return NoCode(TOO_LONG if start is None else REPEATED)
    blocks = [b for b in page.blocks if b.text.strip() and (b.tag not in _PATCH_TAGS or wanted.language == "diff")]
    if wanted.language != "diff":
        blocks = [b for b in blocks if not patch.search_replace(b.text) and not patch.unified(b.text, tagged=False)]
    blocks = [*blocks[: _BLOCKS_TRIED // 2], *blocks[max(_BLOCKS_TRIED // 2, len(blocks) - _BLOCKS_TRIED // 2) :]]
    native = [block for block in blocks if not _is_foreign(block.tag, wanted.language)]
    seen = [CodeCandidate(b, wanted.snippet(clean(b.text, wanted.language).strip("\n"))) for b in native or blocks]
    if native:
        return seen
    return [c for c in seen if c.snippet.state == "ok" and wanted.accepts(c.snippet) and c.snippet.units]


def _is_foreign(tag: str, language: str) -> bool:
    row = language_row(tag)
    return tag in _OUTPUT_TAGS or (row is not None and row.id not in (PLAIN, *family(language)))


def _is_tests(candidate: CodeCandidate) -> bool:
    return candidate.block.label == "tests" or looks_like_tests(candidate.snippet.text)


def _take(
    page: SplitReply, fitting: list[CodeCandidate], candidates: list[CodeCandidate], wanted: ReplySpec
) -> SearchResult:
    changed = [c for c in fitting if not wanted.unchanged(c.snippet.text)] or fitting
    pure = [c for c in changed if not looks_like_tests(c.snippet.text)] or changed
    whole = [c for c in pure if c.whole]
    if whole:
        chosen = whole[-1] if wanted.symbol or _is_corrected(page, whole) else whole[0]
        return FoundCode(_with_companions(chosen, candidates, wanted))
    for candidate in reversed(pure):
        if (longer := _extended(page, candidate, wanted)) is not None:
            return FoundCode(longer, ("ignored a fence inside the code",))
    closed = [c for c in pure if c.block.closed]
    return FoundCode(closed[-1].snippet.text) if closed else complete_part(pure[-1].snippet.text, wanted)


def _is_corrected(page: SplitReply, whole: list[CodeCandidate]) -> bool:
    """True if the text between the blocks retracts the earlier one."""
    return any(_CORRECTED.search(page.text[first.block.end : second.block.start]) for first, second in pairwise(whole))


def _with_companions(chosen: CodeCandidate, candidates: list[CodeCandidate], wanted: ReplySpec) -> str:
    """The chosen code, preceded by blocks that hold only imports and followed by helpers that it calls."""
    others = [c for c in candidates if c is not chosen and c.whole and not _is_tests(c)]
    if chosen.snippet.state != "ok" or not others:
        return chosen.snippet.text
    before: list[str] = []
    after: list[str] = []
    called = {name for unit in chosen.snippet.units for name in calls(chosen.snippet.source, wanted.language, unit)}
    own = {unit.name for unit in chosen.snippet.units}
    for snippet in (candidate.snippet for candidate in others):
        if _only_imports(snippet):
            if snippet.text not in chosen.snippet.text:
                before.append(snippet.text)
        elif (names := {unit.name for unit in snippet.units}) and names & called and not names & own:
            after.append(snippet.text)
    return _joined([*before, chosen.snippet.text, *after])


def _only_imports(snippet: Snippet) -> bool:
    data = snippet.source.data
    spans = imports(snippet.source, snippet.language) if snippet.state == "ok" and not snippet.units else ()
    kept, at = b"", 0
    for span in spans:
        kept += data[at : span.start]
        at = max(at, span.end)
    return bool(spans) and not (kept + data[at:]).strip(b" \t\r\n;")


def _joined(texts: list[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in dict.fromkeys(texts))


def _extended(page: SplitReply, candidate: CodeCandidate, wanted: ReplySpec) -> str | None:
    """The block up to a later fence, if only that parses: the first one was inside a string."""
    later = [at for at in page.fences if at > candidate.block.end][:_EXTENSIONS_TRIED]
    for at in later:
        snippet = wanted.snippet(clean(page.text[candidate.block.start : at], wanted.language).strip("\n"))
        if len(snippet.text) <= LONGEST and snippet.state == "ok" and wanted.accepts(snippet):
            return snippet.text
    return None


def _changed(page: SplitReply, wanted: ReplySpec) -> SearchResult | None:
    """The present text with the reply's change, or None if the reply holds no change."""
    hunks = patch.search_replace(page.text)
    if not hunks:
        for block in page.blocks:
            hunks += patch.unified(block.text, tagged=block.tag in _PATCH_TAGS)
    if not hunks and not page.blocks:
        hunks = patch.unified(page.text, tagged=False)
    if not hunks:
        return NoCode(patch.NO_MATCH) if "<<<<<<< SEARCH" in page.text else None
    text = patch.apply(hunks, wanted.current)
    if isinstance(text, patch.PatchRefusal):
        return NoCode(text.problem)
    return FoundCode(text, ("the reply was a change to the present text",))


def _renamed(rest: list[CodeCandidate], wanted: ReplySpec) -> SearchResult | None:
    """A single unit with another name: it may be a requested renaming, so the judges decide."""
    for candidate in reversed(rest):
        tops = candidate.snippet.top_units
        if wanted.symbol and candidate.whole and len(tops) == 1:
            loose = (
                candidate.snippet.source.data[tops[0].span.end :] + candidate.snippet.source.data[: tops[0].span.start]
            )
            if not loose.strip() or _only_imports(wanted.snippet(loose.decode("utf-8", "surrogatepass"))):
                return FoundCode(candidate.snippet.text, (f'the reply calls it "{tops[0].name}"',))
    return None


def _inside(rest: list[CodeCandidate], wanted: ReplySpec) -> SearchResult:
    """The reply's code as the body of the unit, if possible."""
    if not wanted.symbol or not wanted.current:
        return NoCode(f'The reply does not define "{wanted.symbol}".' if wanted.symbol else NO_CODE)
    if any(candidate.snippet.top_units for candidate in rest):
        return NoCode(f'The reply does not define "{wanted.symbol}".')
    last = rest[-1]
    return wrapped(last.snippet.text, wanted) if last.block.closed else complete_part(last.snippet.text, wanted)
