"""Runs the steps of a job in turn and passes on their output; a step never has access to the report's descriptor.

A step may write to a separate pipe, whose number is in `BOX_SIDE_FD`; its lines are reported separately from what it
prints. A step that runs too long or prints too much is killed with all that it started.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from typing import Any

from .channel import Channel
from .processes import Clock  # type: ignore[import-not-found]  # next to this file in the sandbox

_CHUNK = 65_536
_LINE = 16_384
_KEPT = 1_500_000
_MOST = 8_000_000
_DRAIN = 0.3
_PERIOD = 0.05


def main() -> None:
    """Runs the job that is stored next to the program."""
    channel = Channel(sys.path[0])
    path = os.path.join(sys.path[0], "job.json")
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(path)
    _forbid_inspection()
    # Some sandboxes cannot show folders under the names that the runner knows.
    temporary = os.environ.get("TMPDIR", "/tmp")  # noqa: S108
    for step in json.loads(json.dumps(job["steps"]).replace("@TMP@", json.dumps(temporary)[1:-1])):
        code = Step(step, channel).run()
        if code != 0 and step["needed"]:
            break
    channel.say("done", exit=0)


def _forbid_inspection() -> None:
    """Keeps the steps, programs of the same user, from reading this process through /proc: it holds the nonce."""
    try:
        prctl = ctypes.CDLL(None).prctl
    except AttributeError:  # not Linux
        return
    prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


class Step:
    """One child process."""

    def __init__(self, step: dict[str, Any], channel: Channel) -> None:
        self._step, self._channel = step, channel
        self._sent, self._read = 0, 0
        self._rest = {"out": b"", "err": b"", "side": b""}

    def run(self) -> int:
        """Runs it until it ends or reaches a limit, and reports how it ended; 0 only if it succeeded."""
        name = self._step["name"]
        for path in self._step["hide"]:
            if os.path.exists(path):
                os.unlink(path)
        self._channel.say("begin", step=name)
        started = time.monotonic()
        reading, writing = os.pipe()
        try:
            child = subprocess.Popen(  # the runner's argument list
                self._step["argv"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if self._step["merge"] else subprocess.PIPE,
                env={**os.environ, **self._step["env"], "BOX_SIDE_FD": str(writing)},
                pass_fds=(writing,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(reading)
            os.close(writing)
            program = self._step["argv"][0]
            self._channel.say("exit", step=name, code=127, why=str(error.strerror), absent=program, seconds=0)
            return 127
        os.close(writing)
        why = self._listen(child, reading, Clock(child.pid, started))
        os.close(reading)
        code = child.returncode
        self._channel.say("exit", step=name, code=code, why=why, seconds=time.monotonic() - started)
        return -1 if why else int(code)

    def _listen(self, child: subprocess.Popen[bytes], side: int, clock: Clock) -> str:
        """Reads the child's output until it exits; returns the limit that stopped it, if any."""
        why = ""
        with selectors.DefaultSelector() as waiting:
            for stream, name in ((child.stdout, "out"), (child.stderr, "err"), (side, "side")):
                if stream is not None:
                    waiting.register(stream, selectors.EVENT_READ, name)
            ended: float | None = None
            while waiting.get_map():
                for key, _ in waiting.select(timeout=_PERIOD):
                    if not self._take(key.fd, key.data):
                        waiting.unregister(key.fileobj)
                now = time.monotonic()
                if ended is None and child.poll() is not None:
                    ended = now
                late = ended is None and self._is_late(clock)
                if ended is None and (late or self._read > _MOST):
                    why = "timeout" if late else "output"
                    self._kill(child)
                if ended is not None and now > ended + _DRAIN:
                    break
        # The child may have closed its streams and still run.
        while child.poll() is None and not why:
            time.sleep(_PERIOD)
            why = "timeout" if self._is_late(clock) else ""
        self._kill(child)
        for name in [name for name, rest in self._rest.items() if rest]:
            self._forward(name, self._rest[name])
        return why

    def _is_late(self, clock: Clock) -> bool:
        return bool(clock.is_late(self._step["seconds"]))

    def _take(self, descriptor: int, name: str) -> bool:
        data = os.read(descriptor, _CHUNK)
        self._read += len(data)
        *lines, self._rest[name] = (self._rest[name] + data).split(b"\n")
        for line in lines:
            self._forward(name, line)
        if len(self._rest[name]) > _LINE:
            self._forward(name, self._rest[name])
            self._rest[name] = b""
        return bool(data)

    def _forward(self, name: str, line: bytes) -> None:
        """Passes a line on; past the limit, printed lines are dropped."""
        if name != "side" and self._sent > _KEPT:
            return
        self._sent += len(line) + 50
        text = line[:_LINE].decode("utf-8", "replace").rstrip("\r")
        self._channel.say("line", step=self._step["name"], stream=name, text=text)

    def _kill(self, child: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
