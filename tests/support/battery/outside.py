"""What the attacks may reach, and how it is seen from outside that they did: files, listeners, a victim, an editor."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from stet_ls.engine.sandbox import isolation_probe

_IPC_CREAT, _IPC_RMID = 0o1000, 0
_KILLS = (
    "kill_victim", "kill_its_group", "kill_its_thread", "kill_its_task", "kill_by_descriptor", "kill_with_value",
    "kill_by_pipe",
)  # fmt: skip
_HARMLESS = int(signal.SIGURG)  # for all that it may reach: no one who does not listen dies of it
_VICTIM = """
import signal, sys, time
def heard(number, _): print(number, flush=True)
for number in map(int, sys.argv[2:]): signal.signal(number, heard)
print("ready", flush=True)
while True: time.sleep(60)
"""
_TEMPORARY = ("/tmp", "/var/tmp", "/run/lock")

State = dict[str, tuple[object, ...]]


class Outside:
    """The world around a run. Every attack in `names` has files of its own; until `stack` closes."""

    def __init__(self, folder: Path, names: list[str], stack: ExitStack) -> None:
        self._stack = stack
        self._mark = f"stet-battery-{secrets.token_hex(6)}"
        self._hidden, self.shown = folder / "hidden", folder / "shown"
        self._shm = Path("/dev/shm", self._mark)
        self._signals = {name: int(signal.SIGRTMIN) + 1 + at for at, name in enumerate(_KILLS)}
        self._signals["kill_all"] = _HARMLESS
        self._listeners: dict[str, socket.socket] = {}
        for name in names:
            for place in (self._hidden, self.shown):
                (place / name).mkdir(parents=True, mode=0o700)
                (place / name / "file").write_text(secrets.token_hex(8), encoding="ascii")
        self._shm.write_text("shared", encoding="ascii")
        stack.callback(self._shm.unlink, missing_ok=True)
        self.common = {"mark": self._mark, **self._home(folder), **self._sockets(folder), **self._numbers()}
        self.common |= self._victim(folder)
        self.own = {
            name: {
                "canary": str(self._hidden / name / "file"),
                "bound": str(self.shown / name / "file"),
                "signal": self._signals.get(name, 0),
            }
            for name in names
        }
        self._before = {name: self._state(name) for name in names}
        self._reachable = False
        self._done = threading.Event()
        knocking = threading.Thread(target=self._knock)
        knocking.start()
        stack.callback(knocking.join)
        stack.callback(self._done.set)

    def reached(self) -> Iterator[tuple[str, str]]:
        """Attacks that were seen to go through."""
        for name, before in self._before.items():
            after = self._state(name)
            if after != before:
                yield name, f"files changed: {sorted(set(before.items()) ^ set(after.items()))[0]}"
        for name, listener in self._listeners.items():
            if isolation_probe._was_reached(listener):
                yield name, "a listener outside was reached"
        for number in set(self._heard()):
            yield next(name for name, sent in self._signals.items() if sent == number), "the victim heard it"
        if self._process.poll() is not None:
            yield "kill_victim", "the victim is dead"
        elif os.getpriority(os.PRIO_PROCESS, self._process.pid) != os.getpriority(os.PRIO_PROCESS, 0):
            yield "slow_it", "the victim is slower"
        if self._reachable:
            yield "serve_outside", "a server in the box was reached"
        for folder in _TEMPORARY:
            if (found := Path(folder, self._mark)).exists():
                found.unlink()
                yield "write_temporary", f"a file in {folder}"
        if (written := self._shm.with_name(f"{self._shm.name}.written")).exists():
            written.unlink()
            yield "write_shared_memory", "a file in /dev/shm"

    def _state(self, name: str) -> State:
        found: State = {}
        for place in (self._hidden / name, self.shown / name):
            for path in place.iterdir():
                status = path.lstat()
                text = path.read_text(encoding="ascii") if stat.S_ISREG(status.st_mode) else ""
                found[str(path)] = (text, status.st_mode, status.st_mtime_ns, status.st_nlink, status.st_ino)
        return found

    def _home(self, folder: Path) -> dict[str, Any]:
        home = folder / "home"
        (home / ".ssh").mkdir(parents=True)
        (home / ".ssh" / "id_ed25519").write_text("a key", encoding="ascii")
        return {"home": str(home), "private": [str(home / ".ssh")], "shm": str(self._shm), "host": socket.gethostname()}

    def _sockets(self, folder: Path) -> dict[str, Any]:
        place = folder / "sockets"
        place.mkdir()
        stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
        inet, unix = socket.AF_INET, socket.AF_UNIX
        for name, family, kind, address in (
            ("connect_tcp", inet, stream, ("127.0.0.1", 0)),
            ("send_fast_open", inet, stream, ("127.0.0.1", 0)),
            ("connect_tcp6", socket.AF_INET6, stream, ("::1", 0)),
            ("send_udp", inet, datagram, ("127.0.0.1", 0)),
            ("send_by_message", inet, datagram, ("127.0.0.1", 0)),
            ("connect_unix", unix, stream, str(place / "stream")),
            ("connect_abstract", unix, stream, f"\0{self._mark}"),
            ("send_through_pair", unix, datagram, str(place / "datagrams")),
            ("send_rights", unix, datagram, str(place / "rights")),
            ("accept_rights", unix, stream, str(place / "giver")),
        ):
            try:
                self._listeners[name] = isolation_probe._listener(self._stack, family, kind, address)
            except OSError:  # a machine without IPv6: then the attack does not bite, which the bare run shows
                continue
        # Held, or a server of some other test would get it, and be taken for one in the box; who asks for it gets it.
        held = self._stack.enter_context(socket.socket())
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        self._port = held.getsockname()[1]
        ports = {name: self._listeners[name].getsockname()[1] for name in self._listeners if "_tcp" in name}
        return {
            "tcp": ports["connect_tcp"],
            "tcp2": self._listeners["send_fast_open"].getsockname()[1],
            "tcp6": ports.get("connect_tcp6", 1),
            "udp": self._listeners["send_udp"].getsockname()[1],
            "udp2": self._listeners["send_by_message"].getsockname()[1],
            "unix": str(place / "stream"),
            "datagrams": str(place / "datagrams"),
            "datagrams2": str(place / "rights"),
            "giver": str(place / "giver"),
            "abstract": self._mark,
            "reachable": self._port,
        }

    def _numbers(self) -> dict[str, Any]:
        """Memory, a queue and semaphores of System V, and a queue of POSIX."""
        libc = ctypes.CDLL(None)
        shared = secrets.randbelow(1 << 30) + 1
        memory = libc.shmget(shared, 4096, _IPC_CREAT | 0o600)
        queue, semaphores = libc.msgget(shared, _IPC_CREAT | 0o600), libc.semget(shared, 1, _IPC_CREAT | 0o600)
        self._stack.callback(libc.shmctl, memory, _IPC_RMID, None)
        self._stack.callback(libc.msgctl, queue, _IPC_RMID, None)
        self._stack.callback(libc.semctl, semaphores, 0, _IPC_RMID)
        name = f"/{self._mark}".encode()
        libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
        self._stack.callback(libc.mq_unlink, name)
        return {"shared": shared, "queue": self._mark}

    def _victim(self, folder: Path) -> dict[str, Any]:
        numbers = map(str, self._signals.values())
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _VICTIM, self._mark, *numbers], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, start_new_session=True, cwd=folder,
        )  # fmt: skip
        self._stack.callback(self._process.communicate)
        self._stack.callback(self._process.kill)
        assert self._process.stdout
        assert self._process.stdout.readline() == b"ready\n"
        os.set_blocking(self._process.stdout.fileno(), False)
        return {"victim": self._process.pid, "group": self._process.pid, "driver": os.getpid()}

    def _heard(self) -> Iterator[int]:
        assert self._process.stdout
        yield from map(int, (self._process.stdout.read() or b"").split())

    def _knock(self) -> None:
        """Tries to reach a server that a run may have, for as long as it runs."""
        while not self._done.wait(0.05):
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
            except OSError:
                continue
            self._reachable = True
