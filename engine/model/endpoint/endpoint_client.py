"""Asking one endpoint: streamed requests one by one until text arrives, the rules forbid more, or time is up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from stet_ls.engine.api.events import Notice, OnEvent, Requested, UnmeteredUsage
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import Fault, LimitError
from stet_ls.engine.model.chat import Completion, Sampling, Usage
from stet_ls.engine.model.endpoint.begun_reply import joined, stops
from stet_ls.engine.model.endpoint.circuit_breaker import Breaker
from stet_ls.engine.model.endpoint.connection import Connection, ListedModel
from stet_ls.engine.model.endpoint.cost import cost_of
from stet_ls.engine.model.endpoint.endpoint_stats import EndpointStats
from stet_ls.engine.model.endpoint.fault_classifier import failure_of_exception
from stet_ls.engine.model.endpoint.faults import (
    EndpointFailure,
    hidden,
    reason,
    sentence,
    with_setting,
    without_secrets,
)
from stet_ls.engine.model.endpoint.network_zone import allowed_messages
from stet_ls.engine.model.endpoint.request_quirks import RequestQuirks, shorter_reply
from stet_ls.engine.model.endpoint.retry import pause_before_retry
from stet_ls.engine.model.endpoint.stream_reader import StreamReader
from stet_ls.engine.model.endpoint.stream_request import StreamRequest, reply_errors
from stet_ls.engine.model.profiles.profiles import (
    Profile,
    is_chat_model,
    profile_for,
    tuned_sampling,
    with_user_settings,
)
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider

_LISTING_SECONDS = 5.0
_REPORTED_PAUSE_SECONDS = 1.0
"""A wait of at least this many seconds is reported."""

_OVERESTIMATE, _LEAST_REPLY = 1.25, 256
"""A prompt is too long for an endpoint if it is still too long with an estimate that is a quarter too high."""

_MAY_BE_BILLED = (Fault.EMPTY, Fault.MALFORMED, Fault.STALLED, Fault.NO_FIRST_TOKEN, Fault.DEADLINE)
"""Faults of an endpoint that had received the prompt: it may have read it, and counted it."""

_LEAST_TIMEOUT = 1.0
"""Minimum seconds allowed between two tokens, even after a silence."""

_SHOWN = 200
"""Characters of a server's message that are kept. The cut comes before keys are removed: half a key may be at its end.
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The time that an endpoint has, by the event loop's clock: its first token is due at `begin_by`, all of its reply
    at `deadline_at`. A pause of `longest_pause` seconds or more between two requests ends the attempts.
    """

    deadline_at: float
    begin_by: float
    longest_pause: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """An endpoint gave no text: the last failure, and how many requests were sent."""

    failure: EndpointFailure
    requests: int


class EndpointClient:
    """One endpoint and what was learned about it; `experience`, of its models, outlives this process."""

    def __init__(
        self, provider: Provider, settings: Settings, experience: EndpointStats, *, quirks: RequestQuirks | None = None
    ) -> None:
        self.provider = provider
        self.experience = experience
        self.connection = Connection(provider, pinned=settings.privacy.differs_by_address)
        self.breaker = Breaker(settings.model.breaker_failures, settings.model.breaker_seconds)
        self.last_failure: EndpointFailure | None = None
        self._settings = settings
        self._quirks = quirks or RequestQuirks()
        self._first_listed: ListedModel | None = None
        self._warned: set[str] = set()

    @property
    def name(self) -> str:
        """The endpoint's name in answers."""
        return self.provider.name

    @property
    def address(self) -> str:
        """Its address, without a password or a query that could hold a key."""
        return shown_address(self.provider.base_url)

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.name} ({self.address})"

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        turn: TimeBudget,
        on_event: OnEvent,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion | Refusal:
        """A reply within the turn, or why there is none; cancelling closes the connection and so stops its work."""
        requests = loading = 0
        changed = False
        while True:
            result = await self._ask(messages, sampling, turn, on_event, sealed)
            requests += not isinstance(result, EndpointFailure) or result.sent
            if not isinstance(result, EndpointFailure):
                return replace(result, requests=requests)
            failure = self.last_failure = result
            _log.info("%s, request %d", sentence(failure, self.label), requests)
            if failure.fault is Fault.NOT_FOUND:
                self._first_listed = None
            if not changed and (smaller := self._adapt(failure, sampling)):
                changed, sampling = True, smaller
                continue
            loading += failure.loading
            left = turn.begin_by - asyncio.get_running_loop().time()
            pause = pause_before_retry(failure, requests - loading, min(left, turn.longest_pause))
            if pause is None:
                return Refusal(failure, requests)
            if pause >= _REPORTED_PAUSE_SECONDS or (failure.loading and loading == 1):
                on_event(Notice(_waiting(failure, self.label, pause)))
            await asyncio.sleep(pause)

    async def model(self) -> ListedModel | EndpointFailure:
        """The model that is asked: the configured one, else the first chat model that the endpoint lists."""
        if self.provider.model:
            return ListedModel(self.provider.model, self.provider.context)
        if self._first_listed is None:
            models = await self.connection.listed(seconds=_LISTING_SECONDS)
            if isinstance(models, EndpointFailure):
                return models
            self.saw(models)
        return self._first_listed or EndpointFailure(Fault.NOT_FOUND, "it lists no usable model")

    def saw(self, models: Sequence[ListedModel]) -> None:
        """Takes in a list of models that another request fetched."""
        self._first_listed = next((model for model in models if is_chat_model(model.name)), None)

    async def profile(self) -> Profile | EndpointFailure:
        """What is known of the model that is asked."""
        model = await self.model()
        return model if isinstance(model, EndpointFailure) else await self._profile_of(model)

    async def close(self) -> None:
        """Saves what was learned, and closes every socket."""
        await self.experience.keep()
        await self.connection.close()

    async def _profile_of(self, model: ListedModel) -> Profile:
        context = self.provider.context or model.context
        named = profile_for(model.name)
        known = replace(named, context=context or named.context, known_context=bool(context))
        profile = await self.experience.of(known)
        if self.provider.context:
            profile = replace(profile, context=self.provider.context)
        profile = replace(profile, begins=profile.begins or self._quirks.begins)
        return with_user_settings(profile, self._settings.models)

    def _adapt(self, failure: EndpointFailure, sampling: Sampling) -> Sampling | None:
        """The sampling for one more request in a changed form, or None if no change can help."""
        if failure.fault is Fault.CONTEXT:
            return shorter_reply(failure, sampling)
        if failure.fault is Fault.BAD_REQUEST and (quirks := self._quirks.after(failure, sampling)):
            self._quirks = quirks
            return sampling
        return None

    async def _ask(
        self, messages: Sequence[Message], sampling: Sampling, turn: TimeBudget, on_event: OnEvent, sealed: SealedPrompt
    ) -> Completion | EndpointFailure:
        """One request. Text before a fault is a truncated completion."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(min(turn.begin_by, turn.deadline_at)):
                profile = await self.profile()
                sdk = await self.connection.sdk()
                privacy = self._settings.privacy
                messages = _begun(messages, sampling, profile)
                fit: Sequence[Message] | EndpointFailure = messages
                if privacy.differs_by_address:
                    fit = allowed_messages(messages, sealed, await self.connection.route(), privacy)
        except TimeoutError:
            fault = Fault.DEADLINE if loop.time() >= turn.deadline_at else Fault.NO_FIRST_TOKEN
            return self._as_shown(EndpointFailure(fault))
        except reply_errors() as error:
            return self._as_shown(failure_of_exception(error))
        if isinstance(profile, EndpointFailure):
            return profile
        if isinstance(sdk, EndpointFailure):
            return sdk
        if isinstance(fit, EndpointFailure):
            return fit
        messages = fit
        begun = messages[-1].content if _is_begun(messages, sampling) else ""
        estimated = sum(estimate(message.content) for message in messages)
        prompt_tokens = round(estimated * profile.token_factor)
        if profile.known_context and prompt_tokens / _OVERESTIMATE + _LEAST_REPLY > profile.context:
            return EndpointFailure(
                Fault.CONTEXT, f"about {prompt_tokens} tokens, and its context is {profile.context}", sent=False
            )
        sampling = tuned_sampling(sampling, profile, self._settings.models, self._settings.model.max_tokens)
        sampling = replace(sampling, stop=(*sampling.stop, *stops(begun)))
        timeout = self.experience.first_token_limit(self.provider.timeout_first_token, prompt_tokens, sampling)
        exchange = StreamRequest(
            body=self._quirks.request(profile.model, messages, sampling),
            max_tokens=sampling.max_tokens,
            silence=timeout,
            begin_by=turn.begin_by,
            deadline_at=turn.deadline_at,
            between_tokens=self._timeout_between_tokens(),
            on_event=on_event,
        )
        reading = exchange.reading
        reading.overrun = _watching(sampling, begun)
        try:
            await exchange.run(sdk)
        except asyncio.CancelledError:
            with contextlib.suppress(LimitError):  # there is no further request to prevent
                on_event(self._uncounted(exchange, prompt_tokens))
            raise
        finally:
            on_event(self._requested(exchange, profile.model))
        failure = exchange.failure and self._as_shown(exchange.failure)
        if (lost := _lost(reading, failure)) is not None:
            if lost.fault in _MAY_BE_BILLED or reading.usage is not None:
                on_event(self._uncounted(exchange, prompt_tokens))
            return lost
        if reading.usage is None:
            with contextlib.suppress(LimitError):  # the reply has arrived
                on_event(replace(self._uncounted(exchange, prompt_tokens), cost=0.0))
        self.last_failure = failure
        seconds = time.monotonic() - reading.started
        first_token_seconds = seconds if reading.first_at is None else reading.first_at - reading.started
        warnings = tuple(self._warnings(exchange, failure, prompt_tokens, estimated))
        self.experience.learn(exchange, estimated=estimated, first_token_seconds=first_token_seconds)
        return Completion(
            # Some servers report the whole answer as reasoning; the reply's reader finds the code in it.
            text=joined(begun, reading.text, complete=failure is None and reading.finish == "stop")
            or (reading.reasoning if reading.finish == "stop" else ""),
            reasoning=reading.reasoning,
            finish=reading.finish if failure is None else "cut",
            usage=reading.usage,
            model=profile.model,
            endpoint=self.name,
            first_token_seconds=first_token_seconds,
            seconds=seconds,
            requests=1,
            warnings=warnings,
            cost=cost_of(self.provider, reading.usage or _guessed(reading, prompt_tokens)),
            fault=failure.fault if failure is not None else None,
            streamed=exchange.streamed,
            runaway=bool(reading.runaway),
        )

    def _timeout_between_tokens(self) -> float:
        """Seconds; fewer after a recent silence, or each call of a job would wait as long again."""
        timeout = self.provider.timeout_token
        return min(timeout, max(_LEAST_TIMEOUT, timeout / 4)) if self.breaker.fell_silent else timeout

    def _as_shown(self, failure: EndpointFailure) -> EndpointFailure:
        """The failure as shown: with the setting that ran out, and without a key."""
        failure = with_setting(failure, self.provider, self._settings.deadline)
        return without_secrets(failure, self.connection.secrets)

    def _uncounted(self, exchange: StreamRequest, prompt_tokens: int) -> UnmeteredUsage:
        """The tokens of a request, as far as known; a reply costs at most its requested limit."""
        guessed = _guessed(exchange.reading, prompt_tokens)
        guessed = replace(guessed, completion_tokens=min(guessed.completion_tokens, exchange.max_tokens))
        usage = exchange.reading.usage or guessed
        return UnmeteredUsage(usage.prompt_tokens + usage.completion_tokens, cost_of(self.provider, usage) or 0.0)

    def _requested(self, exchange: StreamRequest, model: str) -> Requested:
        """The reply of an exchange, without this endpoint's keys in it."""
        reading, failure = exchange.reading, exchange.failure
        detail = "" if failure is None else self._as_shown(failure).detail[:_SHOWN]
        head = exchange.head if failure is not None and not reading.texts else b""
        # One character per byte, because the bytes need not be text.
        secrets = [secret.encode().decode("latin-1") for secret in self.connection.secrets]
        head = hidden(head.decode("latin-1"), secrets).encode("latin-1")
        return Requested(
            endpoint=self.name,
            model=model,
            seconds=round(time.monotonic() - reading.started, 3),
            pieces=tuple(reading.pieces),
            fault="" if failure is None else failure.fault.value,
            detail=detail,
            status=None if failure is None else failure.status,
            head=head[: len(head) // 2],
        )

    def _warnings(
        self, exchange: StreamRequest, failure: EndpointFailure | None, prompt_tokens: int, estimated: int
    ) -> Iterator[str]:
        """Warnings about a reply for the user."""
        reading = exchange.reading
        if failure is not None:
            yield f"The reply is incomplete: {sentence(failure, self.label)}."
        elif reading.runaway:
            yield f"The reply of {self.name} was stopped: {reading.runaway}."
        elif reading.finish == "cut":
            yield f"{self.name} ended its reply too early" + (f" ({reading.reason})." if reading.reason else ".")
        if not reading.text.strip():
            yield f"{self.name} sent only reasoning."
        usage = reading.usage
        if usage is not None and self.experience.correction.was_cut(estimated, usage.prompt_tokens):
            yield (
                f"The server cut the prompt: {self.name} read {usage.prompt_tokens} of about {prompt_tokens} "
                "tokens; give it a larger context (OLLAMA_CONTEXT_LENGTH, llama-server -c)."
            )
        if not exchange.streamed:
            yield from self._once(
                f"{self.name} does not stream its reply: Stet cannot show its progress and waits longer for it."
            )
        yield from self._once(self.experience.problem)

    def _once(self, warning: str) -> Iterator[str]:
        if warning and warning not in self._warned:
            self._warned.add(warning)
            yield warning


def _begun(messages: Sequence[Message], sampling: Sampling, profile: Profile | EndpointFailure) -> Sequence[Message]:
    """The messages, with the start of the reply for an endpoint that can continue it."""
    can = isinstance(profile, Profile) and profile.begins
    return (*messages, Message("assistant", sampling.begun)) if can and sampling.begun else messages


def _watching(sampling: Sampling, begun: str) -> Callable[[str], bool] | None:
    """Whether what an endpoint has sent so far continues after its end, with the start of the reply before it."""
    overrun = sampling.overrun
    return None if overrun is None else lambda text: overrun(joined(begun, text, complete=False))


def _is_begun(messages: Sequence[Message], sampling: Sampling) -> bool:
    return bool(sampling.begun) and messages[-1].role == "assistant"


def shown_address(base_url: str) -> str:
    """An endpoint's address as shown and stored."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _lost(reading: StreamReader, failure: EndpointFailure | None) -> EndpointFailure | None:
    """The failure of an exchange without a usable reply; `begun` if another request would only cost as much again."""
    if reading.text.strip():
        return None
    if not reading.reasoning.strip():
        spent = reading.finish == "length"
        return failure or EndpointFailure(
            Fault.EMPTY, "hidden reasoning used all its tokens" if spent else "", begun=spent
        )
    if failure is None and reading.finish != "cut":
        return None
    return replace(failure or EndpointFailure(Fault.MALFORMED, "it stopped within its reasoning"), begun=True)


def _guessed(reading: StreamReader, prompt_tokens: int) -> Usage:
    """The estimated usage of a call whose endpoint does not count tokens, or ended early."""
    return Usage(prompt_tokens, max(reading.tokens, estimate(reading.text + reading.reasoning)))


def _waiting(failure: EndpointFailure, label: str, pause: float) -> str:
    if failure.loading:
        return f"{label} is still loading its model."
    return f"{reason(failure, label)}; retrying in {pause:.0f} s."
