"""Asking one endpoint: one streamed request after the other until text comes, the rules forbid more, or time is up."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from stet_ls.engine.errors import Fault
from stet_ls.engine.events import Notice, OnEvent, Progress
from stet_ls.engine.model.chat import Completion, Finish, Sampling
from stet_ls.engine.model.connection import Connection, Listed
from stet_ls.engine.model.dialect import Dialect, shorter_reply
from stet_ls.engine.model.faults import (
    Failure,
    failure_of_exception,
    failure_of_status,
    pause_before_retry,
    sentence,
    without_secrets,
)
from stet_ls.engine.model.profiles import is_chat_model
from stet_ls.engine.model.reading import Reading
from stet_ls.engine.model.speed import Speed
from stet_ls.engine.models import Message
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.settings import Provider

if TYPE_CHECKING:
    from openai import AsyncAPIResponse

_LISTING_SECONDS = 5.0
_AFTERMATH_SECONDS = 2.0
"""How long the count of tokens may come after the model said that it is done."""

_PROGRESS_SECONDS = 0.1
_TOLD_PAUSE_SECONDS = 1.0
"""A wait of at least this long is told to whoever watches."""

_LONGEST_BODY = 16_000_000
_CUT_PROMPT, _LEAST_COMPARED = 0.6, 200
"""An endpoint that counts fewer than 0.6 of the tokens that were sent cut the prompt, as Ollama does without a word."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An endpoint gave no text: the last failure, and how many requests were sent."""

    failure: Failure
    requests: int


