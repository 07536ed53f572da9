"""How far a prompt goes: this machine, the private network, or beyond; by the address, not the name.

    provider's host -> what the resolver says -> the widest of these addresses -> the rule for it (settings `privacy`)

What was looked at is what is connected to: the addresses are kept for the connection (`Pinned`), so that a name which
says something else a moment later changes nothing.
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
    """Who may read along, the widest last."""

    LOOPBACK = 0
    PRIVATE = 1
    PUBLIC = 2


@dataclass(frozen=True, slots=True)
class Route:
    """The way to an endpoint: the `addresses` to connect to, unless a proxy is in between."""

    reach: NetworkZone
    addresses: tuple[str, ...] = ()
    proxied: bool = False


def zone_of(address: Address) -> NetworkZone:
    """Where an address is. IPv4 in the clothes of IPv6 (mapped, 6to4, NAT64) is what it is inside."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return zone_of(inner)
    if address.is_loopback or address.is_unspecified:  # 0.0.0.0 connects to this machine
        return NetworkZone.LOOPBACK
    return NetworkZone.PUBLIC if address.is_global else NetworkZone.PRIVATE


async def route_to(base_url: str) -> Route:
    """The way to an address now. A name of several addresses is as wide as the widest; one of none is public.

    A proxy of the environment reads what goes to it without TLS, so its own place counts then.
    """
    parts = urlsplit(base_url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    found = await _resolved(host, port)
    proxy = None if found and _widest(found) is NetworkZone.LOOPBACK else _proxy(parts.scheme, host)
    if proxy is None:
        return Route(_widest(found), tuple(map(str, found)))
    reach = _widest(found)
    if parts.scheme == "http":
        through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        reach = max(reach, _widest(await _resolved(through.hostname or "", through.port or 80)))
    return Route(reach, proxied=True)


def allowed(
    messages: Sequence[Message], sealed: SealedPrompt, route: Route, privacy: Privacy
) -> Sequence[Message] | EndpointFailure:
    """The messages as they may go this way, or why they may not: only what hides something is a matter of rules."""
    secrets = {name: value for name, value in sealed.secrets.items() if name.startswith(_SECRET)}
    if not secrets:
        return messages
    name = route.reach.name.lower()
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
    """What the resolver says; it also reads the decimal and octal forms that connecting would read."""
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in rows))


def _widest(addresses: Sequence[Address]) -> NetworkZone:
    return max(map(zone_of, addresses), default=NetworkZone.PUBLIC)


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for a host, as the HTTP client reads it."""
    from urllib.request import getproxies, proxy_bypass  # late: it brings half of the network's modules

    proxies = getproxies()
    return None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")
