"""Runs a job: a snapshot, the engine, an applied edit or a report, and one sentence for the user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.engine.api.events import Event, Progress, Stage
from stet_ls.engine.api.plan import TaskOptions, TaskPriority
from stet_ls.engine.api.request import Buffer, Request, Selection, Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.edits.edit_plan import EditOrigin, name_of
from stet_ls.server.evidence.evidence_text import headline, summarize
from stet_ls.server.job_flow.apply_edit import apply_edit
from stet_ls.server.job_flow.confirmation import ConfirmChoice
from stet_ls.server.jobs.job_registry import JobHandle, JobResult, JobStatus
from stet_ls.server.jobs.progress import JobProgress
from stet_ls.server.lsp.command_params import ActionParams, TaskParams
from stet_ls.server.lsp.convert import diagnostic_of, offset_of, span_of
from stet_ls.server.session import StetServer
from stet_ls.validators.source import Span

FOLLOW_SECONDS = 2.0
"""How long a finished job waits for a plugin to request its report, before the server shows it."""
NO_DOCUMENT = "uri: no document is open. Open one or pass `uri`."


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """The input of a job, taken at one moment: nothing here changes while the job runs."""

    action: str
    params: ActionParams
    origin: EditOrigin
    request: Request


def start_job(ls: StetServer, action: str, params: ActionParams) -> JobHandle:
    """Starts a job on the current document, and returns at once. UsageError if there is no such position.

    There is no await between reading the command and the snapshot: the next message may change the text.
    """
    return start_prepared(ls, prepare(ls, action, params))


def prepare(ls: StetServer, action: str, params: ActionParams) -> PreparedJob:
    """The snapshot for a job. A caller that does not start it releases `origin.track`. UsageError as above."""
    request, snapshot = request_of(ls, action, params)
    return PreparedJob(action, params, EditOrigin(snapshot, ls.documents.track(snapshot)), request)


def start_prepared(ls: StetServer, prepared: PreparedJob) -> JobHandle:
    """Starts a prepared job, and returns at once."""
    snapshot = prepared.origin.snapshot
    job = JobHandle(prepared.action, snapshot.uri, prepared.params)
    title = f"Stet: {prepared.action} {name_of(snapshot)}"
    progress = JobProgress(ls, f"stet/{job.id}", title, job.cancel, shown=ls.client.work_done_progress)

    async def run(job: JobHandle) -> JobResult:
        return await _run(ls, job, prepared, progress)

    def on_later(later: asyncio.Future[JobResult]) -> None:
        prepared.origin.track.release()
        if not later.cancelled() and later.exception() is None:
            _announce(ls, job, later.result())

    def on_end(job: JobHandle) -> None:
        assert job.result is not None
        if job.deferred_result is None:
            prepared.origin.track.release()
        else:
            job.deferred_result.add_done_callback(on_later)
        sent = job.result.answer is not None  # a job that is cancelled before its edit was sent ends without its answer
        progress.end("cancelled" if job.status is JobStatus.CANCELLED and not sent else job.result.message)
        if job.status is JobStatus.CANCELLED and job.answer is not None:
            ls.outcome_reporter.record(job.answer, "sent" if sent and job.result.applied is None else "cancelled")
        _announce(ls, job, job.result)
        if ls.jobs.idle:
            ls.in_background(ls.engine.close_retired(), "close engines of former settings")

    return ls.jobs.start(job, run, on_end)


def request_of(ls: StetServer, action: str, params: ActionParams) -> tuple[Request, Snapshot]:
    """The engine's request, and the snapshot that it is about. UsageError names the invalid argument."""
    uri = params.uri or ls.documents.latest()
    if uri is None:
        raise UsageError(NO_DOCUMENT)
    snapshot = ls.documents.snapshot(uri)
    if snapshot is None:
        raise UsageError(f"uri: {uri} is not open and is not a readable text file.")
    source, encoding = snapshot.source, ls.client.encoding
    request = Request(
        action=action,
        language=snapshot.language,
        source=source,
        selection=_selection(params, snapshot, ls),
        path=snapshot.path,
        instruction=params.instruction,
        constraints=params.constraints,
        context=params.context,
        diagnostics=tuple(diagnostic_of(each, source, encoding) for each in params.diagnostics),
        budget=params.budget,
        workspace=Workspace(ls.editor.roots(), _buffers(ls)),
        fresh=params.fresh,
        task=_task(ls, params, snapshot),
    )
    return _meaning_the_comment(request), snapshot


