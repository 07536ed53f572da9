"""A transport that connects to the checked addresses, even if the name resolves to others later."""

from __future__ import annotations

from collections.abc import Sequence

import httpx2


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Sends requests for a name, which certificates and Host keep, to its `addresses` until one accepts."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, addresses: Sequence[str]) -> None:
        self.addresses = addresses
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends one request; its body is sent to the first address that accepts the connection."""
        host, url = request.url.host, request.url
        refused: Exception = httpx2.ConnectError("the name has no address")
        for address in tuple(self.addresses):
            request.url = url.copy_with(host=address)
            request.extensions = {**request.extensions, "sni_hostname": host}
            try:
                return await self._inner.handle_async_request(request)
            except httpx2.ConnectError as error:
                refused = error
            finally:
                request.url = url
        raise refused

    async def aclose(self) -> None:
        """Closes every socket."""
        await self._inner.aclose()
