"""The findings of analyze and of verify, separate from the text: each moves with its lines until they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stet_ls.server.documents.open_documents import Documents, Snapshot
from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.validators.findings import Finding
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.edits.edit_plan import EditOrigin


@dataclass(frozen=True, slots=True)
class _Kept:
    """Findings of one text, and the track that follows it."""

    source: Source
    findings: tuple[Finding, ...]
    track: PositionTracker


class FindingStore:
    """The findings of all open documents, by URI."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._kept: dict[str, _Kept] = {}

    def keep(self, answer: Answer, origin: EditOrigin) -> str | None:
        """Keeps an answer's findings instead of older ones on the same target; returns the URI of an open document.

        `origin.track` must still follow the request's text.
        """
        snapshot = self._documents.snapshot(origin.snapshot.uri)
        if snapshot is None or not snapshot.is_open:
            return None
        uri, source = snapshot.uri, snapshot.source
        target = origin.track.rebase(answer.guard) if answer.guard else source.whole
        older = self.findings(uri) if target else ()  # an edited target has no known range
        found = [
            *(each for each in older if target and not target.overlaps(each.span)),
            *_moved(answer.findings, origin.snapshot.source, origin.track),
        ]
        self.forget(uri)
        if found:
            self._kept[uri] = _Kept(source, tuple(found), self._documents.track(snapshot))
        return uri

    def put(self, snapshot: Snapshot, findings: Iterable[Finding]) -> None:
        """Keeps findings of an open document's current text instead of all older ones."""
        self.forget(snapshot.uri)
        if found := tuple(findings):
            self._kept[snapshot.uri] = _Kept(snapshot.source, found, self._documents.track(snapshot))

    def findings(self, uri: str) -> tuple[Finding, ...]:
        """The findings of a document, at their current positions."""
        kept = self._kept.get(uri)
        return tuple(_moved(kept.findings, kept.source, kept.track)) if kept else ()

    def forget(self, uri: str) -> bool:
        """Drops the findings of a document; False if it has none."""
        kept = self._kept.pop(uri, None)
        if kept is not None:
            kept.track.release()
        return kept is not None

    def uris(self) -> tuple[str, ...]:
        """The documents that have findings."""
        return tuple(self._kept)


def _moved(findings: Iterable[Finding], source: Source, track: PositionTracker) -> Iterator[Finding]:
    """The findings of `source` whose lines are unchanged, at their current positions."""
    live = track.live()
    for finding in findings:
        first, last = (source.line_of(at) for at in (finding.span.start, finding.span.end))
        lines = Span(source.starts[first], source.line_span(last).end)
        place = track.rebase(lines)
        if place is not None and live is not None:
            start = place.start + finding.span.start - lines.start
            span = Span(start, start + finding.span.end - finding.span.start)
            yield replace(finding, span=span, line=live.line_of(start))
