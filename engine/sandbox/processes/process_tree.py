"""Resource use of a process tree, measured outside: no rlimit bounds a tree, and code inside could lie."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.sandbox.processes.procfs import children, descendants
from stet_ls.engine.sandbox.processes.socket_buffers import buffers
from stet_ls.engine.sandbox.spec import Limits, RunStatus
from stet_ls.validators.checkers.tool_process import kill_group

_COUNTED = (b"RssAnon:", b"RssShmem:", b"VmSwap:", b"VmPTE:")


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """Processes, the bytes of memory that they hold, and the bytes and files in the sandbox's writable folders."""

    processes: int = 0
    memory: int = 0
    scratch: int = 0
    files: int = 0

    def beyond(self, limits: Limits) -> RunStatus | None:
        """The limit that is passed, if any."""
        if self.memory > limits.memory:
            return RunStatus.MEMORY
        if self.processes > limits.processes:
            return RunStatus.PROCESSES
        # A full file system is the most that a program can reach.
        if self.scratch >= limits.scratch or self.files > limits.scratch_files:
            return RunStatus.DISK
        return None


def measure(root: int, folders: tuple[str, ...], limits: Limits) -> TreeUsage:
    """The use of the descendants of `root`. `folders` are writable file systems as seen from inside; each counts once.

    Stops counting above the allowed number of processes: a fork bomb creates them faster than they can be read.
    """
    processes = memory = 0
    inside: int | None = None
    found: list[int] = []
    for process in descendants(root):
        processes += 1
        memory += _memory(process)
        found.append(process)
        inside = process if inside is None else inside
        if processes > limits.processes:
            break
    memory += buffers(found, limits)
    scratch = files = 0
    if inside is not None:
        for _, used, count in {space for folder in folders if (space := _own_space(inside, folder))}:
            scratch += used
            files += count
    return TreeUsage(processes, memory, scratch, files)


def kill(leader: int) -> list[int]:
    """Kills a group leader and its children; returns descriptors of the children for `wait_until_ended`.

    A child may be a sandbox's first process, whose end makes the kernel end all others. It follows its parent by
    itself, except in the moment in which the sandbox is being built.
    """
    _send(leader, signal.SIGSTOP)  # it can start no others until it is killed
    below = children(leader)
    held = open_descriptors(below)
    for child in below:
        _send(child, signal.SIGKILL)
    kill_group(leader)
    return held


def open_descriptors(processes: Iterable[int]) -> list[int]:
    """Descriptors of those that still exist."""
    held = []
    for process in processes:
        with contextlib.suppress(OSError):
            held.append(os.pidfd_open(process))
    return held


def _send(to: int, sent: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(to, sent)


async def wait_until_ended(held: Sequence[int], seconds: float = 0.5) -> None:
    """Waits until these processes have ended, and closes their descriptors."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            for process in held:
                ended = asyncio.Event()
                loop.add_reader(process, ended.set)
                try:
                    await ended.wait()
                finally:
                    loop.remove_reader(process)
    except TimeoutError:
        pass  # already killed: the kernel frees the memory of a large one later
    finally:
        for process in held:
            os.close(process)


def _memory(process: int) -> int:
    """Its own and shared memory, its swap and its page tables; mapped files are left out: they are a cache."""
    total = 0
    try:
        for line in Path(f"/proc/{process}/status").read_bytes().splitlines():
            if line.startswith(_COUNTED):
                total += int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return total
    return total


def _own_space(process: int, folder: str) -> tuple[int, int, int] | None:
    """The file system that a process sees in a folder: its identity, and the bytes and files in use.

    None for the machine's own: the sandbox is still being built then, and a full disk is not its doing.
    """
    inside = Path(f"/proc/{process}/root{folder}")
    try:
        device = inside.stat().st_dev
        system = os.statvfs(inside)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if Path(folder).stat().st_dev == device:
            return None
    return device, (system.f_blocks - system.f_bfree) * system.f_frsize, system.f_files - system.f_ffree
