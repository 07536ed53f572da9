"""Watches an applied edit and reports to the engine: kept, edited, undone or rejected.

Each outcome is reported once; a kept or edited one may be reported as undone later, while its document is open.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from stet_ls.server.documents.open_documents import Documents, Snapshot
from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.server.edits.edit_verification import inserted_spans
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.edits.edit_plan import DocumentChange

WATCHED = 30
"""Edits that are watched at a time; the oldest is dropped first."""

OutcomeName = Literal["kept", "edited", "undone", "rejected"]
"""The values of the engine's `EditOutcome`, which is not imported before the handshake."""
OutcomeCallback = Callable[[str, OutcomeName, str], None]
"""Takes the trace id of a job, the outcome of its edit, and the current text of the document."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """One applied edit: the text before it, the spans that it inserted, and the track that follows them.

    `timer` reports it as kept or edited; None once that is reported. An undo is noticed even after that.
    """

    trace: str
    uri: str
    before: Source
    written: tuple[Span, ...]
    track: PositionTracker
    timer: asyncio.TimerHandle | None


class OutcomeWatcher:
    """The edits in open documents that were not undone."""

    def __init__(self, documents: Documents, on_outcome: OutcomeCallback) -> None:
        self._documents = documents
        self._on_outcome = on_outcome
        self._watches: OrderedDict[str, _Watch] = OrderedDict()
        self.stands_seconds = 60.0
        """Time without an undo after which an edit is reported as kept or edited, saved or not."""

    def rejected(self, answer: Answer) -> None:
        """The user, or the editor, rejected the edit."""
        if trace := answer.metadata.trace:
            self._on_outcome(trace, "rejected", answer.code)

    def applied(self, answer: Answer, change: DocumentChange) -> None:
        """The edit is in the document: watches it from now on."""
        trace, live = answer.metadata.trace, self._documents.snapshot(change.before.uri)
        if not trace or live is None or not live.is_open:
            return
        timer = asyncio.get_running_loop().call_later(self.stands_seconds, self._on_timer, trace)
        track = self._documents.track(live)
        self._watches[trace] = _Watch(
            trace, live.uri, change.before.source, inserted_spans(live.source, change), track, timer
        )
        while len(self._watches) > WATCHED:
            self._drop(next(iter(self._watches)))

    def changed(self, snapshot: Snapshot) -> None:
        """The document has a new text: if it is the one from before the edit, the edit was undone, saved or not."""
        for watch in self._of(snapshot.uri):
            if snapshot.source.text == watch.before.text:
                self._on_outcome(watch.trace, "undone", "")
                self._drop(watch.trace)

    def saved(self, snapshot: Snapshot) -> None:
        """The document was saved: the saved text is what the user accepted."""
        for watch in self._of(snapshot.uri):
            self._report(watch, snapshot)

    def closed(self, uri: str) -> None:
        """The document was closed, which is not reported as an outcome."""
        for watch in self._of(uri):
            self._drop(watch.trace)

    def _on_timer(self, trace: str) -> None:
        """The edit was not undone within the waiting time."""
        watch = self._watches.get(trace)
        if watch is not None and (live := self._documents.snapshot(watch.uri)) is not None:
            self._report(watch, live)

    def _report(self, watch: _Watch, snapshot: Snapshot) -> None:
        if watch.timer is None:
            return
        kept = all(watch.track.rebase(span) is not None for span in watch.written)
        self._on_outcome(watch.trace, "kept" if kept else "edited", snapshot.source.text)
        watch.timer.cancel()
        self._watches[watch.trace] = replace(watch, timer=None)

    def _of(self, uri: str) -> list[_Watch]:
        return [watch for watch in self._watches.values() if watch.uri == uri]

    def _drop(self, trace: str) -> None:
        watch = self._watches.pop(trace)
        if watch.timer is not None:
            watch.timer.cancel()
        watch.track.release()