def _meaning_the_comment(request: Request) -> Request:
    """The request without an instruction that only repeats the `stet:` comment it means, which the edit replaces.

    Plugins fill their input box with that comment.
    """
    from stet_ls.engine.prompt.target import comment_for

    comment = comment_for(request) if request.instruction.strip() else None
    return replace(request, instruction="") if comment and comment.text == request.instruction.strip() else request


def _task(ls: StetServer, params: ActionParams, snapshot: Snapshot) -> TaskOptions | None:
    """How a task is to be done; None for other actions. Paths may be relative to the document's open folder."""
    if not isinstance(params, TaskParams):
        return None
    own = snapshot.path or Path()
    folder = next((root for root in ls.editor.roots() if own.is_relative_to(root)), own.parent)
    files = tuple(folder / name for name in params.files)
    return TaskOptions(
        params.plan, params.plan_only, params.task, params.after, files, params.libraries,
        params.priority and TaskPriority(params.priority), params.deadline,
    )  # fmt: skip


def _buffers(ls: StetServer) -> tuple[Buffer, ...]:
    """The open documents, whose texts replace those on the disk."""
    return tuple(
        Buffer(each.path, each.version or 0, each.source.text)
        for each in ls.documents.open_snapshots()
        if each.path is not None
    )


def _selection(params: ActionParams, snapshot: Snapshot, ls: StetServer) -> Selection | None:
    source, encoding = snapshot.source, ls.client.encoding
    if params.range is not None:
        _within("range", params.range.start.line, snapshot)
        return Selection(span_of(params.range, source, encoding))
    if params.position is not None:
        _within("position", params.position.line, snapshot)
        at = offset_of(params.position, source, encoding)
        return Selection(Span(at, at))
    return None


def _within(field: str, line: int, snapshot: Snapshot) -> None:
    count = snapshot.source.line_count
    if line >= count:
        raise UsageError(f"{field}: line {line} is outside {name_of(snapshot)}, which has {count} lines (from 0).")


async def _run(ls: StetServer, job: JobHandle, prepared: PreparedJob, progress: JobProgress) -> JobResult:
    def on_event(event: Event) -> None:
        if isinstance(event, Stage):
            job.stage = event.name
        elif isinstance(event, Progress) and event.text:
            job.written = event.text
        progress.on_event(event)

    # Right after the start of the server this waits for imports and for the editor's settings.
    on_event(Stage("starting"))
    ready = await ls.engine.get()
    ls.indexing.look()
    if (listed := ready.engine.actions.awaiting_trust(prepared.action)) is not None:
        on_event(Stage("trust"))
        ready = await ls.consent.project_trust.ask(listed, ready)
    job.request = prepared.request
    job.answer = answer = await ready.engine.run(prepared.request, on_event=on_event)
    if answer.files:
        job.answer = answer = await ls.evidence.produced.show(answer)
    for warning in answer.warnings:
        ls.log(warning)
    if not answer.success:
        return JobResult(JobStatus.REFUSED, summarize(answer), applied=False, answer=answer, short=headline(answer))
    if answer.base is not None:
        ls.diagnostics.analyzed(answer, prepared.origin)
    if answer.changes_files:
        if answer.plan is not None and answer.markdown and not answer.files:  # steps that ended in a report
            await ls.evidence.reports.show(job.name, answer.markdown)
        on_event(Stage("landing"))
        preview = prepared.params.preview or ready.settings.editor.preview
        return await apply_edit(ls, job, answer, prepared.origin, preview)
    # A plugin does not follow the jobs that its editor starts from the menu of code actions.
    if ls.client.shows_reports and await _is_followed(job):
        return JobResult(JobStatus.DONE, answer.message, answer=answer, short=headline(answer))
    where = await ls.evidence.reports.show(job.name, answer.markdown)
    return JobResult(JobStatus.DONE, f"{answer.message} ({where})", answer=answer)


