"""Reviews a file, the workspace or what is staged, and shows the review as a report.

The review is that of `stet review`: judges, tools and a reviewer's findings, with a score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lsprotocol import types

from stet_ls.engine.api.events import Stage
from stet_ls.engine.review.change_review import ReviewOptions, review_change
from stet_ls.engine.review.report import ChangeReview, as_markdown, review_summary
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.server.job_flow.verify_change import PreparedVerify
from stet_ls.server.jobs.progress import JobProgress
from stet_ls.server.session import StetServer

Json = dict[str, Any]


async def run(ls: StetServer, prepared: PreparedVerify) -> Json:
    """Reviews, shows the report, says the score in one message, and returns the review."""
    name = prepared.file.name if prepared.file else prepared.asked.folder.name
    running = asyncio.current_task()
    assert running is not None, "a coroutine runs in a task"
    progress = JobProgress(
        ls, f"stet/review-{id(running)}", f"Stet: review {name}", running.cancel, shown=ls.client.work_done_progress
    )
    outcome = "cancelled"
    try:
        review = await _reviewed(ls, prepared, lambda words: progress.on_event(Stage("review", words)))
        outcome = review_summary(review)
    except Exception as error:
        outcome = str(error)
        raise
    finally:
        progress.end(outcome)
        prepared.release()
    text = as_markdown(review)
    if not ls.client.shows_reports:
        await ls.evidence.reports.show(f"review-{name}", text)
    if not prepared.quiet:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"{name}: {outcome}"))
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
