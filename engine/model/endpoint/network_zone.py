"""How far a prompt travels: this machine, the private network, or beyond; by the address, not the name.

    provider's host -> the resolver's addresses -> the widest zone of these -> the rule for it (settings `privacy`)

Only checked addresses are connected to: they are kept for the connection (`PinnedTransport`), so that a name which
resolves differently a moment later changes nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import urlsplit

from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.prompt.seal import SealedPrompt
from stet_ls.engine.settings.schema import Privacy

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SECRET = "STET_SECRET_"


class NetworkZone(IntEnum):
    """The network that can read a prompt, the widest last."""

    LOOPBACK = 0
    PRIVATE = 1
    PUBLIC = 2


@dataclass(frozen=True, slots=True)
class NetworkRoute:
    """The way to an endpoint: the `addresses` to connect to, unless a proxy is in between."""

    zone: NetworkZone
    addresses: tuple[str, ...] = ()
    proxied: bool = False


def zone_of(address: Address) -> NetworkZone:
    """The zone of an address. IPv4 within IPv6 (mapped, 6to4, NAT64) counts as IPv4."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return zone_of(inner)
    if address.is_loopback or address.is_unspecified:  # 0.0.0.0 connects to this machine
        return NetworkZone.LOOPBACK
    return NetworkZone.PUBLIC if address.is_global else NetworkZone.PRIVATE


async def route_to(base_url: str) -> NetworkRoute:
    """The route to an address. A name has the widest zone of its addresses; one without is public.

    A proxy of the environment reads requests without TLS, so its zone counts then.
    """
    parts = urlsplit(base_url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    found = await _resolved(host, port)
    proxy = None if found and _widest(found) is NetworkZone.LOOPBACK else _proxy(parts.scheme, host)
    if proxy is None:
        return NetworkRoute(_widest(found), tuple(map(str, found)))
    zone = _widest(found)
    if parts.scheme == "http":
        through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        zone = max(zone, _widest(await _resolved(through.hostname or "", through.port or 80)))
    return NetworkRoute(zone, proxied=True)


def allowed_messages(
    messages: Sequence[Message], sealed: SealedPrompt, route: NetworkRoute, privacy: Privacy
) -> Sequence[Message] | EndpointFailure:
    """The messages as allowed on this route, or why they are not. The rules apply only to prompts with secrets."""
    secrets = {name: value for name, value in sealed.secrets.items() if name.startswith(_SECRET)}
    if not secrets:
        return messages
    name = route.zone.name.lower()
    match getattr(privacy, name):
        case "refuse":
            return EndpointFailure(Fault.REFUSED, f'{_where(sealed)}, and privacy.{name} is "refuse"', sent=False)
        case "allow":
            return [Message(message.role, restore(message.content, secrets)) for message in messages]
    return messages


def _where(sealed: SealedPrompt) -> str:
    """The first secret by line and kind; never the value."""
    first = next((one for one in sealed.redactions if one.line is not None), None)
    if first is not None and first.line is not None:
        return f"line {first.line + 1} contains a secret ({first.kind})"
    return f"the prompt contains a secret{f' ({sealed.redactions[0].kind})' if sealed.redactions else ''}"


async def _resolved(host: str, port: int) -> tuple[Address, ...]:
    """The resolver's addresses; it also reads the decimal and octal forms that connecting would read."""
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in rows))


def _widest(addresses: Sequence[Address]) -> NetworkZone:
    return max(map(zone_of, addresses), default=NetworkZone.PUBLIC)


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for a host, as the HTTP client reads it."""
    from urllib.request import getproxies, proxy_bypass  # late: it imports half of the network modules

    proxies = getproxies()
    return None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")
