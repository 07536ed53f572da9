"""Attacks the sandbox that it runs in and reports what it reached. Needs only Python 3.8.

Run as `python attack.py`, with the targets as JSON in BOX_TARGETS. Prints one JSON object: the walls with a hole, each
with what went through, and whether honest work is possible. Only reported holes are believed; listeners and a victim
outside confirm that a wall holds.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Mapping  # noqa: UP035 - as Python 3.8 has them

Targets = Mapping[str, Any]
Attack = Callable[[Targets], str | None]

_libc = ctypes.CDLL(None)
_TKILL = {"x86_64": 200, "aarch64": 130}


def read_canary(targets: Targets) -> str | None:
    """Read a file of the user's."""
    return Path(targets["canary"]).read_text(encoding="ascii")


def list_home(targets: Targets) -> str | None:
    """List the user's home, unless the sandbox provides its own."""
    return next((name for name in targets["private"] if Path(name).name in os.listdir(Path(name).parent)), None)


def list_folder(targets: Targets) -> str | None:
    """List a folder of the user's."""
    return ", ".join(os.listdir(Path(targets["canary"]).parent))


def see_file(targets: Targets) -> str | None:
    """Test by name whether a file of the user's exists."""
    return str(Path(targets["canary"]).lstat().st_size)


def watch_folder(targets: Targets) -> str | None:
    """Watch the names of files as they are written in a folder of the user's."""
    watch = _libc.inotify_init1(os.O_NONBLOCK)
    folder = os.fsencode(Path(targets["canary"]).parent)
    return "a watch over a folder of the user's" if _libc.inotify_add_watch(watch, folder, 0xFFF) >= 0 else None


def create_in_folder(targets: Targets) -> str | None:
    """Create a file in a folder of the user's."""
    path = Path(targets["canary"] + ".written")
    path.write_text("here", encoding="ascii")
    return str(path)


def overwrite(targets: Targets) -> str | None:
    """Change the text of a file of the user's."""
    return _on_any(targets, _write)


def _write(path: str) -> None:
    Path(path).write_text("changed", encoding="ascii")


def change_mode(targets: Targets) -> str | None:
    """Change the mode of a file of the user's."""
    return _on_any(targets, lambda path: os.chmod(path, 0o666))  # noqa: S103 - that it is too open is the attack


def change_times(targets: Targets) -> str | None:
    """Change the times of a file of the user's."""
    return _on_any(targets, lambda path: os.utime(path, (1, 1)))


def change_attribute(targets: Targets) -> str | None:
    """Set an extended attribute of a file of the user's; not every file system supports it."""
    return _on_any(targets, lambda path: os.setxattr(path, "user.attack", b"here"))


def truncate(targets: Targets) -> str | None:
    """Truncate a file of the user's without writing to it."""
    return _on_any(targets, lambda path: os.truncate(path, 0))


def truncate_by_opening(targets: Targets) -> str | None:
    """Truncate a file of the user's by opening it to read."""
    return _on_any(targets, lambda path: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)))


def _on_any(targets: Targets, change: Callable[[str], None]) -> str | None:
    """Apply a change to a file that is not shown and to one that is shown read-only."""
    path: str
    for path in (targets["canary"], targets["bound"]):
        try:
            change(path)
        except OSError:
            continue
        return path
    return None


def connect_tcp(targets: Targets) -> str | None:
    """Connect to a server on the host's loopback."""
    socket.create_connection(("127.0.0.1", targets["tcp"]), 2).close()
    return "127.0.0.1"


def send_udp(targets: Targets) -> str | None:
    """Send a datagram to the host's loopback; the listener outside reports whether it arrived."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"out", ("127.0.0.1", targets["udp"]))
    return None


def connect_unix(targets: Targets) -> str | None:
    """Connect to a socket in the user's folder, such as a container engine's."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(targets["unix"])
    return "a socket of the user's"


