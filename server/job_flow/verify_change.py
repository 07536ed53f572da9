"""Verifies a file, the workspace or what is staged, and shows the result where the code is.

The conclusion, its settings and its cache are those of `stet verify`. Nothing of it runs while the user types.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types

from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Evidence
from stet_ls.engine.errors import UsageError
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.engine.verify.render import lines, summary
from stet_ls.engine.verify.report import Conclusion, Report, UnitReport
from stet_ls.engine.verify.verify import verify
from stet_ls.server.documents.open_documents import Snapshot
from stet_ls.server.documents.position_tracking import PositionTracker
from stet_ls.server.errors import failure_of
from stet_ls.server.evidence.code_lenses import VerifiedLens
from stet_ls.server.evidence.verified_units import VerifiedFile
from stet_ls.server.job_flow.run_job import NO_DOCUMENT
from stet_ls.server.jobs.progress import JobProgress
from stet_ls.server.lsp.command_params import VerifyParams
from stet_ls.server.lsp.convert import VERIFY
from stet_ls.server.session import StetServer
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.source import Source, Span

Json = dict[str, Any]
Made = TypeVar("Made")
Work = Callable[[Callable[[str], None]], Awaitable[Made]]
"""Takes what is called with each step in words."""


@dataclass(frozen=True, slots=True)
class PreparedVerify:
    """What to verify, and the open documents at that moment. `file` is the only one whose result is shown, if any."""

    asked: ChangeQuery
    intent: str
    quiet: bool
    documents: tuple[tuple[Snapshot, PositionTracker], ...]
    file: Path | None

    @property
    def name(self) -> str:
        """What is verified, for messages."""
        return self.file.name if self.file else self.asked.folder.name

    def release(self) -> None:
        """Stops following the documents."""
        for _, track in self.documents:
            track.release()


def prepare(ls: StetServer, params: VerifyParams) -> PreparedVerify:
    """What a command is about. UsageError if its file or folder does not exist. Does not await."""
    uri = params.uri or ls.documents.latest()
    snapshot = ls.documents.snapshot(uri) if uri else None
    path = snapshot.path if snapshot is not None else None
    if params.scope == "file" and path is None:
        raise UsageError(f"uri: {uri} is not a file." if uri else NO_DOCUMENT)
    roots = ls.editor.roots()
    folder = path.parent if path is not None else next(iter(roots), None)
    if params.scope != "file":
        folder = next((each for each in roots if path is None or path.is_relative_to(each)), folder)
    if folder is None:
        raise UsageError("scope: no folder is open. Open one or pass `uri`.")
    followed = tuple((each, ls.documents.track(each)) for each in ls.documents.open_snapshots() if each.path)
    texts = {each.path.resolve(): each.source.data for each, _ in followed if each.path}
    only = path if params.scope == "file" else None
    asked = ChangeQuery(folder, staged=params.scope == "staged", paths=(only,) if only else (), documents=texts)
    return PreparedVerify(asked, params.intent, params.quiet, followed, only)


async def run(ls: StetServer, prepared: PreparedVerify) -> Json:
    """Verifies, shows the result, says the conclusion in one message, and returns the report."""
    report, outcome = await with_progress(ls, prepared, "verify", partial(_judged, ls, prepared), summary)
    if not prepared.quiet:
        kind = types.MessageType.Warning if report.conclusion is Conclusion.REFUTED else types.MessageType.Info
        ls.window_show_message(types.ShowMessageParams(kind, f"{prepared.name}: {outcome}"))
    return {**report.to_json(), "summary": outcome, "lines": list(lines(report))}


async def with_progress(
    ls: StetServer, prepared: PreparedVerify, stage: str, work: Work[Made], summarize: Callable[[Made], str]
) -> tuple[Made, str]:
    """What the work makes and its summary, with which the progress ends that is shown meanwhile."""
    running = asyncio.current_task()
    assert running is not None, "a coroutine runs in a task"
    title = f"Stet: {stage} {prepared.name}"
    shown = ls.client.work_done_progress
    progress = JobProgress(ls, f"stet/{stage}-{id(running)}", title, running.cancel, shown=shown)
    outcome = "cancelled"
    try:
        made = await work(lambda words: progress.on_event(Stage(stage, words)))
        outcome = summarize(made)
        return made, outcome
    except Exception as error:
        outcome = str(error)
        raise
    finally:
        progress.end(outcome)


def on_saved(ls: StetServer, snapshot: Snapshot) -> None:
    """A file was saved: shows what is found, and says nothing else."""
    if snapshot.path is not None:
        prepared = prepare(ls, VerifyParams(uri=snapshot.uri))
        ls.evidence.verified.supersede(ls.in_background(_quietly(ls, prepared), "verify a saved file"))


async def _quietly(ls: StetServer, prepared: PreparedVerify) -> None:
    try:
        await _judged(ls, prepared, lambda _: None)
    except Exception as error:  # noqa: BLE001 - a task's root: a file outside of git, a sandbox that is missing
        failure_of(error, during="verify a saved file")


async def _judged(ls: StetServer, prepared: PreparedVerify, on_progress: Callable[[str], None]) -> Report:
    try:
        ready = await ls.engine.get()
        context = read_change(prepared.asked)
        change = await asyncio.to_thread(context.__enter__)
        try:
            tools = toolbox(ready.settings, (change.root,))
            options = VerifyOptions(prepared.intent, tools=tools, on_progress=on_progress)
            report = await verify(change, ready.engine.runtimes, options)
            files = await asyncio.to_thread(_files, ls, change, report)
        finally:
            context.__exit__(None, None, None)
        ls.evidence.verified.keep(files, prepared.file.resolve() if prepared.file else None)
        for snapshot, track in prepared.documents:
            path = _real(snapshot)
            if path is not None and prepared.file in (None, snapshot.path):
                _show(ls, snapshot, track, files.get(path))
        return report
    finally:
        prepared.release()


def on_opened(ls: StetServer, snapshot: Snapshot) -> None:
    """Shows in a document that was opened what the last run found in it."""
    file = ls.evidence.verified.of(_real(snapshot))
    if file is not None and file.text == _plain(snapshot.source.text):
        track = ls.documents.track(snapshot)
        _show(ls, snapshot, track, file)
        track.release()


def _show(ls: StetServer, snapshot: Snapshot, track: PositionTracker, file: VerifiedFile | None) -> None:
    """Shows a file's result in its current text, as far as its lines are still the same. None: nothing was found."""
    live = ls.documents.snapshot(snapshot.uri)
    if live is None or not live.is_open:
        return
    same = file is not None and file.text == _plain(snapshot.source.text)
    judged, now = Source(file.text if file else ""), live.source
    findings, lenses = [], []
    for each in file.findings if file and same else ():
        if (span := _moved(judged, each.span, snapshot.source, track)) is not None:
            findings.append(_placed(each, span, now))
    for lens in file.lenses if file and same else ():
        if (span := _moved(judged, lens.span, snapshot.source, track)) is not None:
            lenses.append(VerifiedLens(lens.key, lens.title, span, lens.check))
    ls.diagnostics.verified(live, findings)
    ls.evidence.lenses.verified(live, lenses)


