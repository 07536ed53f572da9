"""Applies an edit exactly where it belongs, or not at all.

Rebase on the live text → check the syntax again if the text has changed → ask if the edit is risky → compare versions
and send without an await in between → wait for the change that proves it. Only the last plan, made with no await
before the request is written, is ever sent.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from stet_ls.engine.actions.multi_file.chosen_parts import chosen_part
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.summary import phrase
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.server.documents.open_documents import Documents
from stet_ls.server.edits.edit_plan import DocumentChange, EditOrigin, EditPlan, StaleError, make_plan, write_binary
from stet_ls.server.evidence.evidence_text import headline, summarize, unrequested_risks
from stet_ls.server.job_flow.confirmation import ask_user, confirm_and_apply, not_applied, show_diff
from stet_ls.server.job_flow.diff_offer import KeptPart, offer_diff
from stet_ls.server.job_flow.edit_risks import Preview, edit_risks, must_ask, question
from stet_ls.server.job_flow.sent_edit import CONFIRM_SECONDS, ApplyResult, SentEdit, change_annotation
from stet_ls.server.jobs.job_registry import JobHandle, JobResult, JobStatus
from stet_ls.server.lsp.client_capabilities import ClientFeatures
from stet_ls.server.session import StetServer
from stet_ls.validators import syntax
from stet_ls.validators.checkers.toolbox import Toolbox

LATE_SECONDS = 60.0
"""How long to look for an edit that did not appear in time."""
ANSWER_SECONDS = 600.0
"""How long to look for a cancelled job's edit while the client has not answered: it may be asking the user."""
TURN_SECONDS = 10.0
"""How long an edit waits for the one that was sent before it."""
RETRY_SECONDS = 1.0
"""How long to wait for the didChange that explains a version mismatch."""
REBASES = 5
"""How often typing may invalidate the syntax check before Stet gives up."""

_VERSION = re.compile(r"version|changed", re.IGNORECASE)


async def apply_edit(ls: StetServer, job: JobHandle, answer: Answer, origin: EditOrigin, preview: Preview) -> JobResult:
    """Applies the edits of a job's answer, shows them to a client that cannot apply them, or refuses."""
    try:
        plan = await _judged_plan(ls, answer, origin)
        if plan.is_empty:
            return _refused(ls, answer, "The edit changes nothing.")
        if gap := _missing_capability(plan, ls.client):
            return await _show_instead(ls, job, answer, plan, gap)
        reasons = await asyncio.to_thread(edit_risks, answer, plan, origin.snapshot)
        # A project may set `never`: then a risky edit is not applied at all.
        if preview == "never" and (answer.refuted or unrequested_risks(answer)):
            return _refused(ls, answer, f"Not applied: {'; '.join(reasons)}.")
        if not must_ask(preview, reasons):
            return await _send(ls, job, answer, origin, None)
        if ls.client.change_annotations and not ls.client.shows_diffs:
            if ls.client.show_document and answer.evidence:  # its preview shows the diff, and one line of text
                await ls.evidence.files.show(job.id, answer)
            return await _send(ls, job, answer, origin, question(answer, reasons, answer.summary.body()))
    except StaleError as stale:
        return _refused(ls, answer, str(stale))

    async def send(part: KeptPart | None) -> JobResult:
        return await _send_kept(ls, job, answer, origin, part)

    ask = (
        offer_diff(ls, job, answer, reasons, origin)
        if ls.client.shows_diffs
        else ask_user(ls, job, answer, reasons, plan)
    )
    try:
        return await confirm_and_apply(ls, job, answer, ask, send)
    except StaleError as stale:
        return _refused(ls, answer, str(stale))


async def _send_kept(
    ls: StetServer, job: JobHandle, answer: Answer, origin: EditOrigin, part: KeptPart | None
) -> JobResult:
    """Sends the edit, or the part of it that the user kept or `stet.apply` asked for; that is judged again first."""
    try:
        if part is None and job.choice and job.request is not None:
            engine = (await ls.engine.get()).engine
            part = KeptPart(await engine.judge_part(job.request, chosen_part(answer, job.choice)), origin)
            if part.answer.refuted:
                failed = next(item for item in part.answer.evidence if item.verdict is Ruling.FAIL)
                return _refused(ls, answer, f"The part was not applied: {phrase(failed)}.")
        if part is None:
            return await _send(ls, job, answer, origin, None)
        return await _send_part(ls, job, answer, part)
    except StaleError as stale:
        return _refused(ls, answer, str(stale))


