"""Asking one endpoint: one streamed request after the other until text comes, the rules forbid more, or time is up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from stet_ls.engine.errors import Fault
from stet_ls.engine.events import Notice, OnEvent
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.connection import Connection, Listed
from stet_ls.engine.model.diagnose import failure_of_exception
from stet_ls.engine.model.dialect import Dialect, shorter_reply
from stet_ls.engine.model.exchange import Exchange, reply_errors
from stet_ls.engine.model.faults import Failure, reason, sentence, without_secrets
from stet_ls.engine.model.profiles import is_chat_model
from stet_ls.engine.model.reading import Reading
from stet_ls.engine.model.retry import pause_before_retry
from stet_ls.engine.model.speed import Speed
from stet_ls.engine.models import Message
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.settings import Provider

_LISTING_SECONDS = 5.0
_TOLD_PAUSE_SECONDS = 1.0
"""A wait of at least this long is told to whoever watches."""

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

    def __init__(self, provider: Provider, *, speed: Speed | None = None, dialect: Dialect | None = None) -> None:
        self.provider = provider
        self.speed = speed or Speed()
        self.connection = Connection(provider)
        self.last_failure: Failure | None = None
        self._dialect = dialect or Dialect()
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
            failure = self.last_failure = result
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
        try:
            async with asyncio.timeout_at(deadline_at):
                model = await self.model()
                sdk = await self.connection.sdk()
        except TimeoutError:
            return Failure(Fault.DEADLINE)
        except reply_errors() as error:
            return without_secrets(failure_of_exception(error), self.connection.secrets)
        if isinstance(model, Failure):
            return model
        prompt_tokens = sum(estimate(message.content) for message in messages)
        exchange = Exchange(
            body=self._dialect.request(model.name, messages, sampling),
            max_tokens=sampling.max_tokens,
            begin_by=asyncio.get_running_loop().time()
            + self.speed.first_token_limit(self.provider.timeout_first_token, prompt_tokens),
            deadline_at=deadline_at,
            between_tokens=self.provider.timeout_token,
            on_event=on_event,
        )
        await exchange.run(sdk)
        reading = exchange.reading
        failure = exchange.failure and without_secrets(exchange.failure, self.connection.secrets)
        if (lost := _lost(reading, failure)) is not None:
            return lost
        self.last_failure = failure
        seconds = time.monotonic() - reading.started
        first_token_seconds = seconds if reading.first_at is None else reading.first_at - reading.started
        self.speed.learn(
            reading.usage, first_token_seconds=first_token_seconds, writing_seconds=reading.writing_seconds
        )
        return Completion(
            # Some servers take the whole answer for thoughts; the reply's reader finds the code in it.
            text=reading.text or (reading.reasoning if reading.finish == "stop" else ""),
            reasoning=reading.reasoning,
            finish=reading.finish if failure is None else "cut",
            usage=reading.usage,
            model=model.name,
            endpoint=self.name,
            first_token_seconds=first_token_seconds,
            seconds=seconds,
            requests=1,
            warnings=tuple(self._warnings(reading, failure, prompt_tokens)),
        )

    def _warnings(self, reading: Reading, failure: Failure | None, prompt_tokens: int) -> Iterator[str]:
        """What the user should know about a reply that came."""
        if failure is not None:
            yield f"The reply broke off: {sentence(failure, self.label)}."
        elif reading.runaway is not None:
            yield f"The reply of {self.name} was stopped: {reading.runaway}."
        elif reading.finish == "cut":
            yield f"{self.name} ended its reply before it was done" + (
                f" ({reading.reason})." if reading.reason else "."
            )
        if not reading.text.strip():
            yield f"{self.name} sent nothing but its reasoning."
        if reading.usage is not None and _was_cut(reading.usage.prompt_tokens, prompt_tokens):
            yield (
                f"The server cut the prompt: {self.name} read {reading.usage.prompt_tokens} of about {prompt_tokens} "
                "tokens; give it a larger context."
            )


def _lost(reading: Reading, failure: Failure | None) -> Failure | None:
    """The failure of an exchange that brought nothing to judge; `begun` if asking again would only cost as much."""
    if reading.text.strip():
        return None
    if not reading.reasoning.strip():
        spent = reading.finish == "length"
        return failure or Failure(
            Fault.EMPTY, "all its tokens went into hidden reasoning" if spent else "", begun=spent
        )
    if failure is None and reading.finish != "cut":
        return None
    return replace(failure or Failure(Fault.MALFORMED, "it broke off in its reasoning"), begun=True)


def _was_cut(counted: int, estimated: int) -> bool:
    return estimated >= _LEAST_COMPARED and 0 < counted < _CUT_PROMPT * estimated


def _waiting(failure: Failure, label: str, pause: float) -> str:
    if failure.loading:
        return f"{label} is still loading its model."
    return f"{reason(failure, label)}; asking again in {pause:.0f} s."
