"""Attacks by sockets. Nothing is sent farther than this machine's loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from typing import Any

Targets = Any
_SOCK_DIAG, _UNIX_DIAG, _DUMP = 4, 20, 0x301
_AF_ALG, _AF_VSOCK, _ANY = 38, 40, 0xFFFFFFFF


def connect_tcp6(targets: Targets) -> str:
    """A server on the host's loopback, by its other address."""
    socket.create_connection(("::1", targets["tcp6"]), 2).close()
    return "::1"


def send_by_message(targets: Targets) -> None:
    """A datagram with its address in a message, which no connection precedes; heard outside."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendmsg([b"out"], [], 0, ("127.0.0.1", targets["udp2"]))


def send_fast_open(targets: Targets) -> None:
    """A connection without `connect`, by sending with MSG_FASTOPEN; heard outside."""
    with socket.socket() as sender:
        sender.settimeout(2)
        sender.sendto(b"out", 0x20000000, ("127.0.0.1", targets["tcp2"]))


def serve_outside(targets: Targets) -> None:
    """A server that the host's other programs can reach; someone outside tries."""
    with socket.create_server(("127.0.0.1", targets["reachable"])) as server, contextlib.suppress(TimeoutError):
        server.settimeout(2)
        server.accept()


def see_interfaces(_: Targets) -> str | None:
    """The names of the host's network cards."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM):
        return ", ".join(name for _, name in socket.if_nameindex() if name != "lo") or None


def list_sockets(targets: Targets) -> str | None:
    """All sockets with a name or a path on the host, asked of the kernel."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(1)
        ask = struct.pack("=BBHIII2I", socket.AF_UNIX, 0, 0, _ANY, 0, 1, _ANY, _ANY)
        kernel.send(struct.pack("=IHHII", 16 + len(ask), _UNIX_DIAG, _DUMP, 1, 0) + ask)
        while found := kernel.recv(65536):
            if targets["abstract"].encode() in found:
                return "an abstract socket's name"
            if struct.unpack_from("=IH", found)[1] == 3:  # NLMSG_DONE
                break
    return None


def listen_to_cards(_: Targets) -> str:
    """Every packet that passes."""
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "a socket on the wire"


def make_raw(_: Targets) -> str:
    """Packets of any kind."""
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 255).close()
    return "a raw socket"


def reach_hypervisor(_: Targets) -> str:
    """The machine that this virtual machine runs on (Windows under WSL), which no namespace hides. Nothing is sent."""
    socket.socket(_AF_VSOCK, socket.SOCK_STREAM).close()
    return "a socket to the hypervisor"


def use_kernel_ciphers(_: Targets) -> str:
    """The kernel's ciphers: a large surface, and no test's need."""
    socket.socket(_AF_ALG, socket.SOCK_SEQPACKET).close()
    return "a socket to the kernel's ciphers"


def use_odd_families(_: Targets) -> str | None:
    """Every other kind of socket that the kernel has: radio, buses, tunnels."""
    usual = {0, socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, 17, _AF_ALG, _AF_VSOCK}
    found = []
    for family in set(range(46)) - usual:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue
            found.append(str(family))
            break
    return ", ".join(found) or None


def send_rights(targets: Targets) -> None:
    """A descriptor handed to a process outside, by a datagram from one end of a pair; heard outside."""
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    message = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("=i", os.open(".", os.O_RDONLY)))]
    ours.sendmsg([b"out"], message, 0, targets["datagrams2"])


def accept_rights(targets: Targets) -> str | None:
    """A descriptor taken from a process outside that hands it to every client."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(targets["giver"])
        return f"descriptors {socket.recv_fds(client, 10, 1)[1]}"


ATTACKS = (
    connect_tcp6, send_by_message, send_fast_open, serve_outside, see_interfaces, list_sockets, listen_to_cards,
    make_raw, reach_hypervisor, use_kernel_ciphers, use_odd_families, send_rights, accept_rights,
)  # fmt: skip