async def _send_part(ls: StetServer, job: JobHandle, answer: Answer, part: KeptPart) -> JobResult:
    """Sends what the user kept. The memory learns that they changed the edit."""
    try:
        result = await _send(ls, job, part.answer, part.origin, None)
    finally:
        part.origin.track.release()
    live = ls.documents.snapshot(part.origin.snapshot.uri)
    if result.applied and answer.metadata.trace and live is not None:
        ls.outcome_reporter.learn(answer.metadata.trace, "edited", live.source.text)
    return result


async def _judged_plan(ls: StetServer, answer: Answer, origin: EditOrigin) -> EditPlan:
    """A plan for the live text whose syntax was checked on exactly that text. Returns without an await after it."""
    tools = toolbox((await ls.engine.get()).settings, ls.editor.roots())
    judged: EditPlan | None = None
    for _ in range(REBASES):
        plan = make_plan(answer, origin, ls.documents)
        if not plan.rebased or (judged is not None and plan.same_texts(judged)):
            return plan
        await asyncio.to_thread(_judge, plan, answer.language, tools)
        judged = plan
    raise StaleError("Edit not applied: the document changes too fast to check the edit. Run the action again.")


def _judge(plan: EditPlan, language: str, tools: Toolbox) -> None:
    """Checks the syntax again: an edit that parsed in the request's text may not parse in this one."""
    for change in plan.changes:
        path = change.before.path
        before = syntax.check(change.before.source, language, path=path, tools=tools)
        after = syntax.check(change.after, language, path=path, tools=tools)
        broken = syntax.broken_by(before, after)
        if broken and after.may_block:
            raise StaleError(
                f"Edit not applied: after your change it no longer parses ({broken[0].message}). Run the action again."
            )


async def _send(ls: StetServer, job: JobHandle, answer: Answer, origin: EditOrigin, confirm: str | None) -> JobResult:
    """Sends the edit. `confirm` is the question that the client asks the user first."""
    annotation = None if confirm is None else change_annotation(headline(answer), confirm)
    async with _turn(ls.unconfirmed_edits.turn, waits=confirm is None):
        sent = SentEdit(ls, await _judged_plan(ls, answer, origin), answer, annotation)
        reply = await _reply_to(job, sent)
        if reply.applied is False and not job.cancelling:
            sent.close()
            if await _worth_retrying(ls.documents, sent.plan, reply, asked=confirm is not None):
                sent = SentEdit(ls, await _judged_plan(ls, answer, origin), answer, annotation)
                reply = await _reply_to(job, sent)
    if reply.seen:
        sent.close()
        return await _applied(ls, job, answer, sent.plan)
    if reply.applied is False:
        sent.close()
        return _declined(ls, job, answer, reply)
    ls.in_background(_watch_late_edit(ls, job, answer, sent), f"late change of {job.name}")
    names = ", ".join(sent.plan.names)
    if job.cancelling:
        message = f"Cancelled after the edit was sent; it may still appear in {names}. Check before you save."
        return JobResult(JobStatus.CANCELLED, message, applied=None, answer=answer)
    message = f"The editor reported success, but the edit did not appear in {names}. Check before you save."
    return JobResult(JobStatus.DONE, message, applied=None, answer=answer)


@asynccontextmanager
async def _turn(sending: asyncio.Lock, *, waits: bool) -> AsyncIterator[None]:
    """Serializes edits: an editor that ignores versions would apply the second to the wrong lines.

    A client that asks the user by itself compares versions; the wait for a silent client is limited.
    """
    mine = False
    if waits:
        with suppress(TimeoutError):
            async with asyncio.timeout(TURN_SECONDS):
                mine = await sending.acquire()
    try:
        yield
    finally:
        if mine:
            sending.release()


async def _reply_to(job: JobHandle, sent: SentEdit) -> ApplyResult:
    """The client's reply to an edit. If the job is cancelled, waits only a moment more."""
    try:
        return await sent.reply()
    except asyncio.CancelledError:
        if job.abandoned:
            sent.close()
            raise
    with suppress(asyncio.CancelledError):  # a second cancellation ends the wait
        return await sent.reply(CONFIRM_SECONDS)
    return ApplyResult(applied=None)


