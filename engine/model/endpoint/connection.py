"""The HTTP side of one endpoint: opened late, in a thread, and closed once."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.api_keys import key_of
from stet_ls.engine.model.endpoint.fault_classifier import failure_of_exception, failure_of_status
from stet_ls.engine.model.endpoint.faults import EndpointFailure, without_secrets
from stet_ls.engine.model.endpoint.network_zone import NetworkRoute, route_to
from stet_ls.engine.settings.table_schemas import Provider

if TYPE_CHECKING:
    import httpx2
    import openai

    from stet_ls.engine.model.endpoint.pinned_transport import PinnedTransport

_CONNECT_SECONDS = 5.0

_CONTEXT_KEYS = ("max_model_len", "context_length", "max_context_length", "n_ctx", "context_window")
"""The key of a model's context in /models: vLLM, OpenRouter, LM Studio, llama.cpp (inside `meta`), Groq."""

_OUTPUT_KEYS = ("max_completion_tokens", "max_output_tokens")
"""The largest reply: Groq, OpenRouter (inside `top_provider`)."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as an endpoint lists it; `context` and `max_output` in tokens, 0 if it reports none."""

    name: str
    context: int = 0
    max_output: int = 0


class Connection:
    """One endpoint's key, its HTTP client and, once a job needs it, the SDK on top of it."""

    def __init__(self, provider: Provider, *, pinned: bool = False) -> None:
        self.provider = provider
        self._pinned = pinned
        self._pin: PinnedTransport | None = None
        self._key: str | None = None
        self._http: httpx2.AsyncClient | None = None
        self._sdk: openai.AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in a message: the key, and a password within the address."""
        password = urlsplit(self.provider.base_url).password
        return tuple(secret for secret in (self._key, password) if secret)

    async def sdk(self) -> openai.AsyncOpenAI | EndpointFailure:
        """The SDK's client. Its import takes half a second of processor time, so it runs in a thread."""
        if isinstance(key := await self._known_key(), EndpointFailure):
            return key
        http = await self._client()
        async with self._opening:
            if self._sdk is None:
                self._sdk = await asyncio.to_thread(_open_sdk, self.provider, key, http)
        return self._sdk

    async def listed(self, *, seconds: float) -> tuple[ListedModel, ...] | EndpointFailure:
        """The models that the endpoint lists at /models, within so many seconds."""
        http = await self._client()
        try:
            async with asyncio.timeout(seconds):
                if isinstance(key := await self._known_key(), EndpointFailure):
                    return key
                response = await http.get(
                    self.provider.base_url.rstrip("/") + "/models",
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                )
            body = json.loads(response.content) if response.content else None
        except TimeoutError:
            return EndpointFailure(Fault.NO_FIRST_TOKEN, f"no list of models within {seconds:g} s")
        except json.JSONDecodeError:
            if response.is_success:
                return EndpointFailure(Fault.MALFORMED, "its list of models is not JSON")
            body = None
        except _http_errors() as error:
            return without_secrets(failure_of_exception(error), self.secrets)
        if not response.is_success:
            return without_secrets(failure_of_status(response.status_code, body, response.headers), self.secrets)
        return _models_of(body)

    async def page(self, path: str, *, seconds: float) -> object:
        """Another page of the server as JSON, next to its /v1; None if it has none."""
        http = await self._client()
        parts = urlsplit(self.provider.base_url)
        if isinstance(key := await self._known_key(), EndpointFailure):
            return None
        with contextlib.suppress(TimeoutError, ValueError, *_http_errors()):
            async with asyncio.timeout(seconds):
                response = await http.get(
                    f"{parts.scheme}://{parts.netloc}{path}", headers={"Authorization": f"Bearer {key}"} if key else {}
                )
            return json.loads(response.content) if response.is_success else None
        return None

    async def route(self) -> NetworkRoute:
        """The route of the next request. From now on connections go to its addresses."""
        route = await route_to(self.provider.base_url)
        if self._pin is not None:
            self._pin.addresses = route.addresses
        return route

    async def close(self) -> None:
        """Closes every socket. The connection must not be used again."""
        if self._http is not None:
            await self._http.aclose()

    async def _known_key(self) -> str | EndpointFailure:
        async with self._opening:
            if self._key is None:
                if isinstance(key := await key_of(self.provider), EndpointFailure):
                    return key
                self._key = key
            return self._key

    async def _client(self) -> httpx2.AsyncClient:
        async with self._opening:
            if self._http is not None:
                return self._http
            route = await route_to(self.provider.base_url) if self._pinned else None
            if route is None or route.proxied:
                http = await asyncio.to_thread(_open_http, self.provider)
            else:
                http, self._pin = await asyncio.to_thread(_open_pinned, self.provider, route)
            self._http = http
            return http


def is_loopback(base_url: str) -> bool:
    """True if an address is this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _open_http(provider: Provider) -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(
        # The caller limits all other waiting, because it knows the purpose.
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        # A prompt goes only where the user sent it: not through a proxy if that is this machine, and not to another
        # address because of a redirect.
        trust_env=not is_loopback(provider.base_url),
        follow_redirects=False,
        verify=not provider.base_url.startswith("http:"),  # without TLS there is no certificate store to load
    )


def _open_pinned(provider: Provider, route: NetworkRoute) -> tuple[httpx2.AsyncClient, PinnedTransport]:
    import httpx2

    from stet_ls.engine.model.endpoint.pinned_transport import PinnedTransport

    inner = httpx2.AsyncHTTPTransport(verify=not provider.base_url.startswith("http:"), trust_env=False)
    pin = PinnedTransport(inner, route.addresses)
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
    return httpx2.AsyncClient(timeout=timeout, transport=pin, follow_redirects=False), pin


def _open_sdk(provider: Provider, key: str, http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    module = importlib.import_module("openai")
    client: openai.AsyncOpenAI = module.AsyncOpenAI(
        base_url=provider.base_url,
        api_key=key or "none",  # servers on loopback need none, the SDK requires one
        max_retries=0,
        http_client=http,
    )
    # Set here because None as an argument means "from OPENAI_ORG_ID", even if that is for another endpoint.
    client.organization = provider.organization or None
    client.project = None
    client.chat.completions  # noqa: B018  # imports the second half of the SDK, while we are in a thread
    return client


def _http_errors() -> tuple[type[Exception], ...]:
    import httpx2

    return (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, RecursionError)


def _models_of(body: object) -> tuple[ListedModel, ...] | EndpointFailure:
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list):
        return EndpointFailure(Fault.MALFORMED, "its response is not a list of models")
    return tuple(
        ListedModel(str(entry["id"]), _number_of(entry, _CONTEXT_KEYS), _number_of(entry, _OUTPUT_KEYS))
        for entry in data
        if isinstance(entry, dict) and entry.get("id")
    )


def _number_of(entry: dict[str, object], keys: Sequence[str]) -> int:
    inner = [each for each in (entry.get("meta"), entry.get("top_provider")) if isinstance(each, dict)]
    for source in (entry, *inner):
        for key in keys:
            if isinstance(value := source.get(key), int) and value > 0:
                return value
    return 0
