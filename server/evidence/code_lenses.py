"""Code lenses above edited and verified code that show its evidence. Each is removed when that code changes again."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stet_ls.engine.markdown import plain
from stet_ls.server.edits.edit_verification import inserted_spans
from stet_ls.validators.source import Source, Span

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer
    from stet_ls.server.documents.open_documents import Documents, Snapshot
    from stet_ls.server.documents.position_tracking import PositionTracker
    from stet_ls.server.edits.edit_plan import DocumentChange
    from stet_ls.server.lsp.client_capabilities import ClientFeatures

LOGGER = logging.getLogger(__name__)

KEPT = 100
"""Lenses at a time; the oldest is removed first."""
TITLE = 100
"""Characters that fit above a function."""
OF_EDIT = "edit"
"""The `data` of a lens of Stet's own edit, which clients let the user keep or undo; a lens of verify has none."""
REFRESH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Lens:
    """`span` is the changed unit in the text from which `track` follows it. `check` names the evidence that opens.

    `of_verify`: it is not about an edit of Stet's own.
    """

    uri: str
    title: str
    span: Span
    track: PositionTracker
    check: str = ""
    of_verify: bool = False


@dataclass(frozen=True, slots=True)
class VerifiedLens:
    """A lens for a verified unit. `span` is the unit in the current text; `key` names its evidence, `check` a part."""

    key: str
    title: str
    span: Span
    check: str = ""


class CodeLenses:
    """The lenses of one client; none if the client does not support them or the user disables them."""

    def __init__(self, ls: LanguageServer, documents: Documents, client: ClientFeatures) -> None:
        self._ls = ls
        self._documents = documents
        self._client = client
        self._lenses: OrderedDict[str, _Lens] = OrderedDict()
        self._enabled = True
        self._asking: set[asyncio.Task[None]] = set()

    def configure(self, *, enabled: bool) -> None:
        """Applies the settings."""
        self._enabled = enabled
        if not enabled:
            self.clear()

    async def applied(self, job: str, answer: Answer, change: DocumentChange) -> None:
        """The edit of a job is in its document: adds its lens."""
        live = self._documents.snapshot(change.before.uri)
        if not (self._enabled and self._client.code_lens and answer.evidence) or live is None or not live.is_open:
            return
        track = self._documents.track(live)
        span = await asyncio.to_thread(_changed_unit, live.source, change, live.language)
        self._lenses[job] = _Lens(live.uri, _title(answer), span, track)
        self._trim()
        self._refresh()

    def verified(self, live: Snapshot, rows: Sequence[VerifiedLens]) -> None:
        """The units of an open document were verified: shows their lenses instead of those of the last time."""
        for key in [key for key, lens in self._lenses.items() if lens.of_verify and lens.uri == live.uri]:
            self._drop(key)
        if self._enabled and self._client.code_lens:
            for row in rows:
                track = self._documents.track(live)
                self._lenses[row.key] = _Lens(live.uri, _fitted(row.title), row.span, track, row.check, of_verify=True)
            self._trim()
        self._refresh()

    def of(self, uri: str) -> list[types.CodeLens]:
        """The lenses of a document in its current state."""
        found = []
        for job, lens in tuple(self._lenses.items()):
            if lens.uri != uri:
                continue
            live, span = lens.track.live(), lens.track.rebase(lens.span)
            if live is None or span is None:
                self._drop(job)
                continue
            start = types.Position(live.line_of(span.start), 0)
            argument = {"job": job, **({"check": lens.check} if lens.check else {})}
            command = types.Command(lens.title, "stet.evidence", arguments=[argument])
            data = None if lens.of_verify else OF_EDIT
            found.append(types.CodeLens(types.Range(start, start), command, data))
        return found

    def changed(self, uri: str) -> None:
        """The document has a new text: asks clients to refresh that pull only on request."""
        had = sum(lens.uri == uri for lens in self._lenses.values())
        if had > len(self.of(uri)):
            self._refresh()

    def clear(self, uri: str | None = None) -> None:
        """Removes the lenses of a document, or all."""
        gone = [job for job, lens in self._lenses.items() if uri in (None, lens.uri)]
        for job in gone:
            self._drop(job)
        if gone:
            self._refresh()

    def forget(self, job: str) -> None:
        """Removes the lens of a job that is no longer kept: it could not open anything."""
        if job in self._lenses:
            self._drop(job)
            self._refresh()

    def _trim(self) -> None:
        while len(self._lenses) > KEPT:
            self._drop(next(iter(self._lenses)))

    def _drop(self, job: str) -> None:
        self._lenses.pop(job).track.release()

    def _refresh(self) -> None:
        if self._client.refresh_code_lenses:
            task = asyncio.create_task(self._ask(), name="refresh code lenses")
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                await self._ls.workspace_code_lens_refresh_async(None)
        except (JsonRpcException, TimeoutError) as error:
            LOGGER.info("client refresh failed: %s", error or "no answer")


def _changed_unit(live: Source, change: DocumentChange, language: str) -> Span:
    """The unit around the edit's largest insertion in one (imports may be merged elsewhere), else its lines."""
    from stet_ls.validators.structure import unit_at

    largest_first = sorted(inserted_spans(live, change), key=lambda span: span.start - span.end)
    for span in largest_first:
        # An insertion may end at the start of the line after its unit.
        if unit := unit_at(live, language, span) or unit_at(live, language, Span(span.start, span.start)):
            return unit.span
    largest = largest_first[0] if largest_first else Span(0, 0)
    first, last = (live.line_span(live.line_of(at)) for at in (largest.start, largest.end))
    return Span(first.start, last.end)


def _title(answer: Answer) -> str:
    """ "stet: 4 doctests pass · same behavior on 214 inputs · show"."""
    shown = _fitted(" · ".join(answer.metadata.reasons))
    return f"stet: {shown} · show" if shown else "stet: show evidence"


def _fitted(text: str) -> str:
    """A title: it may quote code, and clients may interpret it."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= TITLE else f"{line[: TITLE - 1].rstrip()}…"