async def _applied(ls: StetServer, job: JobHandle, answer: Answer, plan: EditPlan) -> JobResult:
    """Finishes an applied edit: its lens and its outcome. Ignores a late cancellation."""
    ls.outcome_reporter.record(answer, "applied")
    for change in plan.changes[:1]:
        ls.outcome_watcher.applied(answer, change)
        with suppress(asyncio.CancelledError):  # the edit is applied; its lens follows in the background
            await asyncio.shield(
                ls.in_background(ls.evidence.lenses.applied(job.id, answer, change), f"lens of {job.name}")
            )
    late = "Too late to cancel: the edit was already sent. Undo it in the editor. " if job.cancelling else ""
    problem = await asyncio.to_thread(write_binary, plan.binary_files)
    note = f" · {problem}" if problem else ""
    message, short = late + summarize(answer) + note, "" if late or note else headline(answer)
    return JobResult(JobStatus.DONE, message, applied=True, answer=answer, short=short)


def _declined(ls: StetServer, job: JobHandle, answer: Answer, reply: ApplyResult) -> JobResult:
    if job.cancelling:
        ls.outcome_reporter.record(answer, "cancelled")
        return JobResult(JobStatus.CANCELLED, "Cancelled. The editor did not apply the edit.", False, answer)
    ls.outcome_watcher.rejected(answer)
    reason = f": {reply.reason}" if reply.reason else ""
    return not_applied(answer, f"The editor did not apply the edit{reason}.")


async def _watch_late_edit(ls: StetServer, job: JobHandle, answer: Answer, sent: SentEdit) -> None:
    """Waits for an edit that appears late, completes its processing, and corrects the job's result."""
    try:
        reply = await sent.reply(ANSWER_SECONDS)
        shows = reply.seen or (reply.applied is True and await sent.shown(LATE_SECONDS))
        # Another job may have sent the same text since: then it counts as that job's edit.
        if shows and not sent.repeated:
            job.replace_result(await _applied(ls, job, answer, sent.plan))
        elif reply.applied is False:
            job.replace_result(_declined(ls, job, answer, reply))
    finally:
        sent.close()


async def _worth_retrying(documents: Documents, plan: EditPlan, reply: ApplyResult, *, asked: bool) -> bool:
    """Whether the client refused because it is ahead: eglot asks for edits before it has sent its last didChange."""
    if any(_moved(documents, change) for change in plan.changes):
        return not asked or bool(_VERSION.search(reply.reason))
    if not _VERSION.search(reply.reason) or not plan.changes:
        return False
    track = documents.track(plan.changes[0].before)
    try:
        await asyncio.wait_for(track.wait_change(plan.changes[0].before.version), RETRY_SECONDS)
    except TimeoutError:
        return False
    finally:
        track.release()
    return True


def _moved(documents: Documents, change: DocumentChange) -> bool:
    live = documents.snapshot(change.before.uri)
    return live is not None and live.version != change.before.version


async def _show_instead(ls: StetServer, job: JobHandle, answer: Answer, plan: EditPlan, gap: str) -> JobResult:
    """Shows an edit to a client that cannot apply it: as a diff, and in the job's result."""
    where = await show_diff(ls, job, plan)
    ls.outcome_reporter.record(answer, "shown")
    return JobResult(JobStatus.DONE, f"{summarize(answer)} · {gap}; the diff is {where}", applied=False, answer=answer)


def _missing_capability(plan: EditPlan, client: ClientFeatures) -> str:
    """The capability that the client lacks for this plan, as text; "" if none."""
    if not client.apply_edit:
        return "the editor does not accept edits from a server"
    if plan.new_files and not (client.create_files and client.versioned_edits):
        return "the editor does not create files for a server"
    if plan.moves and not client.rename_files:
        return "the editor does not rename files for a server"
    return ""


def _refused(ls: StetServer, answer: Answer, message: str) -> JobResult:
    """The result for an edit that cannot be applied, with or without the user's consent."""
    ls.outcome_reporter.record(answer, "refused")
    return not_applied(answer, message)