class Client:
    """One endpoint and what was learnt about it: its dialect, its speed, its first model, its last fault."""

    def __init__(self, provider: Provider, *, speed: Speed | None = None) -> None:
        self.provider = provider
        self.speed = speed or Speed()
        self.connection = Connection(provider)
        self.last_failure: Failure | None = None
        self._dialect = Dialect()
        self._first_listed: Listed | None = None

    @property
    def name(self) -> str:
        """What this endpoint is called in answers."""
        return self.provider.name

    @property
    def address(self) -> str:
        """Where it is, without a password or a query that could hold a key."""
        parts = urlsplit(self.provider.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"{self.name} ({self.address})"

    async def complete(
        self, messages: Sequence[Message], *, sampling: Sampling, deadline_at: float, on_event: OnEvent
    ) -> Completion | Refusal:
        """A reply to the messages before `deadline_at` (the event loop's clock), or why there is none.

        Cancelling closes the connection at once, which stops the endpoint's work.
        """
        requests = loading = 0
        changed = False
        while True:
            requests += 1
            result = await self._ask(messages, sampling, deadline_at, on_event)
            if not isinstance(result, Failure):
                return replace(result, requests=requests)
            failure = self.last_failure = without_secrets(result, self.connection.secrets)
            _log.info("%s, request %d", sentence(failure, self.label), requests)
            if failure.fault is Fault.NOT_FOUND:
                self._first_listed = None
            if not changed and (smaller := self._adapt(failure, sampling)):
                changed, sampling = True, smaller
                continue
            loading += failure.loading
            remaining = deadline_at - asyncio.get_running_loop().time()
            pause = pause_before_retry(failure, requests - loading, remaining)
            if pause is None:
                return Refusal(failure, requests)
            if pause >= _TOLD_PAUSE_SECONDS or (failure.loading and loading == 1):
                on_event(Notice(_waiting(failure, self.label, pause)))
            await asyncio.sleep(pause)

    async def model(self) -> Listed | Failure:
        """The model that is asked: the configured one, else the first chat model that the endpoint lists."""
        if self.provider.model:
            return Listed(self.provider.model, self.provider.context)
        if self._first_listed is None:
            models = await self.connection.listed(seconds=_LISTING_SECONDS)
            if isinstance(models, Failure):
                return models
            self._first_listed = next((model for model in models if is_chat_model(model.name)), None)
        return self._first_listed or Failure(Fault.NOT_FOUND, "it lists no model that could be asked")

    async def close(self) -> None:
        """Close every socket."""
        await self.connection.close()

    def _adapt(self, failure: Failure, sampling: Sampling) -> Sampling | None:
        """The sampling for one more request in a changed form, or None if no change can help."""
        if failure.fault is Fault.CONTEXT:
            return shorter_reply(failure, sampling)
        if failure.fault is Fault.BAD_REQUEST and (dialect := self._dialect.after(failure, sampling)):
            self._dialect = dialect
            return sampling
        return None

    async def _ask(
        self, messages: Sequence[Message], sampling: Sampling, deadline_at: float, on_event: OnEvent
    ) -> Completion | Failure:
        """One request. Text that came before a fault is a completion that was cut."""
        prompt_tokens = sum(estimate(message.content) for message in messages)
        loop = asyncio.get_running_loop()
        failure: Failure | None = None
        try:
            async with asyncio.timeout_at(deadline_at):
                model = await self.model()
                sdk = await self.connection.sdk()
        except TimeoutError:
            return Failure(Fault.DEADLINE)
        except _reply_errors() as error:
            return failure_of_exception(error)
        if isinstance(model, Failure):
            return model
        reading = Reading()
        try:
            patience = self.speed.first_token_limit(self.provider.timeout_first_token, prompt_tokens)
            async with asyncio.timeout_at(min(deadline_at, loop.time() + patience)) as watch:
                request = self._dialect.request(model.name, messages, sampling)
                async with sdk.chat.completions.with_streaming_response.create(**request) as response:
                    failure = await self._read(response, reading, sampling, watch, deadline_at, on_event)
        except TimeoutError:
            failure = _timed_out(reading, out_of_time=loop.time() >= deadline_at)
        except _reply_errors() as error:
            failure = None if reading.reason is not None else failure_of_exception(error)
        return self._outcome(model.name, reading, failure, prompt_tokens)

    async def _read(
        self,
        response: AsyncAPIResponse[Any],
        reading: Reading,
        sampling: Sampling,
        watch: asyncio.Timeout,
        deadline_at: float,
        on_event: OnEvent,
    ) -> Failure | None:
        """Read a stream to its end, pushing the watch ahead with each token; or a body that is no stream."""
        kind = response.headers.get("content-type", "")
        if "json" in kind or "html" in kind:
            return await _read_whole(response, reading, sampling)
        loop, told_at = asyncio.get_running_loop(), 0.0
        async for chunk in await response.parse():
            event = chunk.model_dump(warnings=False) if hasattr(chunk, "model_dump") else {}  # `data: 5` is passed on
            brought = reading.take(event, max_tokens=sampling.max_tokens)
            if reading.runaway is not None:
                break
            now = loop.time()
            if reading.reason is not None:
                watch.reschedule(min(deadline_at, now + _AFTERMATH_SECONDS))
            elif brought:
                watch.reschedule(min(deadline_at, now + self.provider.timeout_token))
            if brought and now - told_at >= _PROGRESS_SECONDS:
                told_at = now
                on_event(Progress(reading.tokens))
        return None

    def _outcome(
        self, model: str, reading: Reading, failure: Failure | None, prompt_tokens: int
    ) -> Completion | Failure:
        text, reasoning, warnings = reading.text, reading.reasoning, []
        if not (text or reasoning).strip():
            return failure or Failure(Fault.EMPTY)
        finish: Finish = reading.finish if failure is None else "cut"
        if failure is not None:
            failure = self.last_failure = without_secrets(failure, self.connection.secrets)
            warnings.append(f"The reply broke off: {sentence(failure, self.label)}.")
        elif reading.runaway is not None:
            warnings.append(f"The reply of {self.name} was stopped: {reading.runaway}.")
        elif finish == "cut":
            told = f" ({reading.reason})" if reading.reason else ""
            warnings.append(f"{self.name} ended its reply before it was done{told}.")
        if not text.strip():
            if finish == "cut":
                # Only thoughts came and then a fault: nothing to judge, and it was too late to ask again.
                return replace(failure or Failure(Fault.MALFORMED, "it broke off in its reasoning"), begun=True)
            if finish == "stop":
                # Some servers take the whole answer for thoughts; the reply's reader finds the code in it.
                text = reasoning
            warnings.append(f"{self.name} sent nothing but its reasoning.")
        if reading.usage is not None and _was_cut(reading.usage.prompt_tokens, prompt_tokens):
            warnings.append(
                f"The server cut the prompt: {self.name} read {reading.usage.prompt_tokens} of about {prompt_tokens} "
                "tokens; give it a larger context."
            )
        now = time.monotonic()
        first_at, last_at = reading.first_at or now, reading.last_at or now
        first_token_seconds = first_at - reading.started
        self.speed.learn(reading.usage, first_token_seconds=first_token_seconds, writing_seconds=last_at - first_at)
        return Completion(
            text=text,
            reasoning=reasoning,
            finish=finish,
            usage=reading.usage,
            model=model,
            endpoint=self.name,
            first_token_seconds=first_token_seconds,
            seconds=now - reading.started,
            requests=1,
            warnings=tuple(warnings),
        )


async def _read_whole(response: AsyncAPIResponse[Any], reading: Reading, sampling: Sampling) -> Failure | None:
    """A body that is no stream: a completion all the same, an error told with 200, or some web page."""
    data = bytearray()
    async for piece in response.iter_bytes():
        data += piece
        if len(data) > _LONGEST_BODY:
            return Failure(Fault.MALFORMED, "its reply has no end")
    try:
        body = json.loads(data)
    except ValueError:
        if data.lstrip()[:1] == b"<":
            return Failure(Fault.MALFORMED, "a web page; the address needs its version path, such as /v1")
        return Failure(Fault.MALFORMED, "it sent a broken piece of JSON")
    if not isinstance(body, dict) or body.get("error"):
        return failure_of_status(200, body, response.headers)
    if not body.get("choices"):
        return Failure(Fault.MALFORMED, "a reply without choices")
    reading.take(body, max_tokens=sampling.max_tokens)
    return None


def _timed_out(reading: Reading, *, out_of_time: bool) -> Failure | None:
    if reading.reason is not None:
        return None  # only the count of tokens was missing
    if out_of_time:
        return Failure(Fault.DEADLINE)
    if reading.first_at is not None:
        return Failure(Fault.STALLED)
    return Failure(Fault.NO_FIRST_TOKEN)


def _was_cut(counted: int, estimated: int) -> bool:
    return estimated >= _LEAST_COMPARED and 0 < counted < _CUT_PROMPT * estimated


def _waiting(failure: Failure, label: str, pause: float) -> str:
    if failure.loading:
        return f"{label} is still loading its model."
    return f"{sentence(failure, label)}; asking again in {pause:.0f} s."


def _reply_errors() -> tuple[type[Exception], ...]:
    """What the SDK lets through; asked for only when something was raised, and then it is loaded."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError)
