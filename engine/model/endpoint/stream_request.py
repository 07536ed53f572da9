"""One streamed request on the wire: sent, read token by token, and stopped when a token is late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stet_ls.engine.api.events import OnEvent, Progress
from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.fault_classifier import failure_of_exception, failure_of_status
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.endpoint.sse import EventReader
from stet_ls.engine.model.endpoint.stream_reader import StreamReader

if TYPE_CHECKING:
    from openai import AsyncAPIResponse, AsyncOpenAI

_USAGE_SECONDS = 2.0
"""How long the token count may arrive after the finish reason."""

_CLOSING_SECONDS = 0.2
"""How long a server may keep the connection open after the end of the stream."""

_PROGRESS_SECONDS = 0.1
_YIELD_SECONDS = 0.005
"""A reply in one burst is thousands of events without a single wait; other tasks need the event loop too."""

_LONGEST_BODY = 16_000_000

_HEAD = 2_000
"""Bytes of a body that are kept: enough to identify a body that is not a reply."""


@dataclass(slots=True)
class StreamRequest:
    """A request with its limits: `begin_by` and `deadline_at` by the event loop's clock, the others in seconds.

    The first token is due after `silence`, or that long after the server reported progress on the prompt, and by
    `begin_by` in any case; the whole reply at `deadline_at`.

    After `run`, `reading` holds the reply, `failure` the failure, if any, and `streamed` is False if the whole reply
    arrived in one piece. `head` is the start of the body.
    """

    body: Mapping[str, Any]
    max_tokens: int
    silence: float
    begin_by: float
    deadline_at: float
    between_tokens: float
    on_event: OnEvent
    reading: StreamReader = field(default_factory=StreamReader)
    failure: EndpointFailure | None = None
    streamed: bool = True
    head: bytes = b""
    _ended: bool = False
    _reported_at: float = 0.0
    _thinking: bool = False

    async def run(self, sdk: AsyncOpenAI) -> None:
        """Sends the request and reads the reply. Faults are stored, not raised; a cancel closes the connection."""
        loop, reading = asyncio.get_running_loop(), self.reading
        try:
            async with asyncio.timeout_at(self._first_due(loop.time())) as watch:
                async with sdk.chat.completions.with_streaming_response.create(**self.body) as response:
                    self.failure = await self._read(response, watch)
        except TimeoutError:
            late = Fault.NO_FIRST_TOKEN if reading.first_at is None else Fault.STALLED
            self.failure = EndpointFailure(Fault.DEADLINE if loop.time() >= self.deadline_at else late)
        except reply_errors() as error:
            self.failure = failure_of_exception(error)
        if reading.reason is not None or self._ended:
            self.failure = None  # the model had finished; a later failure lost nothing
        elif self.failure is None and self.streamed and reading.first_at is not None and not reading.runaway:
            self.failure = EndpointFailure(Fault.MALFORMED, "the stream ended with neither a finish reason nor [DONE]")

    async def _read(self, response: AsyncAPIResponse[Any], watch: asyncio.Timeout) -> EndpointFailure | None:
        """Reads events to the end, or until the reply is endless or invalid."""
        loop = asyncio.get_running_loop()
        events, size, yielded_at = EventReader(), 0, loop.time()
        async for piece in response.iter_bytes():
            size += len(piece)
            if len(self.head) < _HEAD:
                self.head = (self.head + piece)[:_HEAD]
            if size > _LONGEST_BODY:
                return EndpointFailure(Fault.MALFORMED, "its reply has no end")
            for data in events.feed(piece):
                if (failure := self._take(data, response, watch)) or self.reading.runaway:
                    return failure
                if loop.time() - yielded_at >= _YIELD_SECONDS:
                    await asyncio.sleep(0)
                    yielded_at = loop.time()
        for data in events.end():
            if failure := self._take(data, response, watch):
                return failure
        return None if events.whole is None else self._take_whole(bytes(events.whole), response)

    def _take(self, data: bytes, response: AsyncAPIResponse[Any], watch: asyncio.Timeout) -> EndpointFailure | None:
        """Takes in one event; each token extends the timeout. Raises ValueError for invalid JSON."""
        now, reading = asyncio.get_running_loop().time(), self.reading
        if data.strip() == b"[DONE]":
            self._ended = True
            watch.reschedule(min(self.deadline_at, now + _CLOSING_SECONDS))
            return None
        event = json.loads(data.decode(errors="replace"))
        if not isinstance(event, dict):
            return None
        if event.get("error") and not event.get("choices"):
            return failure_of_status(200, event, response.headers)
        brought = reading.take(event, max_tokens=self.max_tokens)
        if self._ended:
            return None
        if reading.reason is not None:
            watch.reschedule(min(self.deadline_at, now + _USAGE_SECONDS))
        elif event.get("prompt_progress") and reading.first_at is None:
            watch.reschedule(self._first_due(now))
        elif brought:
            watch.reschedule(min(self.deadline_at, now + self.between_tokens))
        thinking = not reading.texts
        if brought and (now - self._reported_at >= _PROGRESS_SECONDS or thinking != self._thinking):
            self._reported_at, self._thinking = now, thinking
            self.on_event(Progress(reading.tokens, thinking, "".join(reading.texts)))
        return None

    def _take_whole(self, data: bytes, response: AsyncAPIResponse[Any]) -> EndpointFailure | None:
        """A body that is not a stream: a completion, an error with status 200, or a web page."""
        try:
            body = json.loads(data)
        except ValueError:
            page = data.lstrip()[:1] == b"<"
            return EndpointFailure(
                Fault.MALFORMED,
                "a web page; the address lacks its version path, such as /v1, or a proxy or sign-in page is in its way"
                if page
                else "invalid JSON",
            )
        if not isinstance(body, dict) or body.get("error"):
            return failure_of_status(200, body, response.headers)
        if not body.get("choices"):
            return EndpointFailure(Fault.MALFORMED, "a reply without choices")
        self.streamed = False
        self.reading.take(body, max_tokens=self.max_tokens)
        return None

    def _first_due(self, now: float) -> float:
        return min(self.deadline_at, self.begin_by, now + self.silence)


def reply_errors() -> tuple[type[Exception], ...]:
    """Exceptions that the SDK does not wrap. Called only after an exception, when the modules are loaded."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError)
