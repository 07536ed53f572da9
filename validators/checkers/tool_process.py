"""Runs a tool of the user's machine: no shell, a minimal environment, killed at its deadline with all its children."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_READ = 65_536

PRIVATE = "{private}"
"""In an argument: the folder of the files for a tool."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool. `status` is its exit status, negative for a signal, None if it was killed.

    `missing` holds the tool's name if it could not be started at all. `truncated`: it wrote more than the limit.
    """

    status: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False
    missing: str = ""
    truncated: bool = False


def run_tool(
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    deadline: float,
    cwd: Path | None = None,
    limit: int = 1_000_000,
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    memory: int | None = None,
) -> ToolResult:
    """Runs `argv`, at most `deadline` seconds, and keeps at most `limit` bytes of each output.

    Without `cwd` the tool runs in the file system's root with a fresh private home, so that it finds no project's
    configuration or plug-in. Its environment is PATH, LANG, HOME and `environment`. `files` are written, by their base
    names, to a private folder that only this user can read and that is deleted afterwards; `PRIVATE` in an argument is
    its path. `memory` is the most that it may allocate, in bytes, where the system can limit it. The tool's process
    group is killed at the deadline, past the limit, and when the caller is interrupted. Never raises because of the
    tool.
    """
    started = time.monotonic()
    program = shutil.which(argv[0])
    if program is None:
        return ToolResult(None, missing=argv[0])
    with tempfile.TemporaryDirectory(prefix="stet-tool-", ignore_cleanup_errors=True) as home:
        try:
            folder = _written(Path(home), files) if files else home
            child = subprocess.Popen(
                [program, *(argument.replace(PRIVATE, folder) for argument in argv[1:])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Not in the home: tools look for their settings in all folders above, and any user may write to /tmp.
                # rustup would run the `rustfmt` of any toolchain that a rust-toolchain.toml there names.
                cwd=cwd or Path(home).anchor,
                env={
                    "PATH": os.environ.get("PATH", os.defpath),
                    "LANG": "C.UTF-8",
                    "HOME": home,
                    **(environment or {}),
                },
                start_new_session=True,
            )
        except (OSError, ValueError):  # ValueError: an argument with a NUL
            return ToolResult(None, missing=argv[0])
        try:
            _limit_memory(child.pid, memory)
            conversation = _Conversation(child, stdin, limit)
            finished = conversation.hold(started + deadline)
            status = _wait(child, started + deadline) if finished else None
        finally:
            _kill(child)
    return ToolResult(
        status,
        bytes(conversation.output["stdout"]),
        bytes(conversation.output["stderr"]),
        timed_out=status is None and not conversation.truncated,
        truncated=conversation.truncated,
    )


def _written(home: Path, files: Mapping[str, bytes]) -> str:
    """The folder of the files. Not the home itself: a text called `.npmrc` would become a tool's settings there."""
    folder = home / "files"
    folder.mkdir(mode=0o700)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return str(folder)


def _limit_memory(pid: int, most: int | None) -> None:
    if most is not None and hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError):  # it has already ended
            resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


class _Conversation:
    """Writes to a child and reads from it at the same time, so that neither blocks the other."""

    def __init__(self, child: subprocess.Popen[bytes], stdin: bytes, limit: int) -> None:
        self.output = {"stdout": bytearray(), "stderr": bytearray()}
        self.truncated = False
        self._child = child
        self._left = memoryview(stdin)
        self._limit = limit

    def hold(self, end: float) -> bool:
        """True when the child has closed both outputs; False if the deadline or the limit came first."""
        assert self._child.stdin
        assert self._child.stdout
        assert self._child.stderr
        with selectors.DefaultSelector() as ready:
            for name, pipe in (("stdout", self._child.stdout), ("stderr", self._child.stderr)):
                ready.register(pipe, selectors.EVENT_READ, name)
            os.set_blocking(self._child.stdin.fileno(), False)
            ready.register(self._child.stdin, selectors.EVENT_WRITE, "stdin")
            while {"stdout", "stderr"} & {key.data for key in ready.get_map().values()}:
                left = end - time.monotonic()
                if left <= 0 or self.truncated:
                    return False
                for key, _ in ready.select(left):
                    open_still = self._write() if key.data == "stdin" else self._read(key.fd, key.data)
                    if not open_still:
                        ready.unregister(key.fileobj)
        return not self.truncated

    def _write(self) -> bool:
        assert self._child.stdin
        # A tool may stop reading early.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if self._left:
                self._left = self._left[os.write(self._child.stdin.fileno(), self._left[:_READ]) :]
            if self._left:
                return True
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()
        return False

    def _read(self, descriptor: int, name: str) -> bool:
        chunk = os.read(descriptor, _READ)
        kept = self.output[name]
        kept += chunk[: self._limit - len(kept)]
        self.truncated = self.truncated or (bool(chunk) and len(kept) >= self._limit)
        return bool(chunk)


def _wait(child: subprocess.Popen[bytes], end: float) -> int | None:
    try:
        return child.wait(timeout=max(end - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return None


def kill_group(leader: int) -> None:
    """Kills a process group, so that no descendant of its leader survives; one that is already gone is not an error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kills and reaps a tool, with its descendants."""
    kill_group(child.pid)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
