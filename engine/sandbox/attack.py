"""Tries to get out of the box that it runs in, and tells what it reached. Needs nothing but Python 3.8.

Run as `python attack.py`, with the targets as JSON in BOX_TARGETS. Prints one JSON object: the walls that have a hole,
each with what went through, and whether honest work is possible. What it says is believed only where it reports a hole;
that a wall stands is also seen from outside, by listeners and a victim.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Mapping  # noqa: UP035 - as Python 3.8 has them

Targets = Mapping[str, Any]
Attack = Callable[[Targets], str | None]


def read_canary(targets: Targets) -> str | None:
    """A file of the user's."""
    return Path(targets["canary"]).read_text(encoding="ascii")


def list_home(targets: Targets) -> str | None:
    """The names in the user's home that no bind shows."""
    return next((name for name in targets["private"] if Path(name).lstat()), None)


def write_beside(targets: Targets) -> str | None:
    """A new file in a folder of the user's."""
    path = Path(targets["canary"] + ".written")
    path.write_text("here", encoding="ascii")
    return str(path)


def overwrite(targets: Targets) -> str | None:
    """Another text in a file of the user's."""
    Path(targets["canary"]).write_text("changed", encoding="ascii")
    return "a file of the user's"


def connect_tcp(targets: Targets) -> str | None:
    """A server on the host's loopback."""
    socket.create_connection(("127.0.0.1", targets["tcp"]), 2).close()
    return "127.0.0.1"


def send_udp(targets: Targets) -> str | None:
    """A datagram to the host's loopback: nobody says that it arrived, so the listener outside is asked."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"out", ("127.0.0.1", targets["udp"]))
    return None


def connect_unix(targets: Targets) -> str | None:
    """A socket in the user's folder, as the one of a container engine is."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(targets["unix"])
    return "a socket of the user's"


def connect_abstract(targets: Targets) -> str | None:
    """A socket without a file."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + targets["abstract"])
    return "an abstract socket"


def send_through_pair(targets: Targets) -> str | None:
    """A datagram to a socket's path from one end of a pair, which needs no `socket()` at all."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ends[0].sendto(b"out", targets["datagrams"])
    return "a datagram socket of the user's"


def signal_victim(targets: Targets) -> str | None:
    """Another process of the user's."""
    os.kill(targets["victim"], 0)
    return f"process {targets['victim']}"


def read_environments(targets: Targets) -> str | None:
    """Variables that were not given to this run, in any process that can be seen."""
    allowed = set(targets["variables"])
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        strange = sorted({part.split(b"=")[0].decode() for part in variables if part} - allowed)
        if strange:
            return f"process {process.name}: {', '.join(strange[:3])}"
    return None


ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("fs_read", read_canary),
    ("fs_read", list_home),
    ("fs_write", write_beside),
    ("fs_write", overwrite),
    ("network", connect_tcp),
    ("network", send_udp),
    ("unix_sockets", connect_unix),
    ("unix_sockets", connect_abstract),
    ("unix_sockets", send_through_pair),
    ("signals", signal_victim),
    ("environment", read_environments),
)


def honest() -> bool:
    """What any test may do: files in its folder, a child. An attack that is stopped in a broken box proves nothing."""
    file = Path("mine.txt")
    file.write_text("x" * 1000, encoding="ascii")
    file.unlink()
    return subprocess.call([sys.executable, "-I", "-S", "-c", "pass"]) == 0


def main() -> None:
    """Runs every attack."""
    targets = json.loads(os.environ["BOX_TARGETS"])
    holes: dict[str, list[str]] = {}
    for wall, attack in ATTACKS:
        try:
            reached = attack(targets)
        except Exception:  # noqa: BLE001, S112 - however a wall stops it, it is stopped
            continue
        if reached:
            holes.setdefault(wall, []).append(f"{attack.__name__}: {reached}")
    json.dump({"honest": honest(), "holes": holes}, sys.stdout)


if __name__ == "__main__":
    main()
