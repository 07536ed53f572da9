"""The syntax errors of open documents while the user types: from the grammar at once, from the best checker at rest.

A newer text replaces the older one at every step, so that findings of an outdated text are never shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from stet_ls.server.diagnostics.serial_executor import SerialExecutor
from stet_ls.validators.findings import Finding, Severity, Status, SyntaxResult, new_findings

if TYPE_CHECKING:
    from stet_ls.server.documents.open_documents import Documents, Snapshot
    from stet_ls.server.documents.position_tracking import PositionTracker
    from stet_ls.validators.checkers.toolbox import Toolbox

LOGGER = logging.getLogger(__name__)

SETTLE_SECONDS = 0.002
"""Delay that turns a burst of changes (a macro, an edit in many places) into one."""
REST_SECONDS = 0.25
"""Pause in typing before the best checker runs, which may have to start a process."""
PARSE_SECONDS = 1.0
"""Limit for the grammar to parse a text; starting from the previous tree takes a tenth of it."""
FIRST_SECONDS, WORDS_SECONDS = 0.07, 0.04
"""Limits for the grammar's first findings in all, and for wording them. The best checker's are better."""
CHECK_SECONDS = 3.0
"""Limit for the best checker."""

_FAST_CHECKS, _CHECKS = 2, 2  # threads; separate pools, because a check may wait for a slow tool
_LINE = re.compile(r"\bline \d+")


@dataclass(frozen=True, slots=True)
class _Settled:
    """Both results on a text at rest; `track` follows that text."""

    grammar_result: SyntaxResult
    result: SyntaxResult
    track: PositionTracker


@dataclass(eq=False)
class _Document:
    """One open document. `findings` are those of `judged`, which is None before the first result."""

    fast_checks: SerialExecutor
    checks: SerialExecutor
    judged: Snapshot | None = None
    findings: tuple[Finding, ...] = ()
    current: asyncio.Event = field(default_factory=asyncio.Event)
    is_complete: bool = False
    settled: _Settled | None = None
    task: asyncio.Task[None] | None = None


class LiveSyntax:
    """All documents that are checked as they change. `changed` is called with a URI at each result."""

    def __init__(self, documents: Documents, changed: Callable[[str], None]) -> None:
        self._texts = documents
        self._changed = changed
        self._documents: dict[str, _Document] = {}
        self._fast_checks = ThreadPoolExecutor(_FAST_CHECKS, "check-fast")
        self._checks = ThreadPoolExecutor(_CHECKS, "check")
        self.tools: Toolbox | None = None
        """The tools of the best checker; None for the built-in ones."""

    def refresh(self, snapshot: Snapshot, *, rest: float = REST_SECONDS) -> None:
        """Checks a document's text and cancels the check of an older one."""
        document = self._documents.get(snapshot.uri)
        if document is None:
            document = self._documents[snapshot.uri] = _Document(
                SerialExecutor(self._fast_checks), SerialExecutor(self._checks)
            )
        document.current.clear()
        document.is_complete = False
        if document.task is not None:
            document.task.cancel()
        document.task = asyncio.create_task(self._judge(document, snapshot, rest), name=f"judge {snapshot.uri}")
        document.task.add_done_callback(lambda task: _ended(document, task))

    def forget(self, uri: str) -> None:
        """Stops checking a document and drops its findings."""
        if (document := self._documents.pop(uri, None)) is not None:
            if document.task is not None:
                document.task.cancel()
            if document.settled is not None:
                document.settled.track.release()
            document.current.set()

    def close(self) -> None:
        """Stops checking; work in threads ends by itself."""
        for uri in tuple(self._documents):
            self.forget(uri)
        for pool in (self._fast_checks, self._checks):
            pool.shutdown(wait=False, cancel_futures=True)

    def judges(self, uri: str) -> bool:
        """True if the document is checked as it changes."""
        return uri in self._documents

    def reads(self, uri: str) -> bool:
        """True until at least the grammar has judged the newest text."""
        document = self._documents.get(uri)
        return document is not None and not document.current.is_set()

    def is_complete(self, uri: str) -> bool:
        """True once the best checker has judged the newest text."""
        document = self._documents.get(uri)
        return document is not None and document.is_complete

    def findings(self, uri: str, version: int | None) -> tuple[Finding, ...] | None:
        """The syntax errors of exactly that version; None if it was not judged."""
        document = self._documents.get(uri)
        judged = document.judged if document else None
        return document.findings if document and judged and judged.version == version else None

    async def current(self, uri: str) -> None:
        """Returns once at least the grammar has judged the newest text; at once if the document is not checked."""
        while (document := self._documents.get(uri)) is not None and not document.current.is_set():
            await document.current.wait()

    async def _judge(self, document: _Document, snapshot: Snapshot, rest: float) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        grammar_result = await document.fast_checks.run(_check_fast, snapshot)
        document.judged, document.findings = snapshot, _provisional(grammar_result, document.settled)
        document.current.set()
        self._changed(snapshot.uri)
        await asyncio.sleep(rest)
        result = await document.checks.run(_check, snapshot, self.tools)
        document.is_complete = True
        if result.status is not Status.UNKNOWN:
            if document.settled is not None:
                document.settled.track.release()
            document.settled = _Settled(grammar_result, result, self._texts.track(snapshot))
            document.findings = _advised(result)
        self._changed(snapshot.uri)


