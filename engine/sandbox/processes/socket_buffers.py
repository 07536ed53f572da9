"""Memory of a sandbox's sockets: the kernel counts it for no process, but it can be bounded."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.sandbox.spec import Limits

_LARGEST = 10 * 1024 * 1024
"""Bytes that both buffers of a TCP socket may grow to: the ends of tcp_rmem and tcp_wmem in tcp(7)."""
_USUAL, _LAST = 212_992, 32_768
_PAGE = os.sysconf("SC_PAGESIZE")


def buffers(processes: Sequence[int], limits: Limits) -> int:
    """The most bytes that the sockets of these processes may hold; the first is the sandbox's first process.

    In a private network namespace all sockets are counted, including those in transit between processes. In the host's
    network the open descriptors are counted.
    """
    if not processes:
        return 0
    first = f"/proc/{processes[0]}"
    try:
        own = Path(first, "ns", "net").stat().st_ino != Path("/proc/self/ns/net").stat().st_ino
    except OSError:  # it has ended, or changed its user
        own = False
    return _of_network(first) if own else _of_descriptors(processes, limits)


def _of_network(first: str) -> int:
    statistics = _statistics(first)
    sockets = statistics.get("sockets:used", 0)
    # TCP pages are counted for the whole machine: those above the sandbox's maximum are not its own.
    return sockets * _each() + min(statistics.get("TCP:mem", 0) * _PAGE, sockets * _LARGEST)


def _statistics(first: str) -> dict[str, int]:
    """`/proc/PID/net/sockstat` as numbers by the line's and the column's name."""
    try:
        lines = Path(first, "net", "sockstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    found: dict[str, int] = {}
    for line in lines:
        kind, _, rest = line.partition(":")
        words = rest.split()
        found |= {f"{kind}:{name}": int(number) for name, number in zip(words[::2], words[1::2], strict=False)}
    return found


def _of_descriptors(processes: Sequence[int], limits: Limits) -> int:
    sockets: set[str] = set()
    hidden = 0
    for process in processes:
        try:
            descriptors = list(Path(f"/proc/{process}/fd").iterdir())
        except PermissionError:  # an unreadable program hides its descriptors: assume the maximum
            hidden += limits.open_files
            continue
        except OSError:
            continue
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                if (target := str(descriptor.readlink())).startswith("socket:"):
                    sockets.add(target)
    return (len(sockets) + hidden) * _each()


@functools.cache
def _each() -> int:
    """The bytes that a socket may hold: its larger buffer, plus the last write, which may exceed it.

    No sandbox allows larger ones (`seccomp_filters`).
    """
    sizes = (Path("/proc/sys/net/core", name) for name in ("wmem_default", "rmem_default"))
    try:
        return max(int(size.read_text(encoding="ascii")) for size in sizes) + _LAST
    except (OSError, ValueError):
        return _USUAL + _LAST
