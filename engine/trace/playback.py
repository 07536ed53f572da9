"""Gives a record's replies to another run of the engine, in order, and compares the results."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stet_ls.engine import errors
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.evidence import CHECKS
from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Buffer, Diagnostic, Request, Selection, Workspace
from stet_ls.engine.errors import EndpointError, Fault, LimitError, StetError, UsageError
from stet_ls.engine.job.ledger import JobEnd
from stet_ls.engine.model.chat import Completion, Sampling, Usage
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt
from stet_ls.engine.settings.schema import Settings, Spending, TraceSettings
from stet_ls.engine.trace import record as form
from stet_ls.engine.trace.scrubber import Scrubber
from stet_ls.engine.trace.serializer import SETTINGS, hidden_answer, recorded_error
from stet_ls.validators.findings import Severity
from stet_ls.validators.source import Source, Span

SAME = ("success", "edits", "new_files", "markdown", "code", "tests")
"""What makes two answers the same, in addition to summary and verdicts: no seconds, confidence or network warnings."""

_NUMBER = re.compile(r"\d[\d.,]*")
_QUOTING = frozenset({"problem", "notes"})
"""Parts of a summary that may quote a measurement, which a replay repeats."""
_VARYING = frozenset(row.check.value for row in CHECKS.values() if row.varies_between_runs)


_FORMER = {"example_calls": False}
"""What settings were before they existed: a record without one is of that time."""


class RecordedModels:
    """The replies of a record as a source; see `model_source.ModelSource`."""

    def __init__(self, record: form.Record, name: str) -> None:
        """Raises UsageError, in the words of `record.parse`, for an invalid profile."""
        self.asked = 0
        self._record = record
        self._profile = _profile(record, name)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        deadline: float,
        on_event: OnEvent = ignore,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion:
        """The record's next reply or error; after the last one the job ends as recorded."""
        self.asked += 1
        record = self._record
        if self.asked > len(record.calls):
            if record.ended is JobEnd.CANCELLED:
                raise asyncio.CancelledError
            raise _raised(record.error) if record.error else LimitError("The record has no further reply.")
        call = record.calls[self.asked - 1]
        if call.error is not None:
            raise _raised(call.error)
        if call.reply is None:
            raise asyncio.CancelledError
        return _completion(call.reply)

    async def profile(self) -> Profile:
        """The profile of the model that served."""
        return self._profile

    async def health(self) -> Mapping[str, Any]:
        """A record is always ready."""
        return {"status": "ready", "model": self._profile.model, "endpoint": "record", "endpoints": []}

    def most(self, prompt_tokens: int, reply_tokens: int) -> float:
        """Recorded replies cost nothing."""
        return 0.0

    @property
    def is_embedded(self) -> bool:
        """Always False: no call has to wait for its turn."""
        return False

    async def close(self) -> None:
        """Nothing to release."""


def request_of(record: form.Record, name: str) -> Request:
    """The recorded request, with other words in place of its secrets. Raises UsageError if it is invalid."""
    asked = record.request
    if not record.whole:
        raise UsageError(f"{name}: whole: part of this job was not recorded, so it cannot be replayed.")
    source = Source(asked.text)
    for where, span in [("selection", asked.selection), *(("diagnostics", each.span) for each in asked.diagnostics)]:
        if span is not None and not 0 <= span[0] <= span[1] <= len(source.data):
            raise UsageError(f"{name}: request.{where}: {list(span)} lies outside the text. Was it edited manually?")
    return Request(
        action=asked.action,
        language=asked.language,
        source=source,
        selection=None if asked.selection is None else Selection(Span(*asked.selection)),
        path=None if asked.path is None else Path(asked.path).expanduser(),
        instruction=asked.instruction,
        constraints=asked.constraints,
        context=asked.context,
        diagnostics=tuple(
            Diagnostic(Span(*each.span), each.message, Severity(each.severity), each.source, each.code)
            for each in asked.diagnostics
        ),
        budget=asked.budget,
        workspace=Workspace(
            tuple(Path(root).expanduser() for root in asked.roots),
            tuple(Buffer(Path(each.path).expanduser(), each.version, each.text) for each in asked.buffers),
        ),
        hidden=asked.hidden,
        candidate=asked.candidate,
    )