def _moved(judged: Source, span: Span, source: Source, track: PositionTracker) -> Span | None:
    """The lines of a judged text where they are now; None if they were changed since."""
    first, last = judged.line_of(span.start), judged.line_of(max(span.start, span.end - 1))
    return track.rebase(Span(source.starts[first], source.line_span(last).end))


def _placed(finding: Finding, lines_now: Span, now: Source) -> Finding:
    """The finding at the text of its line, without the indentation."""
    line = now.slice(lines_now).rstrip("\r\n")
    start = lines_now.start + len(line) - len(line.lstrip())
    return Finding(
        Span(start, lines_now.start + len(line.encode())), finding.message, "semantic", finding.severity, VERIFY,
        finding.code, now.line_of(start),
    )  # fmt: skip


def _files(ls: StetServer, change: Change, report: Report) -> Mapping[Path, VerifiedFile]:
    """What to show in each changed file."""
    found: dict[Path, VerifiedFile] = {}
    shown: dict[str, list[Finding]] = {}
    texts = {each.path: _plain(each.text(each.after) or "") for each in change.files}
    for each in report.findings:
        path, line = report.edited_place(each)
        where = "" if path == each.path else f"{each.path} "
        span = _line_span(Source(texts.get(path, "")), line)
        severity = Severity.ERROR if each.refutes else Severity.WARNING
        message = f"{where}{each.unit}: {each.detail}"
        shown.setdefault(path, []).append(Finding(span, message, "semantic", severity, VERIFY, each.check))
    for path, text in texts.items():
        source = Source(text)
        units = [each for each in report.units if each.unit.path == path and each.unit.name and each.unit.is_there]
        lenses = tuple(_lens(ls, each, source) for each in units)
        found[change.root / path] = VerifiedFile(text, tuple(shown.get(path, ())), lenses)
    return found


def _lens(ls: StetServer, report: UnitReport, source: Source) -> VerifiedLens:
    unit = report.unit
    first, last = (_line_span(source, max(at, unit.line)) for at in unit.lines)
    evidence = tuple(
        Evidence(Check(each.check), each.status, each.detail, each.refutes, each.seconds, attachments=each.attachments)
        for each in report.checks
    )
    key = ls.evidence.verified.add(f"`{unit.label}` in {unit.path}:{unit.line}: {report.conclusion}", evidence)
    compared = any(each.check is Check.DIFFERENTIAL and each.attachments for each in evidence)
    return VerifiedLens(key, lens_title(report), Span(first.start, last.end), Check.DIFFERENTIAL if compared else "")


def lens_title(report: UnitReport) -> str:
    """A unit's conclusion in a few words."""
    if different := next((each for each in report.checks if each.differing), None):
        return f"stet: behavior changed: {different.differing} of {different.inputs} inputs"
    if report.conclusion is Conclusion.OK:
        return f"stet: ok: {next(each.detail for each in report.checks if each.proves)}"
    why = next((f"{each.check}: {each.detail}" for each in report.checks if each.refutes), report.why)
    return f"stet: {report.conclusion}: {why}"


def _line_span(source: Source, line: int) -> Span:
    """A line of a text, from 1."""
    return source.line_span(min(max(line - 1, 0), len(source.starts) - 1))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _real(snapshot: Snapshot) -> Path | None:
    return snapshot.path.resolve() if snapshot.path is not None else None
