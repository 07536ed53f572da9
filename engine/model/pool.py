"""Chooses the model: the configured endpoints in their order, else a server on this machine, else the embedded one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stet_ls.engine.api.events import OnEvent, ignore
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import EndpointError, Fault, ModelError, NoModelError, PolicyError, StetError, WeightsError
from stet_ls.engine.model import failover
from stet_ls.engine.model.chat import Completion, Role, Sampling, Usage
from stet_ls.engine.model.discover import discover
from stet_ls.engine.model.endpoint.cost import cost_of
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient, shown_address
from stet_ls.engine.model.endpoint.endpoint_stats import KEEP_SECONDS, EndpointStats
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.endpoint.request_quirks import EMBEDDED, RequestQuirks
from stet_ls.engine.model.health import health_of
from stet_ls.engine.model.local_server_consent import FoundServer, ServerAsker, ServerConsent, ServerConsents
from stet_ls.engine.model.profiles.profile_store import ProfileStore
from stet_ls.engine.model.profiles.profiles import Profile, profile_for, with_measurements, with_user_settings
from stet_ls.engine.model.profiles.speed import LOCAL_READING
from stet_ls.engine.model.request_queue import RequestQueue, RequestQueues
from stet_ls.engine.prompt.seal import UNSEALED, SealedPrompt
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths

if TYPE_CHECKING:
    from stet_ls.engine.model.embedded.embedded_model import Embedded

_EMBEDDED = "embedded"
"""The identity of the embedded model between runs; its port changes."""

_LOOK_AGAIN_SECONDS = 60.0
"""How long the embedded model serves before other servers on this machine are looked for again."""

_log = logging.getLogger(__name__)


class ModelPool:
    """The models of some settings, opened by the first call. A dead configured endpoint is an error: no fallback."""

    def __init__(self, settings: Settings, paths: Paths) -> None:
        self.lines = RequestQueues(settings.jobs_at_once)
        self._settings = settings
        self._paths = paths
        self._store = ProfileStore(paths.profiles)
        self._configured = tuple(self._client(provider) for provider in settings.providers)
        self._known: dict[str, EndpointClient] = {}
        self._found: tuple[EndpointClient, ...] = ()
        self._tried: Sequence[str] = ()
        self._kept_out: tuple[str, ...] = ()
        self._looked_at = float("-inf")
        self._embedded: Embedded | None = None
        self._embedded_client: EndpointClient | None = None
        self._served: EndpointClient | None = None
        self.asker: ServerAsker | None = None
        """Asks the user about discovered servers; without one only servers allowed earlier are used."""
        self._consents = ServerConsents(paths.consents)
        self._answers: dict[FoundServer, ServerConsent] = {}
        self._uses_found = False
        self._looking = asyncio.Lock()
        self._starting = asyncio.Lock()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        sampling: Sampling,
        deadline: float,
        on_event: OnEvent = ignore,
        sealed: SealedPrompt = UNSEALED,
    ) -> Completion:
        """A reply within `deadline` seconds from now, from the first endpoint that returns one.

        `sealed` holds what is hidden in the messages; the rule for the endpoint's zone decides what happens to it.

        Cancelling stops the endpoint's work and is not a failure. Raises NoModelError if nothing could be reached,
        EndpointError if a reached endpoint failed.
        """
        began = asyncio.get_running_loop().time()
        if self._settings.log.prompts:
            _log.info("prompt: %s", [(message.role, message.content) for message in messages])
        clients = await self.clients(deadline, on_event)
        try:
            completion = await failover.ask(
                _in_role(clients, sampling.role),
                messages,
                sampling=sampling,
                deadline=deadline - (asyncio.get_running_loop().time() - began),
                longest_pause=self._settings.deadline,
                on_event=on_event,
                sealed=sealed,
                line_of=self._line,
            )
        except ModelError:
            # A discovered server may have stopped since; the next call looks again.
            self._found, self._looked_at, self._served = (), float("-inf"), None
            raise
        self._served = next(client for client in clients if client.name == completion.endpoint)
        if self._settings.log.prompts:
            _log.info("reply of %s: %r", self._served.label, completion.text)
        await self._served.experience.keep(pause=KEEP_SECONDS)
        return completion

    async def profile(self) -> Profile:
        """The profile of the model that would serve. Starts nothing, and never fails: an unknown model has one too."""
        client = self._served or next(iter(self._configured or await self._eligible()), None) or self._embedded_client
        if client is None:
            return await asyncio.to_thread(self._embedded_profile)
        profile = await client.profile()
        return profile_for(client.provider.model) if isinstance(profile, EndpointFailure) else profile

    async def health(self) -> Mapping[str, Any]:
        """Which model would serve and whether it answers now; see `health`. Takes at most a second, starts nothing."""
        clients = self._configured or await self._eligible()
        asleep = await asyncio.to_thread(self._embedded_profile)
        health = await health_of(clients, self._embedded_client, self._settings, self._paths, asleep)
        answers = [] if self._configured else await self._with_consent()
        unasked = {server.base_url for server, consent in answers if consent is ServerConsent.UNASKED}
        rows = [{**row, "asked_first": row["base_url"] in unasked} for row in health["endpoints"]]
        return {**health, "endpoints": rows}

    def most(self, prompt_tokens: int, reply_tokens: int) -> float:
        """The maximum cost of such a call at the most expensive allowed endpoint; unknown prices count as nothing."""
        usage = Usage(prompt_tokens, reply_tokens)
        return max((cost_of(client.provider, usage) or 0.0 for client in self._configured), default=0.0)

    @property
    def is_embedded(self) -> bool:
        """True if the embedded model would serve, by what is known without a search."""
        return not self._configured and not self._uses_found

    async def close(self) -> None:
        """Closes every connection and releases the embedded model."""
        clients = (*self._configured, *self._known.values(), *filter(None, [self._embedded_client]))
        await asyncio.gather(*(client.close() for client in clients))
        if self._embedded is not None:
            await self._embedded.close()

    async def clients(self, deadline: float, on_event: OnEvent = ignore) -> tuple[EndpointClient, ...]:
        """The endpoints in order, else the embedded model, started within `deadline` seconds. Raises ModelError."""
        if self._configured:
            return self._configured
        try:
            async with asyncio.timeout(deadline):
                return await self._allowed() or (await self._start_embedded(on_event),)
        except TimeoutError:
            raise EndpointError(
                "The embedded model did not start in time.", fault=Fault.DEADLINE, endpoint="embedded"
            ) from None

    async def settle(self) -> None:
        """Asks the user about a discovered server, once. Waits for the answer without a limit."""
        if self._configured or self.asker is None:
            return
        for server, consent in await self._with_consent():
            if consent is ServerConsent.ALLOWED:
                return
            if consent is not ServerConsent.UNASKED:
                continue
            says = await self.asker.server(server)
            if says is None:
                return
            self._answers[server] = ServerConsent.ALLOWED if says else ServerConsent.DENIED
            if says:
                try:
                    await asyncio.to_thread(self._consents.remember, server, allowed=True)
                except StetError as error:  # the answer holds for this process
                    _log.warning("%s", error)
                return

    async def _with_consent(self) -> list[tuple[FoundServer, ServerConsent]]:
        """The discovered servers, in order, with the user's current answer about each."""

        def look(clients: tuple[EndpointClient, ...]) -> list[tuple[FoundServer, ServerConsent]]:
            servers = [self._consents.found(client.name, client.provider.base_url) for client in clients]
            return [(server, self._answers.get(server) or self._consents.of(server)) for server in servers]

        return await asyncio.to_thread(look, await self._local())

    async def _allowed(self) -> tuple[EndpointClient, ...]:
        """The servers that may have the user's code. Raises PolicyError if the user has not answered yet."""
        answers = await self._with_consent()
        allowed = self._among(answers, ServerConsent.ALLOWED)
        waiting = next((server for server, consent in answers if consent is ServerConsent.UNASKED), None)
        if not allowed and waiting is not None:
            raise PolicyError(
                f"The model server {waiting.name} at {waiting.base_url} needs your permission to get code. Run `stet "
                f"model allow {waiting.base_url}` to use it, or `stet model deny {waiting.base_url}` to use the "
                "embedded model, or set STET_BASE_URL to an endpoint."
            )
        self._kept_out = tuple(f"{server.name} at {server.base_url}" for server, _ in answers)
        self._uses_found = bool(allowed)
        return allowed

    async def _eligible(self) -> tuple[EndpointClient, ...]:
        """The servers that may serve: the allowed ones, and those that the user would be asked about."""
        answers = await self._with_consent()
        eligible = self._among(answers, ServerConsent.ALLOWED) or self._among(answers, ServerConsent.UNASKED)
        self._uses_found = bool(eligible)
        return eligible

    def _among(
        self, answers: Sequence[tuple[FoundServer, ServerConsent]], wanted: ServerConsent
    ) -> tuple[EndpointClient, ...]:
        addresses = {server.base_url for server, consent in answers if consent is wanted}
        return tuple(client for client in self._found if client.provider.base_url in addresses)

    async def _local(self) -> tuple[EndpointClient, ...]:
        """The model servers on this machine, looked for at most once a minute while there are none."""
        async with self._looking:
            now = asyncio.get_running_loop().time()
            if self._settings.model.discover and not self._found and now - self._looked_at > _LOOK_AGAIN_SECONDS:
                providers, silent = await discover()
                # Known ones are kept: another job may use them, and their speed was measured.
                self._found = tuple(
                    self._known.setdefault(
                        f"{provider.base_url} {provider.model}", self._client(provider, reading=LOCAL_READING)
                    )
                    for provider in providers
                )
                self._tried = silent
                self._looked_at = now
            return self._found

    async def _start_embedded(self, on_event: OnEvent) -> EndpointClient:
        async with self._starting:
            try:
                provider = await self._embedded_endpoint(on_event)
            except ModelError as error:
                reason = str(error).rstrip(".")
                raise NoModelError(
                    f"No model available: none is configured, {self._looked()}, and {reason[:1].lower()}{reason[1:]}; "
                    "or set STET_BASE_URL to an endpoint.",
                    absent=error.absent if isinstance(error, WeightsError) else "",
                ) from error
            old = self._embedded_client
            if old is None or old.provider != provider:
                experience = EndpointStats(self._store, _EMBEDDED, reading=LOCAL_READING)
                self._embedded_client = EndpointClient(
                    provider,
                    self._settings,
                    experience if old is None else old.experience,
                    quirks=RequestQuirks(extra=EMBEDDED, begins=True),
                )
                if old is not None:
                    await old.close()
            assert self._embedded_client is not None
            return self._embedded_client

    def _line(self, client: EndpointClient) -> RequestQueue:
        """The queue of that endpoint; the embedded model takes one call at a time."""
        if client is self._embedded_client:
            return self.lines.at(_EMBEDDED, at_once=1)
        return self.lines.at(client.provider.base_url)

    def _client(self, provider: Provider, *, reading: float | None = None) -> EndpointClient:
        experience = EndpointStats(self._store, shown_address(provider.base_url), reading=reading)
        return EndpointClient(provider, self._settings, experience)

    def _embedded_profile(self) -> Profile:
        """The profile of the embedded model that would be started. Reads a file."""
        from stet_ls.engine.model.embedded.embedded_model import CONTEXT
        from stet_ls.engine.model.embedded.weights import chosen, known

        name = chosen(self._settings.model.embedded, self._paths)
        weights = known(self._paths).get(name or "")
        if weights is None:
            return profile_for("")
        profile = replace(profile_for(weights.model), context=CONTEXT, known_context=True)
        record, _ = self._store.load(_EMBEDDED, profile.model)
        return replace(
            with_user_settings(with_measurements(profile, record), self._settings.models), context=CONTEXT, begins=True
        )

    def _looked(self) -> str:
        if not self._settings.model.discover:
            return "the setting `model.discover` is off"
        if self._kept_out:
            kept = ", ".join(self._kept_out)
            return f"local model servers are not allowed ({kept}; run `stet model allow URL`)"
        return f"no server answers on this machine ({', '.join(self._tried)})"

    async def _embedded_endpoint(self, on_event: OnEvent) -> Provider:
        if self._embedded is None:
            # Late: with configured endpoints the embedded model's modules are never loaded.
            from stet_ls.engine.model.embedded.embedded_model import Embedded

            self._embedded = Embedded(self._settings, self._paths)
        return await self._embedded.endpoint(on_event)


def _in_role(clients: Sequence[EndpointClient], role: Role) -> Sequence[EndpointClient]:
    """The endpoints of a role before those of any; another role's are asked only if there are no others."""
    own = [each for each in clients if each.provider.role == role]
    return [*own, *(each for each in clients if each.provider.role == "any")] or clients
