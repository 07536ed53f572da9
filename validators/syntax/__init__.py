"""The syntax result on a text, and the errors that an edit added."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from stet_ls.validators import languages
from stet_ls.validators.checkers.checker_request import AdvisoryFindings, CheckerRequest, Unavailable
from stet_ls.validators.checkers.table import SLOW, checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.findings import Finding, Severity, Status, SyntaxResult, new_findings
from stet_ls.validators.parsing import grammars
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.source import Source, Span

THOROUGH = 10.0
"""Seconds in which every tool can answer, a compiler included."""

_LARGE = 64_000
"""Bytes beyond which our own checks, which read the whole tree, do not run for a keystroke's result."""
_ENOUGH_SECONDS = 0.5
"""Seconds of a deadline that leave time for them: 0.1 for 10,000 lines of C#."""


def check(
    source: Source, language: str, *, path: Path | None = None, deadline: float = THOROUGH, tools: Toolbox = BUILT_IN
) -> SyntaxResult:
    """The result on a text, by the best tool on this machine for the language that `tools` allow.

    A language's own parser decides; the grammar decides if there is none. `path` gives the kind of file and its
    project's manifest; the file itself is not read. `deadline` is in seconds, for everything together; with less than
    `SLOW` of them no compiler runs. Never raises because of the text; what could not be judged is UNKNOWN with a
    reason.
    """
    started = time.monotonic()
    name = languages.id_of(language)
    result: SyntaxResult | None = None
    failures: list[str] = []
    for checker in checkers(name, Role.SYNTAX, tools):
        left = deadline - (time.monotonic() - started)
        if left <= 0 or (checker.slow and left < SLOW):
            continue
        found = checker.check(CheckerRequest(source, name, path, min(left, checker.seconds), tools))
        if isinstance(found, Unavailable):
            failures += [] if found.missing else [found.reason]
            continue
        sure = checker.authoritative and not isinstance(found, AdvisoryFindings)
        status = Status.ERROR if found else Status.OK
        result = SyntaxResult(status, name, found, checker.name, authoritative=sure)
        break
    result = conclude(result, source, language, max(deadline - (time.monotonic() - started), 0.05))
    reason = "; ".join([*failures, *filter(None, [result.reason])])
    return replace(result, reason=reason)


def conclude(native: SyntaxResult | None, source: Source, language: str, deadline: float) -> SyntaxResult:
    """The result from a native tool's (None: there was none), with the grammar's explanations.

    A text that an authority accepts is not parsed again.
    """
    if native is not None and native.authoritative and native.status is Status.OK:
        return native
    return _merge(native, check_fast(source, language, deadline=deadline))


def _merge(native: SyntaxResult | None, seen: SyntaxResult) -> SyntaxResult:
    """A native error with the grammar's explanation; an adviser's with the grammar's findings."""
    if native is None:
        return seen
    from stet_ls.validators.syntax.messages import FENCE, STRAY, UNCLOSED, UNTERMINATED

    structural = tuple(each for each in seen.findings if each.code in (FENCE, UNCLOSED, STRAY, UNTERMINATED))
    if native.authoritative:
        own, echoes = _without_echoes(native.findings, structural, seen.findings)
        return replace(native, findings=structural + own, echoes=echoes)
    if seen.status is Status.UNKNOWN or (seen.status is Status.OK and native.status is Status.ERROR):
        return replace(native, may_block=False)
    return seen


def _without_echoes(
    found: tuple[Finding, ...], structural: tuple[Finding, ...], seen: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """A parser's findings, and those among them that only follow from a bracket or quote that the grammar explains.

    After such a place a parser rejects correct code; findings that the grammar also has there stay, and so do those
    that are not about parsing, which have a code.
    """
    if not structural:
        return found, ()
    lost = min(span.start for each in structural for span in (each.span, *(other.span for other in each.related)))
    faulty = {line for each in seen if each not in structural for line in (each.line - 1, each.line, each.line + 1)}
    own = tuple(each for each in found if each.span.start < lost or each.code or each.line in faulty)
    return own, tuple(each for each in found if each not in own)


def check_fast(source: Source, language: str, *, deadline: float = 0.2) -> SyntaxResult:
    """The result of the grammar alone: immediate, for every language that has one, while the user types."""
    # Imported here, because a text that its language's own tool accepts needs none of it: `stet check` starts a third
    # faster.
    from stet_ls.validators.syntax import compiled_regions, language_pack
    from stet_ls.validators.syntax.builtin_checks import builtin_findings

    started = time.monotonic()
    row = languages.language(language)
    name = row.id if row else language
    if row is not None and grammars.is_foreign(row):
        return language_pack.check_fast(source, row, deadline=deadline)
    try:
        parsed = parse(source, name, deadline=deadline)
    except (grammars.NoGrammarError, DeadlineError) as error:
        return SyntaxResult(Status.UNKNOWN, name, may_block=False, reason=str(error))
    findings = compiled_regions.explain(parsed, end=started + deadline) if parsed.root.has_error else ()
    if len(parsed.data) <= _LARGE or deadline >= _ENOUGH_SECONDS:
        findings = (*findings, *builtin_findings(parsed))
    if b"\0" in source.data:
        findings = (_binary(source), *findings)
    return SyntaxResult(
        Status.ERROR if any(finding.severity is Severity.ERROR for finding in findings) else Status.OK,
        name,
        findings,
        may_block=bool(row and row.trusted),
    )


def _binary(source: Source) -> Finding:
    """Some grammars take a NUL for the end of the text and find no errors after it."""
    at = source.data.index(b"\0")
    line = source.line_of(at)
    return Finding(Span(at, at + 1), "a NUL character: this is binary data and no source text", line=line)


def broken_by(before: SyntaxResult, after: SyntaxResult) -> tuple[Finding, ...]:
    """The errors that are in `after` and were not in `before`: only these count against an edit.

    If different tools judged (one was too slow once) their messages cannot be compared: then only a larger number of
    errors counts as new.
    """
    known, found = before.findings + before.echoes, after.findings + after.echoes
    if before.source == after.source or before.status is not Status.ERROR:
        return new_findings(known, found)
    return found[len(known) :]
