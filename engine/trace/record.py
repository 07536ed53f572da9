"""The record's format: one JSON object. Errors name the field that was changed, truncated or is of another version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.ledger import JobEnd

VERSION = 1
"""The format's version. It grows when a reader of the former one would misread a record."""

MOST_BYTES = 8_000_000
"""Larger files are not read; our records are smaller."""


class RecordPart(BaseModel):
    """A table of the record."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class RecordedDiagnostic(RecordPart):
    """`engine.api.request.Diagnostic`; `span` in bytes of the text."""

    span: tuple[int, int]
    message: str
    severity: Literal["error", "warning", "information", "hint"]
    source: str
    code: str


class RecordedBuffer(RecordPart):
    """An unsaved document other than the target's."""

    path: str
    version: int
    text: str


class RecordedRequest(RecordPart):
    """The request. `hidden` has the word in place of each secret, by the placeholder in prompts."""

    action: str
    language: str
    text: str
    selection: tuple[int, int] | None
    path: str | None
    instruction: str
    constraints: tuple[str, ...]
    context: dict[str, str]
    diagnostics: tuple[RecordedDiagnostic, ...]
    budget: Budget
    roots: tuple[str, ...]
    buffers: tuple[RecordedBuffer, ...]
    tab_size: int = Field(default=4, exclude=True)
    """Of records of earlier versions; nothing uses it."""
    hidden: dict[str, str]
    left_out: tuple[str, ...]
    candidate: str = ""


class RecordedMessage(RecordPart):
    """A message of a prompt, as sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class EndpointRequest(RecordPart):
    """One request to an endpoint; `pieces` are (seconds, characters of text, of reasoning), `head` a wrong body's."""

    endpoint: str
    model: str
    seconds: float
    pieces: tuple[tuple[float, int, int], ...]
    fault: str
    detail: str
    status: int | None
    head: str


class RecordedError(RecordPart):
    """An error: the class in `engine.errors` and its sentence; an endpoint's fault has its own fields."""

    kind: str
    message: str
    fault: str = ""
    endpoint: str = ""
    status: int | None = None


class RecordedReply(RecordPart):
    """A reply; see `engine.model.chat.Completion`."""

    text: str
    reasoning: str
    finish: Literal["stop", "length", "cut"]
    usage: tuple[int, int, int] | None
    model: str
    endpoint: str
    first_token_seconds: float
    seconds: float
    requests: int
    warnings: tuple[str, ...]
    cost: float | None
    fault: str
    streamed: bool
    runaway: bool


class RecordedCall(RecordPart):
    """One call. Without reply and error it was cancelled. The first `same` messages are those of the call before."""

    at: float
    seconds: float
    same: int = Field(ge=0)
    messages: tuple[RecordedMessage, ...]
    temperature: float
    max_tokens: int
    deadline: float
    requests: tuple[EndpointRequest, ...]
    reply: RecordedReply | None
    error: RecordedError | None


class RecordedEvent(RecordPart):
    """A stage, a notice or a judge's result, at so many seconds."""

    at: float
    what: Literal["stage", "notice", "judged"]
    name: str
    detail: str


class RecordVersions(RecordPart):
    """The versions of what wrote the record."""

    stet: str
    python: str
    system: str


class Record(RecordPart):
    """One job. `whole` is False if something had to be left out, so that it cannot be replayed."""

    stet_trace: int
    id: str
    at: str
    ended: JobEnd
    seconds: float
    whole: bool
    versions: RecordVersions
    request: RecordedRequest
    settings: dict[str, Any]
    profile: dict[str, Any]
    calls: tuple[RecordedCall, ...]
    events: tuple[RecordedEvent, ...]
    stages: dict[str, float]
    answer: dict[str, Any] | None
    error: RecordedError | None

    def to_json(self) -> str:
        """The record's text; a lone surrogate is escaped."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def parse(text: str, name: str) -> Record:
    """Parses a record. Raises UsageError that names the file and the first wrong field."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "somewhere"
        raise UsageError(f"{name}: incomplete record: invalid JSON at {where}. Was it cut or edited?") from None
    version = data.get("stet_trace") if isinstance(data, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise UsageError(f"{name}: stet_trace: no version, so this is not a job record.")
    if version != VERSION:
        hint = "it is from a newer version of Stet; update Stet"
        if version < VERSION:
            hint = "this version of Stet cannot read it"
        raise UsageError(f"{name}: stet_trace: the format version is {version} instead of {VERSION}; {hint}.")
    try:
        return Record.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{name}: {field}: {first['msg']}. Was it edited manually?") from None


def read(path: Path) -> Record:
    """Reads a record. Raises UsageError; a file that is not a record, or too large for one, is reported as such."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path}: larger than any record ({MOST_BYTES // 1_000_000} MB); not read.")
        return parse(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8, so this is not a job record.") from None
