"""How an edit lands where it was meant, or not at all.

rebase on the live text → judge its syntax again if that text is another → ask if it is risky → compare versions and
send in one breath → wait for the change that proves it. Only the last plan, made with no await before the request is
written, is ever sent.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.configuration.toolbox import toolbox
from stet_ls.engine.markdown import fenced, plain
from stet_ls.engine.models import Answer
from stet_ls.server.client import Client
from stet_ls.server.confirm import Choice, Preview, ask, must_ask, offer, question, risks, why_asked
from stet_ls.server.documents import Documents
from stet_ls.server.evidence import dangers, told
from stet_ls.server.jobs import Ending, Job, JobStatus
from stet_ls.server.plan import Change, Origin, Plan, StaleError, created, make_plan
from stet_ls.server.session import StetServer
from stet_ls.server.shown import shows
from stet_ls.server.track import Track
from stet_ls.server.workspace_edit import workspace_edit
from stet_ls.validators import syntax
from stet_ls.validators.toolbox import Toolbox

CONFIRM_SECONDS = 3.0
"""How long after the client's answer the change may take to show."""
LATE_SECONDS = 60.0
"""How long an edit is looked for that did not show in time."""
RETRY_SECONDS = 1.0
"""How long to wait for the didChange that explains why the client found the version wrong."""
DISK_SECONDS = 0.05
"""How often a file that the client never opened is looked at."""
REBASES = 5
"""How often the user may outrun the syntax check before Stet gives up."""

