"""Which model serves: the configured endpoints in their order, else a server on this machine, else the embedded one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import EndpointError, Fault, ModelError, NoModelError, WeightsError
from stet_ls.engine.events import Notice, OnEvent, ignore
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.client import Client
from stet_ls.engine.model.dialect import EMBEDDED, Dialect
from stet_ls.engine.model.discover import discover
from stet_ls.engine.model.faults import Failure, sentence
from stet_ls.engine.model.health import health_of
from stet_ls.engine.model.profiles import Profile, profile_for
from stet_ls.engine.model.speed import LOCAL_READING, Speed
from stet_ls.engine.models import Message
from stet_ls.engine.paths import Paths
from stet_ls.engine.settings import Provider, Settings

if TYPE_CHECKING:
    from stet_ls.engine.model.embedded import Embedded

_LOOK_AGAIN_SECONDS = 60.0
"""How long the embedded model serves before other servers on this machine are looked for again."""

_log = logging.getLogger(__name__)


class Models:
    """The models of one set of settings. Made without any cost; the first call opens what it needs.

    A configured endpoint that is dead is an error, never a silent fall to a model that nobody chose.
    """

    def __init__(self, settings: Settings, paths: Paths) -> None:
        self._settings = settings
        self._paths = paths
        self._configured = tuple(Client(provider) for provider in settings.providers)
        self._known: dict[str, Client] = {}
        self._found: tuple[Client, ...] = ()
        self._tried: tuple[str, ...] = ()
        self._looked_at = float("-inf")
        self._embedded: Embedded | None = None
        self._embedded_client: Client | None = None
        self._served: Client | None = None
        self._looking = asyncio.Lock()
        self._starting = asyncio.Lock()

    async def complete(
        self, messages: Sequence[Message], *, sampling: Sampling, deadline: float, on_event: OnEvent = ignore
    ) -> Completion:
        """A reply within `deadline` seconds from now, from the first endpoint that gives one.

        Cancelling stops the endpoint's work and counts against nobody. Raises NoModelError if nothing could be
        reached, EndpointError if what was reached failed.
        """
        deadline_at = asyncio.get_running_loop().time() + deadline
        if self._settings.log.prompts:
            _log.info("prompt: %s", [(message.role, message.content) for message in messages])
        refusals: list[tuple[Client, Failure]] = []
        requests = 0
        for client, following in _with_next(await self._chain(deadline_at, on_event)):
            result = await client.complete(messages, sampling=sampling, deadline_at=deadline_at, on_event=on_event)
            if isinstance(result, Completion):
                self._served = client
                if self._settings.log.prompts:
                    _log.info("reply of %s: %r", client.label, result.text)
                return replace(result, requests=requests + result.requests)
            requests += result.requests
            refusals.append((client, result.failure))
            if result.failure.fault is Fault.DEADLINE:
                break
            if following is not None:
                on_event(Notice(f"{sentence(result.failure, client.label)}. Asking {following.label} instead."))
        # A server that was found may have been stopped since; the next call looks again.
        self._found, self._looked_at, self._served = (), float("-inf"), None
        raise _error(refusals)

    async def profile(self) -> Profile:
        """The profile of the model that would serve. Starts nothing, and never fails: an unknown model has one too."""
        client = self._served or next(iter(self._configured or await self._local()), None) or self._embedded_client
        if client is None:
            return await asyncio.to_thread(_embedded_profile, self._settings, self._paths)
        model = await client.model()
        if isinstance(model, Failure):
            return profile_for("")
        known = profile_for(model.name)
        return replace(known, context=model.context or known.context, tokens_per_second=client.speed.writing)

    async def health(self) -> Mapping[str, Any]:
        """Which model would serve and whether it answers now; see `health`. Takes a second at most, starts nothing."""
        clients = self._configured or await self._local()
        return await health_of(clients, self._embedded_client, self._settings, self._paths)

    async def close(self) -> None:
        """Close every connection and let go of the embedded model."""
        clients = (*self._configured, *self._known.values(), *filter(None, [self._embedded_client]))
        await asyncio.gather(*(client.close() for client in clients))
        if self._embedded is not None:
            await self._embedded.close()

    async def _chain(self, deadline_at: float, on_event: OnEvent) -> tuple[Client, ...]:
        """The endpoints to ask, in order. Starts the embedded model if there is nobody else."""
        if self._configured:
            return self._configured
        try:
            async with asyncio.timeout_at(deadline_at):
                return await self._local() or (await self._start_embedded(on_event),)
        except TimeoutError:
            raise EndpointError(
                "The embedded model had not started when the time was up.", fault=Fault.DEADLINE, endpoint="embedded"
            ) from None

    async def _local(self) -> tuple[Client, ...]:
        """The model servers on this machine, looked for at most once a minute while there are none."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if self._settings.model.discover and not self._found and now - self._looked_at > _LOOK_AGAIN_SECONDS:
                found = await discover()
                # Known ones are kept: they may be in use by another job, and their speed was measured.
                self._found = tuple(
                    self._known.setdefault(
                        f"{provider.base_url} {provider.model}", Client(provider, speed=Speed(reading=LOCAL_READING))
                    )
                    for provider in found.providers
                )
                self._tried = found.tried
                self._looked_at = now
            return self._found

    async def _start_embedded(self, on_event: OnEvent) -> Client:
        async with self._starting:
            try:
                provider = await self._embedded_endpoint(on_event)
            except ModelError as error:
                reason = str(error).rstrip(".")
                raise NoModelError(
                    f"No model is configured, {self._looked()}, and {reason[:1].lower()}{reason[1:]}; "
                    "or set STET_BASE_URL to an endpoint.",
                    absent=error.absent if isinstance(error, WeightsError) else "",
                ) from error
            old = self._embedded_client
            if old is None or old.provider != provider:
                speed = Speed(reading=LOCAL_READING) if old is None else old.speed
                self._embedded_client = Client(provider, speed=speed, dialect=Dialect(extra=EMBEDDED))
                if old is not None:
                    await old.close()
            assert self._embedded_client is not None
            return self._embedded_client

    def _looked(self) -> str:
        if not self._settings.model.discover:
            return "none is looked for on this machine (model.discover)"
        return f"no server answers on this machine ({', '.join(self._tried)})"

    async def _embedded_endpoint(self, on_event: OnEvent) -> Provider:
        if self._embedded is None:
            # Late: who configured an endpoint never loads what the embedded model needs.
            from stet_ls.engine.model.embedded import Embedded

            self._embedded = Embedded(self._settings, self._paths)
        return await self._embedded.endpoint(on_event)


def _embedded_profile(settings: Settings, paths: Paths) -> Profile:
    """The profile of the embedded model that would be started."""
    from stet_ls.engine.model.embedded import CONTEXT
    from stet_ls.engine.model.weights import WEIGHTS, chosen

    name = chosen(settings.model.embedded, paths)
    return profile_for("") if name is None else replace(profile_for(WEIGHTS[name].model), context=CONTEXT)


def _with_next(clients: Sequence[Client]) -> list[tuple[Client, Client | None]]:
    return list(zip(clients, [*clients[1:], None], strict=True))


def _error(refusals: Sequence[tuple[Client, Failure]]) -> ModelError:
    """What the user is told when nobody gave a reply."""
    told = ". ".join(sentence(failure, client.label) for client, failure in refusals) + "."
    if all(failure.fault is Fault.UNREACHABLE for _, failure in refusals):
        return NoModelError(told)
    client, failure = refusals[-1]
    return EndpointError(
        told, fault=failure.fault, endpoint=client.name, status=failure.status, retry_after=failure.retry_after
    )
