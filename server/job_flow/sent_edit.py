"""An edit that was sent to the client: watched until its text appears in the document.

A client's `applied: true` is no proof, and a sent edit cannot be recalled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.markdown import plain
from stet_ls.server.documents.open_documents import Documents
from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.server.edits.edit_plan import DocumentChange, EditPlan, new_document
from stet_ls.server.edits.edit_verification import is_applied
from stet_ls.server.edits.workspace_edit import workspace_edit
from stet_ls.server.evidence.evidence_text import headline
from stet_ls.server.session import StetServer

CONFIRM_SECONDS = 3.0
"""Limit for the change to appear after the client's answer."""
DISK_SECONDS = 0.05
"""The interval between checks of a file that the client never opened."""


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The known state of an edit: the client's answer (None: none yet), and `seen` if the text itself proved it."""

    applied: bool | None
    seen: bool = False
    reason: str = ""


class SentEdit:
    """One edit plan, sent on creation. `close` it when its outcome no longer matters."""

    def __init__(
        self, ls: StetServer, plan: EditPlan, answer: Answer, annotation: types.ChangeAnnotation | None
    ) -> None:
        """Sends the plan with the versions of this moment. With `annotation` the client asks the user first."""
        self.plan = plan
        self.repeated = False
        """True once a later edit with the same text was sent: if the text appears now, it counts as that one's."""
        metadata = types.WorkspaceEditMetadata(is_refactoring=True) if ls.client.edit_metadata else None
        edit = workspace_edit(plan, ls.client, annotation=annotation)
        params = types.ApplyWorkspaceEditParams(edit, f"Stet: {headline(answer)}", metadata)
        self.changes = [*plan.changes, *(new_document(file, answer.language) for file in plan.new_files)]
        self._tracks = [ls.documents.track(change.before) for change in self.changes]
        self._request = ls.protocol.send_request_async(types.WORKSPACE_APPLY_EDIT, params)
        self._request.add_done_callback(_forget)
        # The text may appear before the client answers, and some clients never answer.
        self._seen = asyncio.create_task(_seen(ls.documents, self.changes, self._tracks))
        self._unconfirmed = ls.unconfirmed_edits
        self._unconfirmed.add(self)

    async def reply(self, seconds: float | None = None) -> ApplyResult:
        """The client's answer or proof by the text; with `seconds`, the state after that time at the latest."""
        await asyncio.wait({self._request, self._seen}, return_when=asyncio.FIRST_COMPLETED, timeout=seconds)
        reply = self._state()
        if reply.applied:
            await self.shown(CONFIRM_SECONDS)
        return ApplyResult(reply.applied, self.seen, reply.reason)

    async def shown(self, seconds: float) -> bool:
        """True once its text appears, False after that many seconds without it."""
        await asyncio.wait({self._seen}, timeout=seconds)
        return self.seen

    @property
    def seen(self) -> bool:
        """Whether its text appeared."""
        return self._seen.done() and not self._seen.cancelled() and self._seen.exception() is None

    def close(self) -> None:
        """Stops watching."""
        self._unconfirmed.discard(self)
        self._seen.cancel()
        for track in self._tracks:
            track.release()

    def _state(self) -> ApplyResult:
        if self._seen.done():
            return ApplyResult(applied=True)
        if not self._request.done():
            return ApplyResult(applied=None)
        try:
            result: types.ApplyWorkspaceEditResult | None = self._request.result()
        except JsonRpcException as error:
            return ApplyResult(applied=False, reason=str(error).rstrip("."))
        if result is None:
            return ApplyResult(applied=True)
        return ApplyResult(result.applied, reason=(result.failure_reason or "").rstrip("."))


def change_annotation(done: str, question: str) -> types.ChangeAnnotation:
    """The client's question before it applies: `question`, below what was done, with a checkbox that is not ticked."""
    return types.ChangeAnnotation(
        f"Stet: {plain(done)} · select to apply", needs_confirmation=True, description=plain(question)
    )


def _forget(request: asyncio.Future[object]) -> None:
    """Retrieves a late answer, so that asyncio does not complain about its exception."""
    if not request.cancelled():
        request.exception()


async def _seen(documents: Documents, changes: Sequence[DocumentChange], tracks: Sequence[PositionTracker]) -> None:
    """Returns once every change appears in its document."""
    for change, track in zip(changes, tracks, strict=True):
        while (live := documents.snapshot(change.before.uri)) is None or not is_applied(live.source, change):
            if live is not None and live.is_open:
                await track.wait_change(live.version)
            else:
                await asyncio.sleep(DISK_SECONDS)  # the disk sends no events
