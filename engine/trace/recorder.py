"""Records one job: wraps its models and its listeners."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import Event, JudgeFinished, JudgeStarted, OnEvent, Progress, Requested, Stage, ignore
from stet_ls.engine.api.message import Message
from stet_ls.engine.api.request import Request
from stet_ls.engine.job.ledger import JobEnd
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.model_source import ModelSource
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.model.wrapped_models import WrappedModels
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt
from stet_ls.engine.settings.schema import Settings

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ModelCall:
    """One call of a model. `at` counts seconds from the start of the recording; without an end it was cancelled."""

    at: float
    messages: tuple[Message, ...]
    sampling: Sampling
    deadline: float
    sealed: SealedPrompt = field(repr=False)
    seconds: float = 0.0
    requests: list[Requested] = field(default_factory=list)
    completion: Completion | None = None
    error: Exception | None = None


class JobRecorder(WrappedModels):
    """A source of replies that records calls and replies. The job sends its events to `on_event`."""

    def __init__(self, models: ModelSource, on_event: OnEvent) -> None:
        self.calls: list[ModelCall] = []
        self.events: list[tuple[float, Event]] = []
        super().__init__(models)
        self._on_event = on_event
        self._started = time.monotonic()
        self._about: dict[str, str] = {}

    def name(self, job: str, action: str) -> None:
        """Sets the job of the recording: the log names it on each line."""
        self._about = {"job": job, "action": action}

    def seconds(self) -> float:
        """Seconds since the recording started."""
        return round(time.monotonic() - self._started, 4)

    def on_event(self, event: Event) -> None:
        """Passes an event on, and records it unless it is only progress."""
        if not isinstance(event, Progress | JudgeStarted):
            self.events.append((self.seconds(), event))
            self._log(event)
        self._on_event(event)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        deadline: float,
        on_event: OnEvent = ignore,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion:
        """Calls the models and records the call."""
        call = ModelCall(self.seconds(), tuple(messages), sampling, deadline, sealed)
        self.calls.append(call)

        def record(event: Event) -> None:
            if isinstance(event, Requested):
                call.requests.append(event)
            on_event(event)  # the job's, which is `on_event`

        try:
            call.completion = await self._models.complete(
                messages, sampling=sampling, deadline=deadline, on_event=record, sealed=sealed
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            call.error = error
            raise
        finally:
            call.seconds = round(self.seconds() - call.at, 4)
        return call.completion

    def _log(self, event: Event) -> None:
        """Logs one line per event, without any text of the request or the reply."""
        about = {**self._about, "seconds": self.seconds()}
        match event:
            case Stage(name):
                log.info("stage", extra={**about, "stage": name})
            case JudgeFinished(evidence):
                fields = {"check": evidence.label, "verdict": evidence.verdict.value}
                log.info("judged", extra={**about, **fields, "seconds": round(evidence.seconds, 4)})
            case Requested() as request:
                fields = {"endpoint": request.endpoint, "model": request.model, "fault": request.fault or "none"}
                log.info("requested", extra={**about, **fields, "seconds": request.seconds})

    @property
    def sealed(self) -> SealedPrompt:
        """The known secrets of the job: those of its last prompt."""
        return self.calls[-1].sealed if self.calls else UNSEALED

    async def close(self) -> None:
        """Does nothing: the models belong to the engine."""


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job that has ended."""

    id: str
    """Id of its record."""
    at: str
    """When it ended, ISO 8601."""
    ended: JobEnd
    """How it ended."""
    seconds: float
    """From its start to its end."""
    stages: Mapping[str, float]
    """Seconds per stage."""
    request: Request
    """What was requested."""
    settings: Settings
    """The settings that it ran with."""
    profile: Profile
    """The profile of its model."""
    recorder: JobRecorder
    """The calls that it made."""
    answer: Answer | None = None
    """None if it raised an error or was cancelled."""
    error: Exception | None = None
    """The error it raised, if any."""
