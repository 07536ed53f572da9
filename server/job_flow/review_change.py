"""Reviews a file, the workspace or what is staged, and shows the review as a report.

The review is that of `stet review`: judges, tools and a reviewer's findings, with a score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from lsprotocol import types

from stet_ls.engine.review.change_review import ReviewOptions, review_change
from stet_ls.engine.review.report import ChangeReview, as_markdown, review_summary
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.server.job_flow.verify_change import PreparedVerify, with_progress
from stet_ls.server.session import StetServer

Json = dict[str, Any]


async def run(ls: StetServer, prepared: PreparedVerify) -> Json:
    """Reviews, shows the report, says the score in one message, and returns the review."""
    try:
        review, outcome = await with_progress(ls, prepared, "review", partial(_reviewed, ls, prepared), review_summary)
    finally:
        prepared.release()
    text = as_markdown(review)
    if not ls.client.shows_reports:
        await ls.evidence.reports.show(f"review-{prepared.name}", text)
    if not prepared.quiet:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"{prepared.name}: {outcome}"))
    return {**review.to_json(), "summary": outcome, "markdown": text}


async def _reviewed(ls: StetServer, prepared: PreparedVerify, on_progress: Callable[[str], None]) -> ChangeReview:
    ready = await ls.engine.get()
    context = read_change(prepared.asked)
    change = await asyncio.to_thread(context.__enter__)
    try:
        judging = VerifyOptions(prepared.intent, tools=toolbox(ready.settings, (change.root,)), on_progress=on_progress)
        return await review_change(change, ready.engine, ReviewOptions(judging, on_progress=on_progress))
    finally:
        context.__exit__(None, None, None)