_VERSION = re.compile(r"version|changed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reply:
    """The client's answer to an applyEdit; `seen` if the text itself proved it."""

    applied: bool
    seen: bool = False
    reason: str = ""


async def land(ls: StetServer, job: Job, answer: Answer, origin: Origin, preview: Preview) -> Ending:
    """Applies the edits of a job's answer, or hands them over, or refuses."""
    try:
        plan = await _judged_plan(ls, answer, origin)
        if not plan.changes and not plan.new_files:
            return _withheld(ls, answer, "The edit changes nothing.")
        if gap := _gap(plan, ls.client):
            return await _hand_over(ls, job, answer, plan, gap)
        reasons = await asyncio.to_thread(risks, answer, plan, origin.snapshot)
        # A project may set `never`: without a question such an edit does not land at all.
        if preview == "never" and (answer.refuted or dangers(answer)):
            return _withheld(ls, answer, f"Not applied: {'; '.join(reasons)}.")
        if not must_ask(preview, reasons):
            return await _send(ls, job, answer, origin, None)
        if ls.client.change_annotations:
            if ls.client.show_document and answer.evidence:  # its preview shows the diff, and of words a line
                await ls.shelf.show(job.id, answer)
            return await _send(ls, job, answer, origin, question(answer, reasons, _done(answer)))
        if not await _agreed(ls, job, answer, reasons, plan):
            ls.outcomes.rejected(answer)
            return _refused(answer, "Discarded; nothing was changed.")
        return await _send(ls, job, answer, origin, None)
    except StaleError as stale:
        return _withheld(ls, answer, str(stale))


async def _judged_plan(ls: StetServer, answer: Answer, origin: Origin) -> Plan:
    """A plan for the live text whose syntax was judged on exactly that text. Returns without an await after it."""
    tools = toolbox((await ls.engine.get()).settings)
    judged: Plan | None = None
    for _ in range(REBASES):
        plan = make_plan(answer, origin, ls.documents)
        if not plan.rebased or (judged is not None and plan.same_texts(judged)):
            return plan
        await asyncio.to_thread(_judge, plan, answer.language, tools)
        judged = plan
    raise StaleError("The document changes faster than the edit can be checked; run it again.")


def _judge(plan: Plan, language: str, tools: Toolbox) -> None:
    """The syntax delta once more: what parsed on the text of the request may not parse on this one."""
    for change in plan.changes:
        path = change.before.path
        before = syntax.check(change.before.source, language, path=path, tools=tools)
        after = syntax.check(change.after, language, path=path, tools=tools)
        broken = syntax.broken_by(before, after)
        if broken and after.may_block:
            raise StaleError(f"After your change the edit no longer parses ({broken[0].message}); run it again.")


async def _send(ls: StetServer, job: Job, answer: Answer, origin: Origin, confirm: str | None) -> Ending:
    plan = await _judged_plan(ls, answer, origin)
    for change in plan.changes:
        ls.sent_by[change.before.uri] = job.id
    reply = await _apply(ls, plan, answer, confirm)
    if not reply.applied and await _worth_retrying(ls.documents, plan, reply, asked=confirm is not None):
        plan = await _judged_plan(ls, answer, origin)
        reply = await _apply(ls, plan, answer, confirm)
    if not reply.applied:
        ls.outcomes.rejected(answer)
        reason = f": {reply.reason}" if reply.reason else ""
        return _refused(answer, f"The editor did not apply the edit{reason}.")
    if not reply.seen:
        names = ", ".join(plan.names)
        message = (
            f"The editor says that it applied the edit, but the new text did not show in {names}: look before you save."
        )
        ls.in_background(_late(ls, job, answer, plan), f"late change of {job.name}")
        return Ending(JobStatus.DONE, message, applied=None, answer=answer)
    await _landed(ls, job, answer, plan)
    return Ending(JobStatus.DONE, told(answer), applied=True, answer=answer)


async def _landed(ls: StetServer, job: Job, answer: Answer, plan: Plan) -> None:
    ls.became(answer, "applied")
    for change in plan.changes[:1]:
        ls.outcomes.landed(answer, change)
        await ls.lenses.landed(job.id, answer, change)


async def _late(ls: StetServer, job: Job, answer: Answer, plan: Plan) -> None:
    """What follows from an edit that shows after all, as on a busy machine: its lens, and what becomes of it."""
    tracks = [ls.documents.track(change.before) for change in plan.changes]
    try:
        await asyncio.wait_for(_seen(ls.documents, plan.changes, tracks), LATE_SECONDS)
    except TimeoutError:
        return
    finally:
        for track in tracks:
            track.release()
    # The same text may have been sent again since, by another job: then it is that one's.
    if all(ls.sent_by.get(change.before.uri) == job.id for change in plan.changes):
        await _landed(ls, job, answer, plan)


async def _apply(ls: StetServer, plan: Plan, answer: Answer, confirm: str | None) -> _Reply:
    """Sends the plan. The request is written before the first await: the versions in it are those of this instant.

    `confirm` is what the client asks its user first; clients show it below what was done.
    """
    metadata = types.WorkspaceEditMetadata(is_refactoring=True) if ls.client.edit_metadata else None
    annotation = None
    if confirm is not None:
        label = f"Stet: {plain(' · '.join(_done(answer)))}"
        annotation = types.ChangeAnnotation(label, needs_confirmation=True, description=plain(confirm))
    edit = workspace_edit(plan, ls.client, annotation=annotation)
    params = types.ApplyWorkspaceEditParams(edit, f"Stet: {answer.message}", metadata)
    changes = [*plan.changes, *(created(file, answer.language) for file in plan.new_files)]
    tracks = [ls.documents.track(change.before) for change in changes]
    request = ls.protocol.send_request_async(types.WORKSPACE_APPLY_EDIT, params)
    # The text may show before the client answers, and some clients never do.
    seen = asyncio.create_task(_seen(ls.documents, changes, tracks))
    try:
        await asyncio.wait({request, seen}, return_when=asyncio.FIRST_COMPLETED)
        reply = _Reply(applied=True) if seen.done() else _read(request)
        if reply.applied:
            await asyncio.wait({seen}, timeout=CONFIRM_SECONDS)
        return _Reply(reply.applied, seen.done() and seen.result() is None, reply.reason)
    finally:
        seen.cancel()
        request.add_done_callback(_forget)
        for track in tracks:
            track.release()


def _read(request: asyncio.Future[types.ApplyWorkspaceEditResult | None]) -> _Reply:
    try:
        result = request.result()
    except JsonRpcException as error:
        return _Reply(applied=False, reason=str(error).rstrip("."))
    if result is None:
        return _Reply(applied=True)
    return _Reply(result.applied, reason=(result.failure_reason or "").rstrip("."))


def _forget(request: asyncio.Future[object]) -> None:
    """Takes the late answer, so that asyncio does not complain about an exception that nobody looked at."""
    if not request.cancelled():
        request.exception()


async def _seen(documents: Documents, changes: Sequence[Change], tracks: Sequence[Track]) -> None:
    """Returns once every change shows in its document."""
    for change, track in zip(changes, tracks, strict=True):
        while (live := documents.snapshot(change.before.uri)) is None or not shows(live.source, change):
            if live is not None and live.is_open:
                await track.wait_change(live.version)
            else:
                await asyncio.sleep(DISK_SECONDS)  # the disk calls nobody


async def _worth_retrying(documents: Documents, plan: Plan, reply: _Reply, *, asked: bool) -> bool:
    """True if the client refused because it is ahead: eglot asks for edits before it has sent its last didChange."""
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


def _moved(documents: Documents, change: Change) -> bool:
    live = documents.snapshot(change.before.uri)
    return live is not None and live.version != change.before.version


async def _agreed(ls: StetServer, job: Job, answer: Answer, reasons: Sequence[str], plan: Plan) -> bool:
    """True if the person says so, who sees the diff and the evidence, or may look at them first."""
    if ls.client.shows_offers and answer.evidence:
        shown = await ls.shelf.take(job.id, answer, diff=await asyncio.to_thread(plan.diff))
        return await offer(ls, job.id, why_asked(reasons), shown["markdown"])
    while (choice := await ask(ls, question(answer, reasons))) in (Choice.SHOW_DIFF, Choice.SHOW_EVIDENCE):
        if choice is Choice.SHOW_DIFF:
            await _show_diff(ls, job, plan)
        else:
            await ls.shelf.show(job.id, answer)
    return choice is Choice.APPLY


async def _show_diff(ls: StetServer, job: Job, plan: Plan) -> str:
    return await ls.reports.show(f"{job.name}-diff", fenced(await asyncio.to_thread(plan.diff), "diff"))


async def _hand_over(ls: StetServer, job: Job, answer: Answer, plan: Plan, gap: str) -> Ending:
    """The edit for a client that cannot apply it: shown as a diff, and in the job's result."""
    where = await _show_diff(ls, job, plan)
    ls.became(answer, "shown")
    return Ending(JobStatus.DONE, f"{told(answer)} · {gap}; the diff is {where}", applied=False, answer=answer)


def _gap(plan: Plan, client: Client) -> str:
    """What the client lacks to take this plan, in words; "" if nothing."""
    if not client.apply_edit:
        return "your editor takes no edits from a server"
    if plan.new_files and not (client.create_files and client.versioned_edits):
        return "your editor creates no files for a server"
    return ""


def _done(answer: Answer) -> list[str]:
    """How the message begins, which is what was done: "Refactored `add`", "3 → 2 lines"."""
    return answer.message.split(" · ")[:2]


def _withheld(ls: StetServer, answer: Answer, message: str) -> Ending:
    """The edit may not land, whatever its user thinks of it."""
    ls.became(answer, "refused")
    return _refused(answer, message)


def _refused(answer: Answer, message: str) -> Ending:
    return Ending(JobStatus.REFUSED, message, applied=False, answer=answer)
