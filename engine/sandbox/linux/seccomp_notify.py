"""Answers system calls that Landlock does not cover: signals, modes and times of files.
Root's new processes are included, because no limit of their number binds root.

A filter sees only the numbers in a call, not the memory behind them. So the kernel stops the caller and asks the
warden, which performs the call itself if it stays in the sandbox (seccomp_unotify(2)). The warden never checks a name
and then lets the caller continue with it, because the caller could change the name in between. A descriptor's file
cannot be exchanged: each check is on a descriptor.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import struct
from collections.abc import Callable, Mapping

_RECEIVE, _SEND, _STILL_ASKS = 0xC0502100, 0xC0182101, 0x40082102
_QUESTION, _ARGUMENTS = struct.Struct("=QII iIQ 6Q"), 6
_ANSWER = struct.Struct("=QqiI")
_CONTINUE = 1
_AT_FDCWD, _AT_SYMLINK_NOFOLLOW = -100, 0x100
_PAGE, _LONGEST = 4096, 4096
_MODES = 0o1777  # no program of the sandbox runs as another user

_ALLOWED = object()
"""The caller may make its call: nothing in it can be exchanged in between."""


class SyscallAnswers:
    """Answers the questions of one sandbox. `asked` maps numbers to calls; `writable` are its folders.

    `most` is the allowed number of processes, and `count` returns the current one.
    `patient`: a signal to a caller waits for its answer. Otherwise the signal ends the question, and it is asked again.
    """

    def __init__(
        self, asked: Mapping[str, str], writable: tuple[str, ...], warden: int, *, most: int, count: Callable[[], int]
    ) -> None:
        self._calls: dict[int, Callable[..., object]] = {
            int(number): getattr(self, f"_{name}") for number, name in asked.items()
        }
        self._writable = tuple(os.path.realpath(folder) for folder in writable)
        self._warden = warden
        self._most, self._count = most, count
        self._processes = 1
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._listener = -1
        self._asking = 0
        self._later: list[tuple[int, int]] = []
        self.patient = False

    def answer(self, listener: int) -> None:
        """Receives one question and answers it; a caller that has ended needs no answer."""
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, question)
        except OSError:
            return
        self._asking, caller, _, number, _, _, *arguments = _QUESTION.unpack(question)
        self._listener, self._later = listener, []
        error = flags = 0
        try:
            if self._calls[number](caller, *arguments) is _ALLOWED:
                flags = _CONTINUE
        except OSError as failed:
            error = -(failed.errno or errno.EPERM)
        except (KeyError, ValueError, OverflowError):
            error = -errno.EPERM
        with contextlib.suppress(OSError):
            fcntl.ioctl(listener, _SEND, bytearray(_ANSWER.pack(self._asking, 0, error, flags)))
        for process, sent in self._later:
            with contextlib.suppress(OSError):
                self._signal(process, sent)

    # Processes

    def _fork(self, *_: int) -> object:
        """Allows it below the limit. The running count includes threads and the dead; at the limit it is recounted."""
        if self._processes >= self._most:
            self._processes = self._count()
        if self._processes >= self._most:
            raise BlockingIOError(errno.EAGAIN, "too many processes")
        self._processes += 1
        return _ALLOWED

    _vfork = _clone = _fork

    # Signals

    def _kill(self, caller: int, target: int, sent: int, *_: int) -> object:
        target, sent = _int(target), _int(sent)
        own = _group_leader(caller)
        # Its process id stays its own while it waits; its own group, begun in the sandbox, has no member outside.
        if target in (own, 0):
            return _ALLOWED
        if target > 0:
            self._signal(target, sent)
            return None
        receivers = [process for process in self._members() if target == -1 or _group(process) == -target]
        if not receivers:
            raise ProcessLookupError(errno.ESRCH, "no such group")
        for process in receivers:
            if process != own or (target != -1 and self.patient):
                with contextlib.suppress(ProcessLookupError):
                    self._signal(process, sent)
            elif target != -1:
                self._later.append((process, sent))
        return None

    def _tgkill(self, caller: int, group: int, thread: int, sent: int, *_: int) -> object:
        if _int(group) == _group_leader(caller):
            return _ALLOWED
        if group != thread:
            raise PermissionError(errno.EPERM, "a thread of another process")
        self._signal(_int(group), _int(sent))
        return None

    def _tkill(self, caller: int, thread: int, sent: int, *_: int) -> object:
        if thread == caller:
            return _ALLOWED
        own = _group_leader(caller)
        if _group_leader(_int(thread)) == own:
            self._checked(self._libc.tgkill(own, _int(thread), _int(sent)))
        else:
            self._signal(_int(thread), _int(sent))
        return None

    def _signal(self, process: int, sent: int) -> None:
        """Signals by a descriptor opened before the check: the process id could be another's afterwards."""
        target = os.pidfd_open(process)
        try:
            if not self._is_inside(process):
                raise PermissionError(errno.EPERM, "not in the sandbox")
            signal.pidfd_send_signal(target, sent)
        finally:
            os.close(target)

    def _is_inside(self, process: int) -> bool:
        while process > 1:
            process = _status(process, b"PPid:")
            if process == self._warden:
                return True
        return False

    def _members(self) -> list[int]:
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    if self._is_inside(int(name)):
                        found.append(int(name))
        return found

    # Modes and times

    def _chmod(self, caller: int, path: int, mode: int, *_: int) -> None:
        self._change_mode(self._open(caller, _AT_FDCWD, path, 0), mode)

    def _fchmod(self, caller: int, descriptor: int, mode: int, *_: int) -> None:
        self._change_mode(self._open(caller, _int(descriptor), 0, 0), mode)

    def _fchmodat(self, caller: int, folder: int, path: int, mode: int, *_: int) -> None:
        self._change_mode(self._open(caller, _int(folder), path, 0), mode)

    def _fchmodat2(self, caller: int, folder: int, path: int, mode: int, flags: int, *_: int) -> None:
        self._change_mode(self._open(caller, _int(folder), path, flags), mode)

    def _utimensat(self, caller: int, folder: int, path: int, times: int, flags: int, *_: int) -> None:
        times_given = self._read(caller, times, 32) if times else None
        place = self._open(caller, _int(folder), path, flags)
        try:
            name = f"/proc/self/fd/{place}".encode()
            self._checked(self._libc.utimensat(_AT_FDCWD, name, times_given, 0))
        finally:
            os.close(place)

    def _change_mode(self, place: int, mode: int) -> None:
        try:
            os.chmod(f"/proc/self/fd/{place}", mode & _MODES)
        finally:
            os.close(place)

    def _open(self, caller: int, folder: int, path: int, flags: int) -> int:
        """A path descriptor of the caller's file, without access rights. Raises OSError for a file outside.

        A path of 0, or an empty one, means the folder's descriptor itself.
        """
        name = self._string(caller, path) if path else b""
        link = f"/proc/{caller}/cwd" if folder == _AT_FDCWD else f"/proc/{caller}/fd/{folder}"
        place = os.open(link, os.O_PATH)
        if name:
            start = place
            try:
                nofollow = os.O_NOFOLLOW if flags & _AT_SYMLINK_NOFOLLOW else 0
                place = os.open(name, os.O_PATH | nofollow, dir_fd=start)
            finally:
                os.close(start)
        try:
            real = os.readlink(f"/proc/self/fd/{place}")
            if not any(real == root or real.startswith(f"{root}/") for root in self._writable):
                raise PermissionError(errno.EPERM, "not in the sandbox")
            # The caller existed all the time, so the data read was its own.
            fcntl.ioctl(self._listener, _STILL_ASKS, struct.pack("=Q", self._asking))
        except BaseException:
            os.close(place)
            raise
        return place

    def _string(self, caller: int, address: int) -> bytes:
        found = b""
        while b"\0" not in found:
            if len(found) > _LONGEST:
                raise OSError(errno.ENAMETOOLONG, "too long")
            found += self._read(caller, address + len(found), _PAGE - (address + len(found)) % _PAGE)
        return found.partition(b"\0")[0]

    def _read(self, caller: int, address: int, size: int) -> bytes:
        memory = os.open(f"/proc/{caller}/mem", os.O_RDONLY)
        try:
            return os.pread(memory, size, address) or _fault()
        except OSError:
            return _fault()
        finally:
            os.close(memory)

    def _checked(self, result: int) -> None:
        if result < 0:
            raise OSError(ctypes.get_errno(), "refused")


def _fault() -> bytes:
    raise OSError(errno.EFAULT, "no such address")


def _int(register: int) -> int:
    """The lower half of a register as C's int."""
    return int(ctypes.c_int32(register & 0xFFFFFFFF).value)


def _group_leader(thread: int) -> int:
    """The process that a thread belongs to."""
    return _status(thread, b"Tgid:")


def _group(process: int) -> int:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(process)
    return 0


def _status(thread: int, field: bytes) -> int:
    try:
        with open(f"/proc/{thread}/status", "rb") as file:
            for line in file:
                if line.startswith(field):
                    return int(line[len(field) :])
    except FileNotFoundError:
        pass
    raise ProcessLookupError(errno.ESRCH, "no such process")
