"""One child from the parent's side. All waits are bounded, whatever the child does."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stet_ls.validators.checkers.tool_process import kill_group
from stet_ls.validators.syntax.language_pack.frames import LENGTHS, LONGEST_HEADER, MARK, frame

_READ = 65_536
_START = 30.0  # seconds; on a loaded machine a process may wait for a processor that long
_OWN_SHARE = 0.8  # of the remaining time: a child that is merely slow reports so itself, and is kept
_GRACE = 1.0  # seconds past the deadline at which a child ends itself, in case its parent is gone
_ENVIRONMENT = frozenset(
    {
        *("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("SYSTEMROOT", "USERPROFILE", "TEMP", "TMP"),  # Windows
    }
)


class LateError(Exception):
    """The child did not answer in time."""


class StartingError(Exception):
    """The child is still starting, which is not a fault."""


class GoneError(Exception):
    """The child has ended; the text says how."""


class ParserChild:
    """A child process and the two pipes to it. Raises OSError if it cannot be started."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(sys.executable).anchor or None,
            env={name: value for name, value in os.environ.items() if name.upper() in _ENVIRONMENT},
            start_new_session=True,  # a Ctrl-C in the terminal is not for the child
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            os.set_blocking(pipe.fileno(), False)
        self._started = time.monotonic()
        self._ready = False
        self._read = bytearray()

    def is_alive(self) -> bool:
        """False once it has ended, for example because it was idle for too long."""
        return self._process.poll() is None

    def await_start(self, end: float) -> None:
        """Waits until the child is ready, at most until `end`: StartingError, or GoneError if it never will be."""
        if self._ready:
            return
        try:
            self._ready = bool(self._receive(end)["ready"])
        except LateError as error:
            if time.monotonic() - self._started > _START:
                raise GoneError(f"not ready after {_START:g} s") from error
            raise StartingError from error

    def ask(self, language: str, text: bytes, end: float) -> Mapping[str, Any]:
        """Its answer about a text. Raises LateError, GoneError, and ValueError for an invalid answer."""
        left = max(end - time.monotonic(), 0.001)
        times = {"deadline": left * _OWN_SHARE, "alarm": left + _GRACE}
        return self._receive(end, frame({"language": language, **times}, text))

    def kill(self) -> None:
        """Ends it at once, with all its child processes."""
        if self.is_alive() and hasattr(os, "killpg"):
            kill_group(self._process.pid)
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        for pipe in (self._in, self._out):
            pipe.close()

    def abandon(self) -> None:
        """Closes this side's pipes; the forked process's parent ends the child."""
        for pipe in (self._in, self._out):
            pipe.close()
        self._process.returncode = 0  # not our child to wait for

    def _receive(self, end: float, message: bytes = b"") -> Mapping[str, Any]:
        """Sends a message, if there is one, and reads the next frame meanwhile: neither side may block the other."""
        left = memoryview(message)
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            if left:
                ready.register(self._in, selectors.EVENT_WRITE)
            while (header := self._header()) is None:
                seconds = end - time.monotonic()
                if seconds <= 0:
                    raise LateError
                for key, _ in ready.select(seconds):
                    if key.fileobj is self._out:
                        self._fill()
                    else:
                        left = left[self._send(left) :]
                        if not left:
                            ready.unregister(self._in)
        return header

    def _send(self, message: memoryview) -> int:
        try:
            return os.write(self._in.fileno(), message[:_READ])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise GoneError(self._end()) from None

    def _fill(self) -> None:
        chunk = os.read(self._out.fileno(), _READ)
        if not chunk:
            raise GoneError(self._end())
        self._read += chunk

    def _header(self) -> Mapping[str, Any] | None:
        """The next frame's header, if it is complete (ValueError for noise)."""
        if not MARK.startswith(self._read[: len(MARK)]):
            raise ValueError("noise")
        if len(self._read) < LENGTHS.size:
            return None
        _, size, body = LENGTHS.unpack_from(self._read)
        if size > LONGEST_HEADER or body:
            raise ValueError("too long")
        if len(self._read) < LENGTHS.size + size:
            return None
        header = json.loads(self._read[LENGTHS.size : LENGTHS.size + size])
        del self._read[: LENGTHS.size + size]
        if not isinstance(header, dict):
            raise ValueError("no object")  # the text is wrong, not the program
        return header

    def _end(self) -> str:
        """How the child ended. Its pipe is closed, so that it has ended, or is about to."""
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return signal.Signals(-status).name if status < 0 else f"status {status}"
