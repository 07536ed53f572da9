"""The launcher of a sandbox without namespaces: drops access rights, starts the command, and ends all processes.

A separate program, started for each run with nothing in its arguments and variables: the policy is JSON in the
descriptor that the first argument names. The second is a pipe that Stet holds open: when it closes, because the run
ended, was cancelled, or Stet has ended in any way, the whole tree is killed. The parent process, the warden, stays
outside the walls; the child confines itself and becomes the command.
"""

from __future__ import annotations

import _socket
import array
import base64
import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from stet_ls.engine.sandbox.files.disk_usage import DiskUsage
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.linux.seccomp_notify import SyscallAnswers
from stet_ls.engine.sandbox.processes.procfs import descendants

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_CAPBSET_DROP = 1, 36, 24
_SECCOMP, _SET_MODE_FILTER = {"x86_64": 317, "aarch64": 277}, 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES_V3, _MOST_CAPABILITIES = 0x20080522, 64
_TICK = 0.1


def main() -> None:
    """Runs the policy to its end and writes one JSON object to the policy's `status` descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    policy_from, lifeline = int(sys.argv[1]), int(sys.argv[2])
    with os.fdopen(policy_from, "rb") as file:
        policy: Mapping[str, Any] = json.load(file)
    status = int(policy["status"])
    ours, theirs = _socket.socketpair()
    warden = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _confined(policy, theirs, libc, warden)
        except BaseException as error:  # noqa: BLE001 - after any error, nothing may continue outside the walls
            number = error.errno if isinstance(error, OSError) else None
            _report(status, {"error": f"{type(error).__name__}: {error}", "errno": number})
        os._exit(127)
    theirs.close()
    for stream in (0, 1, 2, *policy["keep"]):
        os.close(stream)
    result: dict[str, Any] = {}
    try:
        result = _watch(policy, child, lifeline, ours)
    finally:
        _end_all()
    if result:
        _report(status, result)
    os._exit(0)


def _confined(policy: Mapping[str, Any], warden: _socket.socket, libc: ctypes.CDLL, parent: int) -> None:
    """Confines itself and becomes the command. Raises OSError if a wall cannot be set up or nothing starts."""
    os.setsid()
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return
    os.chdir(policy["cwd"])
    status, keep = int(policy["status"]), set(policy["keep"])
    os.set_inheritable(status, False)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in {*keep, status, warden.fileno()}:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    for name, most in policy["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # out of memory, the kernel should end this, not the warden
    _drop_capabilities(libc)
    landlock.restrict(policy["read"], policy["write"], policy["devices"], policy["abi"])
    listener, patient = _install(libc, base64.b64decode(policy["filter"]))
    warden.sendmsg(
        [b"p" if patient else b"-"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [listener]))]
    )
    os.close(listener)
    warden.close()
    for each in range(1, signal.NSIG):  # Python ignores some signals; the command would inherit it
        with contextlib.suppress(OSError, ValueError):
            signal.signal(each, signal.SIG_DFL)
    os.execvpe(policy["argv"][0], policy["argv"], policy["env"])  # noqa: S606 - no shell is intended


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Reduces a superuser to an owner of files. Without privileges it fails, and there is nothing to drop."""
    for number in range(_MOST_CAPABILITIES):
        libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    none = (ctypes.c_uint32 * 6)()
    libc.syscall(ctypes.c_long(_CAPSET[os.uname().machine]), header, none)


def _install(libc: ctypes.CDLL, code: bytes) -> tuple[int, bool]:
    """Installs the filter: returns the descriptor for its questions, and whether signals wait for answers."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    program = Program(len(code) // 8, code)
    call = ctypes.c_long(_SECCOMP[os.uname().machine])
    # Since 5.19 a signal waits for the answer; before that it ends the question, which is then asked again.
    for flags in (_NEW_LISTENER | _WAIT_KILLABLE, _NEW_LISTENER):
        listener = libc.syscall(call, ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(flags), ctypes.byref(program))
        if listener >= 0:
            return int(listener), bool(flags & _WAIT_KILLABLE)
    number = ctypes.get_errno()
    raise OSError(number, f"no filter over system calls: {os.strerror(number)}")


def _watch(policy: Mapping[str, Any], child: int, lifeline: int, ours: _socket.socket) -> dict[str, Any]:
    """Waits for the command's end and answers its questions; returns the report."""

    def count() -> int:
        return len(list(descendants(os.getpid())))

    answers = SyscallAnswers(
        policy["asked"], tuple(policy["write"]), os.getpid(), most=policy["processes"], count=count
    )
    poll = select.poll()
    ended = os.pidfd_open(child)
    for descriptor in (lifeline, ended, ours.fileno()):
        poll.register(descriptor, select.POLLIN)
    listener = -1
    growth = DiskUsage(policy["write"], policy["scratch"], policy["scratch_files"])
    while True:
        for descriptor, events in poll.poll(_TICK * 1000):
            if descriptor == lifeline:
                return {}
            if descriptor == ended:
                return _how(child)
            if descriptor == ours.fileno():
                poll.unregister(descriptor)
                listener, answers.patient = _received(ours)
                if listener >= 0:
                    poll.register(listener, select.POLLIN)
            elif events & select.POLLIN:
                answers.answer(descriptor)
            else:
                poll.unregister(descriptor)
        _reap(child)
        if growth.is_too_much(lambda: sum(map(_unlinked, descendants(os.getpid())))):
            return {"stopped": "disk"}


def _received(ours: _socket.socket) -> tuple[int, bool]:
    """The listener that the child sent, -1 if it failed before; and whether signals wait for answers."""
    size = array.array("i").itemsize
    data, sent, _, _ = ours.recvmsg(1, _socket.CMSG_SPACE(size))
    return array.array("i", sent[0][2])[0] if sent else -1, data == b"p"


def _how(child: int) -> dict[str, Any]:
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"exit": code} if code >= 0 else {"signal": -code}


def _reap(child: int) -> None:
    """Reaps orphans, which become children of the warden. The command itself is left for `_how`."""
    with contextlib.suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if found.si_pid == child:
                return
            os.waitpid(found.si_pid, 0)


def _unlinked(process: int) -> int:
    """The bytes in open files that were deleted: no walk over folders finds them."""
    used = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                link = f"/proc/{process}/fd/{name}"
                target = os.readlink(link)
                if target.endswith(" (deleted)") and not target.startswith("/memfd:"):
                    used += os.stat(link).st_blocks * 512
    return used


def _end_all() -> None:
    """Stops, then kills all processes until none is left: a stopped one cannot start another. Reaps all."""
    me = os.getpid()
    while left := list(descendants(me)):
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, sent)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.001)


def _report(status: int, result: Mapping[str, Any]) -> None:
    os.write(status, json.dumps(result).encode() + b"\n")