def connect_abstract(targets: Targets) -> str | None:
    """Connect to an abstract socket, which has no file."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + targets["abstract"])
    return "an abstract socket"


def send_through_pair(targets: Targets) -> str | None:
    """Send a datagram to a socket's path from one end of a pair, which needs no `socket()` call."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ends[0].sendto(b"out", targets["datagrams"])
    return "a datagram socket of the user's"


def signal_victim(targets: Targets) -> str | None:
    """Signal another process of the user's."""
    os.kill(targets["victim"], 0)
    return f"process {targets['victim']}"


def signal_by_other_calls(targets: Targets) -> str | None:
    """Signal it by other calls: to its thread, to its group, by a descriptor, with a value."""
    victim = targets["victim"]
    ways = {
        "tgkill": lambda: _libc.tgkill(victim, victim, 0),
        "tkill": lambda: _libc.syscall(ctypes.c_long(_TKILL[os.uname().machine]), victim, 0),
        "killpg": lambda: _libc.kill(-targets["group"], 0),
        "pidfd": lambda: _libc.syscall(ctypes.c_long(424), os.pidfd_open(victim), 0, None, 0),
        "sigqueue": lambda: _libc.sigqueue(victim, 0, ctypes.c_void_p(0)),
    }
    return ", ".join(name for name, way in ways.items() if _works(way))


def own_descriptor_signals(targets: Targets) -> str | None:
    """Make a descriptor signal another process when there is something to read."""
    reading, _ = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, targets["victim"])
    return "a pipe signals a process outside"


def limit_victim(targets: Targets) -> str | None:
    """Change the limits of another process of the user's."""
    resource.prlimit(targets["victim"], resource.RLIMIT_CORE, (0, 0))
    return f"the limits of process {targets['victim']}"


def share_memory(targets: Targets) -> str | None:
    """Share memory under a number that all processes of the user can name."""
    return "shared memory of the user's" if _libc.shmget(targets["shared"], 0, 0) >= 0 else None


def read_command_lines(targets: Targets) -> str | None:
    """Read other processes' command lines, which sometimes contain keys."""
    return Path("/proc", str(targets["victim"]), "cmdline").read_text() or None


def _works(way: Callable[[], int]) -> bool:
    try:
        return way() == 0
    except OSError:
        return False


def read_environments(targets: Targets) -> str | None:
    """Read variables that were not given to this run, in any visible process."""
    allowed = set(targets["variables"])
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        foreign = sorted({part.split(b"=")[0].decode() for part in variables if part} - allowed)
        if foreign:
            return f"process {process.name}: {', '.join(foreign[:3])}"
    return None


ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("fs_read", read_canary),
    ("fs_read", list_home),
    ("fs_read", list_folder),
    ("fs_read", watch_folder),
    ("fs_read", read_command_lines),
    ("fs_seen", see_file),
    ("fs_write", create_in_folder),
    ("fs_write", overwrite),
    ("fs_write", change_mode),
    ("fs_write", change_times),
    ("fs_write", change_attribute),
    ("fs_write", truncate),
    ("fs_write", truncate_by_opening),
    ("network", connect_tcp),
    ("network", send_udp),
    ("unix_sockets", connect_unix),
    ("unix_sockets", connect_abstract),
    ("unix_sockets", send_through_pair),
    ("unix_sockets", share_memory),
    ("signals", signal_victim),
    ("signals", signal_by_other_calls),
    ("signals", own_descriptor_signals),
    ("signals", limit_victim),
    ("environment", read_environments),
)


def honest() -> bool:
    """Ordinary work of a test: files in its folder, a child. Attacks that fail in a broken sandbox prove nothing."""
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
        except Exception:  # noqa: BLE001, S112 - any exception means that the attack was stopped
            continue
        if reached:
            holes.setdefault(wall, []).append(f"{attack.__name__}: {reached}")
    json.dump({"honest": honest(), "holes": holes}, sys.stdout)


if __name__ == "__main__":
    main()
