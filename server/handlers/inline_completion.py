"""Inline completion (LSP 3.18): off by default, since it asks the model while the user types."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types

from stet_ls.server.session import StetServer

LOGGER = logging.getLogger(__name__)

PAUSE = 0.25
"""Seconds without a change after which a completion is asked for by itself."""


async def inline_completion(
    ls: StetServer, params: types.InlineCompletionParams
) -> list[types.InlineCompletionItem] | None:
    """The continuation at the cursor; None if it is switched off, or nothing passed its checks."""
    settings = (ready := await ls.engine.get()).settings
    uri = params.text_document.uri
    asked = ls.documents.snapshot(uri)
    if not settings.editor.inline_completion or asked is None or ls.evidence.reports.owns(uri):
        return None
    if params.context.trigger_kind is types.InlineCompletionTriggerKind.Automatic:
        await asyncio.sleep(PAUSE)
    if ls.documents.snapshot(uri) != asked:
        return None  # the user types on; the next request follows
    from stet_ls.engine.api.budget import Budget
    from stet_ls.engine.errors import StetError
    from stet_ls.server.job_flow.run_job import request_of
    from stet_ls.server.lsp.command_params import ActionParams, Position

    at = Position(line=params.position.line, character=params.position.character)
    given = ActionParams(uri=uri, position=at, budget=Budget.QUICK)
    request, _ = request_of(ls, "generate", given)
    assert request.selection is not None
    try:
        text = await ready.engine.complete_inline(request, request.selection.span.start)
    except StetError as error:
        LOGGER.info("no inline completion: %s", error)
        return None
    return [types.InlineCompletionItem(text)] if text else None
