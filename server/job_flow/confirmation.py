"""Asks the user about an edit. The wait is limited, but a late answer still counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.markdown import fenced, plain
from stet_ls.server.edits.edit_plan import EditPlan
from stet_ls.server.errors import failure_of
from stet_ls.server.job_flow.diff_offer import APPLY, DISCARD, Decision, KeptPart, send_offer
from stet_ls.server.job_flow.edit_risks import question, reasons_to_ask
from stet_ls.server.jobs.job_registry import JobHandle, JobResult, JobStatus
from stet_ls.server.session import StetServer

TIMEOUT = 600.0
"""Seconds for which a job waits for the user."""

Send = Callable[[KeptPart | None], Awaitable[JobResult]]
"""Sends the edit, or the part of it that the user kept."""


async def confirm_and_apply(
    ls: StetServer, job: JobHandle, answer: Answer, asking: Coroutine[Any, Any, Decision], send: Send
) -> JobResult:
    """Sends the edit if the user agrees, or `stet.apply` is called.

    If there is no answer the job ends, but its question stays open: a late outcome replaces the job's result.
    """
    agreed = ls.in_background(asking, f"question of {job.name}")
    applied = asyncio.ensure_future(job.apply_requested.wait())
    job.awaiting_confirmation = True

    def over() -> None:
        job.awaiting_confirmation = False
        agreed.cancel()
        applied.cancel()

    async def outcome() -> JobResult:
        try:
            decision = Decision(applies=True) if applied.done() else agreed.result()
        finally:
            over()
        if decision.applies:
            return await send(decision.part)
        ls.outcome_watcher.rejected(answer)
        return replace(not_applied(answer, "Edit discarded."), discarded=True)

    async def later() -> JobResult:
        await asyncio.wait({agreed, applied}, return_when=asyncio.FIRST_COMPLETED)
        try:
            ending = await outcome()
        except Exception as error:  # noqa: BLE001 - a task's root: a late yes gets a result even after an error
            failure = failure_of(error, during=f"late answer to {job.name}")
            ending = JobResult(JobStatus(failure.blame.value), failure.message, applied=False, answer=answer)
        job.replace_result(ending)
        return ending

    try:
        await asyncio.wait({agreed, applied}, timeout=TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        over()
        raise
    if agreed.done() or applied.done():
        return await outcome()
    job.deferred_result = ls.in_background(later(), f"late answer to {job.name}")
    why = f"Edit not applied: no response after {TIMEOUT / 60:.0f} minutes."
    return not_applied(answer, f"{why} Answer the open question or run `stet.apply` to apply it.")


async def show_diff(ls: StetServer, job: JobHandle, plan: EditPlan) -> str:
    """Shows the edit as a diff, and returns where."""
    return await ls.evidence.reports.show(f"{job.name}-diff", fenced(await asyncio.to_thread(plan.diff), "diff"))


def not_applied(answer: Answer, message: str) -> JobResult:
    """The result for an edit that was not applied."""
    return JobResult(JobStatus.REFUSED, message, applied=False, answer=answer)


async def ask_user(ls: StetServer, job: JobHandle, answer: Answer, reasons: Sequence[str], plan: EditPlan) -> Decision:
    """The decision of a user who sees the diff and the evidence, or can open them first."""
    if ls.client.shows_offers and answer.evidence:
        diff = fenced((await asyncio.to_thread(plan.diff)).rstrip(), "diff")
        shown = await ls.evidence.files.collect(job.id, answer, with_edit=False)
        params = {
            "job": job.id,
            "question": plain(reasons_to_ask(reasons)),
            "markdown": f"{diff}\n\n{shown['markdown']}",
        }
        return Decision((await send_offer(ls, params)).applies)
    while (choice := await ask_in_message_box(ls, question(answer, reasons))) in (
        ConfirmChoice.SHOW_DIFF,
        ConfirmChoice.SHOW_EVIDENCE,
    ):
        if choice is ConfirmChoice.SHOW_DIFF:
            await show_diff(ls, job, plan)
        else:
            await ls.evidence.files.show(job.id, answer)
    return Decision(choice is ConfirmChoice.APPLY)


class ConfirmChoice(StrEnum):
    """The user's answer."""

    APPLY = APPLY
    SHOW_DIFF = "Show diff"
    SHOW_EVIDENCE = "Show evidence"
    DISCARD = DISCARD


async def ask_in_message_box(ls: StetServer, question: str) -> ConfirmChoice:
    """Asks by message box. A dismissed one, or a client that cannot show one, means no."""
    try:
        chosen = await ls.choose(types.MessageType.Warning, question, [each.value for each in ConfirmChoice])
    except JsonRpcException:
        return ConfirmChoice.DISCARD
    return next((each for each in ConfirmChoice if each == chosen), ConfirmChoice.DISCARD)