async def _is_followed(job: JobHandle) -> bool:
    """Whether a plugin waits for the result. A quick job may end before that request arrives."""
    try:
        async with asyncio.timeout(FOLLOW_SECONDS):
            await job.has_waiter.wait()
    except TimeoutError:
        return False
    return True


_SHOWN = {JobStatus.REFUSED: types.MessageType.Warning, JobStatus.FAILED: types.MessageType.Error}


def _announce(ls: StetServer, job: JobHandle, ending: JobResult) -> None:
    """Shows one sentence to the user: a message box if they have to act, else a line in the log."""
    kind = _SHOWN.get(ending.status)
    if ending.discarded and ls.client.shows_diffs:
        kind = None  # the user pressed a button, and its diff is closed
    if job.cancelling and ending.answer is not None:
        # The edit was already sent: the user who cancelled is shown its outcome.
        kind = {True: types.MessageType.Info, None: types.MessageType.Warning}.get(ending.applied)
    elif ending.status is JobStatus.DONE and ending.applied is not True and _edits(ending):
        # Handed over as a diff (False), or did not appear in the document (None).
        kind = types.MessageType.Info if ending.applied is False else types.MessageType.Warning
    elif ending.applied is True and not ls.client.work_done_progress:
        kind = types.MessageType.Info  # such clients hide their log: Eglot drops it
    if ending.missing_model:
        ls.in_background(_offer_model(ls, job, ending), "offer the embedded model")
    elif ending.model_failed and ls.client.message_buttons and ls.client.chooses_models:
        ls.in_background(_offer_again(ls, job, ending), "offer the job again")
    elif kind is not None and ls.client.message_buttons and ending.answer and ending.answer.evidence:
        ls.in_background(_offer_evidence(ls, job, kind, ending), "offer evidence")
    elif kind is not None:
        ls.window_show_message(types.ShowMessageParams(kind, ending.message))
    elif ending.status is JobStatus.DONE:
        ls.log(ending.message)


NO_MODEL = "stet/noModel"
"""A request to plugins that let the user choose a model: `{job, message, name, megabytes, needs}`, null answers.

`name` is the embedded model to download, and `needs` what it takes. The plugin runs the job again once there is one.
"""


MODEL_FAILED = "stet/modelFailed"
"""A request to plugins that also show buttons: `{job, message}`, null answers.

The model of a job could not be asked. The plugin shows why, and offers to run the job again and to choose a model.
"""


async def _offer_model(ls: StetServer, job: JobHandle, ending: JobResult) -> None:
    """Offers a model to a job that has none, which runs again with it."""
    name = ending.missing_model
    if not ls.client.chooses_models:
        await ls.consent.model_download.offer(name, ending.message, ls.consent.model_setup.ask, lambda: _again(ls, job))
        return
    from stet_ls.engine.model.embedded.weights import WEIGHTS

    weights = WEIGHTS[name]
    needs = {"megabytes": weights.megabytes, "needs": weights.needs}
    params = {"job": job.id, "message": ending.message, "name": name, **needs}
    await ls.protocol.send_request_async(NO_MODEL, params)


async def _offer_again(ls: StetServer, job: JobHandle, ending: JobResult) -> None:
    """Has a plugin show why the model failed, with buttons."""
    await ls.protocol.send_request_async(MODEL_FAILED, {"job": job.id, "message": ending.message})


def _again(ls: StetServer, job: JobHandle) -> None:
    """Runs a job again, for which a model is here now, on the current text."""
    try:
        start_job(ls, job.action, job.params.model_copy(update={"uri": job.uri}))
    except UsageError as error:  # its document was closed meanwhile, or is shorter now
        ls.log(f"{job.name} did not start again: {error}")


async def _offer_evidence(ls: StetServer, job: JobHandle, kind: types.MessageType, ending: JobResult) -> None:
    """Shows the sentence with a button that opens its evidence."""
    try:
        chosen = await ls.choose(kind, ending.message, [ConfirmChoice.SHOW_EVIDENCE.value])
    except JsonRpcException:
        ls.window_show_message(types.ShowMessageParams(kind, ending.message))
        return
    if chosen == ConfirmChoice.SHOW_EVIDENCE and ending.answer is not None:
        await ls.evidence.files.show(job.id, ending.answer)


def _edits(ending: JobResult) -> bool:
    return ending.answer is not None and ending.answer.changes_files