def settings_of(record: form.Record, own: Settings, name: str) -> Settings:
    """A replay keeps the user's settings except those that affect an answer; a record starts no program."""
    recorded = {key: _allowed(record.settings[key], names) for key, names in SETTINGS.items() if key in record.settings}
    try:
        theirs = Settings.model_validate(recorded)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{name}: settings.{field}: {first['msg']}. Was it edited manually?") from None
    update: dict[str, Any] = {}
    for key, values in recorded.items():
        update[key] = value = getattr(theirs, key)
        if SETTINGS[key] is not True:
            update[key] = getattr(own, key).model_copy(update={each: getattr(value, each) for each in values})
    alone: dict[str, Any] = {
        "providers": (),
        "spending": Spending(),
        "trace": TraceSettings(enabled=False),
        "metrics_port": 0,
    }
    return own.model_copy(update=update | alone)


def _allowed(value: Any, names: Any) -> Any:
    """The part of a recorded setting that a record may set."""
    if names is True or not isinstance(value, dict):
        return value
    former = {name: each for name, each in _FORMER.items() if name in names}
    return former | {name: each for name, each in value.items() if name in names}


def difference(record: form.Record, answer: Answer | None, error: Exception | None, ended: JobEnd) -> str:
    """How a replay's result differs, as a diff; "" if it is the same."""
    # Both sides are read in the same way: a replacement may look like a secret itself.
    scrubber = Scrubber(record.request.hidden, (), config=False)
    recorded_answer = None if record.answer is None else scrubber.anything(record.answer)
    raised = None if record.error is None else scrubber.anything(record.error.model_dump())
    replayed_answer = None if answer is None else hidden_answer(answer, scrubber)
    if recorded_answer is not None and replayed_answer is not None:
        _drop_incomparable(recorded_answer, replayed_answer)
    before = _lines(recorded_answer, raised, record.ended)
    raised = None if error is None else recorded_error(error, scrubber).model_dump()
    after = _lines(replayed_answer, raised, ended)
    return "\n".join(difflib.unified_diff(before, after, "recorded", "replayed", lineterm=""))


def _lines(answer: dict[str, Any] | None, error: dict[str, Any] | None, ended: JobEnd) -> list[str]:
    """The result of a job, in lines that can be compared."""
    lines = [f"ended: {ended}"]
    if error is not None:
        lines.append(f"error: {error['kind']}: {error['message']}")
    if answer is not None:
        for key in SAME:
            lines += json.dumps({key: answer.get(key)}, ensure_ascii=False, indent=1).replace("\\n", "\n  ").split("\n")
        summary = answer.get("summary", {})
        lines += [_NUMBER.sub("#", json.dumps({name: part}, ensure_ascii=False)) for name, part in summary.items()]
        for each in answer.get("evidence", []):
            if each.get("check") in _VARYING:
                continue
            lines.append(f"{each.get('check')}: {each.get('verdict')}")
            if summary and each.get("verdict") in ("pass", "fail"):  # an undecided verdict may depend on the machine
                lines.append(_NUMBER.sub("#", str(each.get("detail"))))
    return lines


def _drop_incomparable(recorded: dict[str, Any], replayed: dict[str, Any]) -> None:
    """Removes from both summaries what differs although the results are the same."""
    if "summary" not in recorded:  # records of earlier versions have only a sentence, in other words
        replayed.pop("summary", None)
        return
    checks = {each.get("check") for answer in (recorded, replayed) for each in answer.get("evidence", [])}
    if checks & _VARYING:
        for answer in (recorded, replayed):
            answer["summary"] = {name: part for name, part in answer["summary"].items() if name not in _QUOTING}


def _completion(reply: form.RecordedReply) -> Completion:
    usage = None if reply.usage is None else Usage(*reply.usage)
    return Completion(**{**dict(reply), "usage": usage, "fault": _fault(reply.fault)})


def _fault(name: str) -> Fault | None:
    return Fault(name) if name in {fault.value for fault in Fault} else None


def _raised(error: form.RecordedError) -> Exception:
    """The recorded error; one that this version does not know becomes a StetError with the same sentence."""
    if error.kind == "EndpointError":
        fault = _fault(error.fault) or Fault.SERVER
        return EndpointError(error.message, fault=fault, endpoint=error.endpoint, status=error.status)
    kind = getattr(errors, error.kind, None)
    return kind(error.message) if isinstance(kind, type) and issubclass(kind, StetError) else StetError(error.message)


def _profile(record: form.Record, name: str) -> Profile:
    known = {field.name for field in fields(Profile)}
    if unknown := sorted(record.profile.keys() - known):
        raise UsageError(f"{name}: profile.{unknown[0]}: unknown field. Was it edited manually?")
    try:
        return Profile(**record.profile)
    except TypeError as error:
        raise UsageError(f"{name}: profile: {error}. Was it edited manually?") from None