def _check_fast(snapshot: Snapshot) -> SyntaxResult:
    from stet_ls.validators import syntax  # imports the parsers: not before the handshake
    from stet_ls.validators.parsing.parse import parse

    source, language = snapshot.source, snapshot.language
    # A slow tree is kept all the same; the wording gets the remaining time, which may be none.
    started = time.monotonic()
    with contextlib.suppress(LookupError, TimeoutError):
        parse(source, language, deadline=PARSE_SECONDS)
    parsed = time.monotonic()
    words = min(WORDS_SECONDS, max(FIRST_SECONDS - (parsed - started), 0.0))
    result = syntax.check_fast(source, language, deadline=words)
    # Without time to group them, one error is reported as many.
    cut_short = time.monotonic() - parsed >= words
    return replace(result, findings=result.findings[:1]) if cut_short else result


def _check(snapshot: Snapshot, tools: Toolbox | None) -> SyntaxResult:
    from stet_ls.validators import syntax
    from stet_ls.validators.checkers.toolbox import BUILT_IN

    return syntax.check(
        snapshot.source, snapshot.language, path=snapshot.path, deadline=CHECK_SECONDS, tools=tools or BUILT_IN
    )


def _provisional(grammar_result: SyntaxResult, settled: _Settled | None) -> tuple[Finding, ...]:
    """The findings to show for a text that only the grammar has seen, based on both results on the text before it.

    If the grammar finds the same as then, the best checker's findings stay, at their new positions; if that checker
    corrected the grammar, only new errors count. So findings do not flicker while the user types elsewhere.
    """
    if settled is None:
        return _advised(grammar_result)
    fresh = new_findings(settled.grammar_result.findings, grammar_result.findings)
    gone = new_findings(grammar_result.findings, settled.grammar_result.findings)
    if grammar_result.status is Status.UNKNOWN or not (fresh or gone):
        known = _advised(settled.result)
        moved = _moved(known, settled.track)
        if grammar_result.status is not Status.ERROR or len(moved) == len(known):
            return moved
    return _advised(replace(grammar_result, findings=fresh) if settled.result.status is Status.OK else grammar_result)


def _moved(findings: Iterable[Finding], track: PositionTracker) -> tuple[Finding, ...]:
    """The findings at their current positions, without those whose text changed or whose message names another line."""
    live, moved = track.live(), []
    for finding in findings:
        place = track.rebase(finding.span)
        if place is None or live is None:
            continue
        line = live.line_of(place.start)
        if line != finding.line and _LINE.search(finding.message):
            continue
        related = tuple(
            replace(each, span=span) for each in finding.related if (span := track.rebase(each.span)) is not None
        )
        moved.append(replace(finding, span=place, line=line, related=related))
    return tuple(moved)


def _advised(result: SyntaxResult) -> tuple[Finding, ...]:
    """The findings, as warnings if the grammar alone judged and is known to reject too much valid code."""
    if result.authoritative or result.may_block:
        return result.findings
    return tuple(replace(each, severity=Severity.WARNING) for each in result.findings)


def _ended(document: _Document, task: asyncio.Task[None]) -> None:
    """Logs a bug that prevents a result, and releases the readers that wait for it."""
    if not task.cancelled() and (error := task.exception()) is not None:
        LOGGER.error("%s: %s", task.get_name(), error, exc_info=error)
        document.current.set()
