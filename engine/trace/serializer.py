"""Makes a record of a job without its secrets. Slow for large texts: not for an event loop."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import takewhile
from typing import Any

from stet_ls import __version__
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import Event, JudgeFinished, Notice, Requested, Stage
from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import EndpointError
from stet_ls.engine.privacy.ignored_files import IgnoredFiles, left_out
from stet_ls.engine.prompt.seal import is_config, listed_values
from stet_ls.engine.trace import record as form
from stet_ls.engine.trace.recorder import FinishedJob, ModelCall
from stet_ls.engine.trace.scrubber import Scrubber

SETTINGS: Mapping[str, Any] = {
    "deadline": True,
    "models": True,
    "model": {"temperature", "max_tokens"},
    "checks": {
        "validation",
        "auto_fix",
        "fix_attempts",
        "example_calls",
        "format_edits",
        "findings",
        "review",
        "search",
    },
}
"""Settings that an answer depends on and any record may contain: none starts a program or grants a permission."""

_BUFFERS_BYTES = 400_000
"""Maximum total size of the unsaved documents other than the target."""


def make_record(job: FinishedJob) -> form.Record:
    """The record of a job. Reads the `.env` files around its document."""
    sealed = job.recorder.sealed
    request = job.request
    values = sealed.values or listed_values(request)
    scrubber = Scrubber(sealed.secrets, values, config=is_config(request))
    ignored = IgnoredFiles(request.workspace, job.settings.privacy.ignore)
    asked = _recorded_request(request, scrubber, ignored)
    former = [(), *(call.messages for call in job.recorder.calls)]
    calls = tuple(_called(call, before, scrubber) for call, before in zip(job.recorder.calls, former, strict=False))
    answer = None if job.answer is None else hidden_answer(job.answer, scrubber)
    record = form.Record(
        stet_trace=form.VERSION,
        id=job.id,
        at=job.at,
        ended=job.ended,
        seconds=round(job.seconds, 3),
        whole=True,
        versions=form.RecordVersions(
            stet=__version__, python=platform.python_version(), system=f"{sys.platform} {platform.machine()}"
        ),
        request=asked,
        settings=scrubber.anything(job.settings.model_dump(mode="json", include=dict(SETTINGS))),
        profile=scrubber.anything(asdict(job.profile)),
        calls=calls,
        events=tuple(
            _happened(at, event, scrubber) for at, event in job.recorder.events if not isinstance(event, Requested)
        ),
        stages={name: round(seconds, 4) for name, seconds in job.stages.items()},
        answer=answer,
        error=None if job.error is None else recorded_error(job.error, scrubber),
    )
    data = scrubber.everywhere(record.model_dump(mode="json"))
    data["request"]["hidden"] = scrubber.stand_ins
    # No reply can reproduce an answer from memory.
    recalled = job.answer is not None and job.answer.metadata.memory_hits > 0 and not job.answer.metadata.calls
    return form.Record.model_validate({**data, "whole": scrubber.whole and not recalled})


def _recorded_request(request: Request, scrubber: Scrubber, ignored: IgnoredFiles) -> form.RecordedRequest:
    selection = () if request.selection is None else (request.selection.span,)
    text, spans = scrubber.document(
        request.source.text, *selection, *(diagnostic.span for diagnostic in request.diagnostics)
    )
    chosen = spans[0] if selection else None
    secret = left_out(request.context, ignored)
    context = {name: value for name, value in request.context.items() if name not in secret}
    buffers, missing = _buffers(request, scrubber, ignored)
    return form.RecordedRequest(
        action=request.action,
        language=request.language,
        text=text,
        selection=None if chosen is None else (chosen.start, chosen.end),
        path=None if request.path is None else scrubber.path(request.path),
        instruction=scrubber.text(request.instruction),
        constraints=tuple(map(scrubber.text, request.constraints)),
        context={scrubber.text(name): scrubber.text(value) for name, value in context.items()},
        diagnostics=tuple(
            form.RecordedDiagnostic(
                span=(span.start, span.end),
                message=scrubber.text(diagnostic.message),
                severity=diagnostic.severity.value,
                source=scrubber.text(diagnostic.source),
                code=scrubber.text(diagnostic.code),
            )
            for diagnostic, span in zip(request.diagnostics, spans[len(selection) :], strict=True)
        ),
        budget=request.budget,
        roots=tuple(map(scrubber.path, request.workspace.roots)),
        buffers=buffers,
        hidden={},
        left_out=tuple(scrubber.text(f"{name} ({why})") for name, why in {**secret, **missing}.items()),
        candidate=scrubber.text(request.candidate),
    )


def _buffers(
    request: Request, scrubber: Scrubber, ignored: IgnoredFiles
) -> tuple[tuple[form.RecordedBuffer, ...], dict[str, str]]:
    """The other unsaved documents that may be shown and fit, and why the others are missing."""
    kept: list[form.RecordedBuffer] = []
    missing: dict[str, str] = {}
    room = _BUFFERS_BYTES
    for buffer in request.workspace.buffers:
        if buffer.path == request.path:
            continue
        why = ignored.reason(buffer.path) or ("too large" if len(buffer.text) > room else None)
        if why is not None:
            missing[buffer.path.name] = why
            continue
        room -= len(buffer.text)
        kept.append(
            form.RecordedBuffer(
                path=scrubber.path(buffer.path), version=buffer.version, text=scrubber.text(buffer.text)
            )
        )
    return tuple(kept), missing


def _called(call: ModelCall, former: tuple[Message, ...], scrubber: Scrubber) -> form.RecordedCall:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(former, call.messages, strict=False)))
    turns = (form.RecordedMessage(role=each.role, content=scrubber.sent(each.content)) for each in call.messages[same:])
    return form.RecordedCall(
        at=call.at,
        seconds=call.seconds,
        same=same,
        messages=tuple(turns),
        temperature=call.sampling.temperature,
        max_tokens=call.sampling.max_tokens,
        deadline=round(call.deadline, 3),
        requests=tuple(_endpoint_request(request, scrubber) for request in call.requests),
        reply=_reply(call, scrubber),
        error=None if call.error is None else recorded_error(call.error, scrubber),
    )


def _endpoint_request(request: Requested, scrubber: Scrubber) -> form.EndpointRequest:
    row = asdict(request) | {"head": request.head.decode("utf-8", "replace")}
    return form.EndpointRequest(**scrubber.anything(row))


def _reply(call: ModelCall, scrubber: Scrubber) -> form.RecordedReply | None:
    got = call.completion
    if got is None:
        return None
    usage = got.usage
    return form.RecordedReply(
        text=scrubber.sent(got.text),
        reasoning=scrubber.sent(got.reasoning),
        finish=got.finish,
        usage=None if usage is None else (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens),
        model=scrubber.text(got.model),
        endpoint=scrubber.text(got.endpoint),
        first_token_seconds=round(got.first_token_seconds, 4),
        seconds=round(got.seconds, 4),
        requests=got.requests,
        warnings=tuple(map(scrubber.text, got.warnings)),
        cost=got.cost,
        fault="" if got.fault is None else got.fault.value,
        streamed=got.streamed,
        runaway=got.runaway,
    )


def _happened(at: float, event: Event, scrubber: Scrubber) -> form.RecordedEvent:
    match event:
        case Stage(name, detail):
            return form.RecordedEvent(at=at, what="stage", name=name, detail=scrubber.text(detail))
        case JudgeFinished(evidence):
            detail = f"{evidence.verdict}: {evidence.detail}"
            return form.RecordedEvent(at=at, what="judged", name=evidence.label, detail=scrubber.text(detail))
        case Notice(message):
            return form.RecordedEvent(at=at, what="notice", name="", detail=scrubber.text(message))
    return form.RecordedEvent(at=at, what="notice", name=type(event).__name__, detail="")


def hidden_answer(answer: Answer, scrubber: Scrubber) -> dict[str, Any]:
    """The answer as JSON without secrets, spans as in the record's text, with the parts of its summary."""
    edits = []
    for edit in answer.edits:
        text, (span,) = scrubber.document(edit.base.text, edit.span)
        edits.append(replace(edit, base=type(edit.base)(text), span=span))
    data = {**replace(answer, edits=tuple(edits)).to_json(), "summary": asdict(answer.summary)}
    for place in (*data["edits"], *data["new_files"], *data["file_summary"], *data["moves"]):
        for key in place.keys() & {"path", "to"}:
            place[key] = None if place[key] is None else scrubber.path(place[key])
    for file in data["new_files"]:
        file["base64"] = None  # nothing in it could be replaced
    hidden: dict[str, Any] = scrubber.anything(data)
    return hidden


def recorded_error(error: Exception, scrubber: Scrubber) -> form.RecordedError:
    """An error as in a record."""
    own: dict[str, Any] = {}
    if isinstance(error, EndpointError):
        own = {"fault": error.fault.value, "endpoint": scrubber.text(error.endpoint), "status": error.status}
    return form.RecordedError(kind=type(error).__name__, message=scrubber.text(str(error)), **own)
