"""Attacks on other processes: one of the user's, the victim, and the one that started the run, the driver.

The victim notes each signal that it hears; `targets["signal"]` is a number of the attack's own.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import signal
import struct
from pathlib import Path
from typing import Any

Targets = Any
_libc = ctypes.CDLL(None, use_errno=True)
_PIDFD_GETFD, _PIDFD_SEND, _KCMP, _IOPRIO_SET = (
    438,
    424,
    {"x86_64": 312, "aarch64": 272},
    {"x86_64": 251, "aarch64": 30},
)
_QUEUE = {"x86_64": 129, "aarch64": 138}
_TKILL = {"x86_64": 200, "aarch64": 130}
_TIOCSTI = 0x5412
_PTRACE_SEIZE = 0x4206


def _call(number: int, *arguments: Any) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def _machine(table: dict[str, int]) -> int:
    return table[os.uname().machine]


def kill_victim(targets: Targets) -> None:
    """The plain way."""
    os.kill(targets["victim"], targets["signal"])


def kill_its_group(targets: Targets) -> None:
    """By its group."""
    os.killpg(targets["victim"], targets["signal"])


def kill_its_thread(targets: Targets) -> None:
    """By its thread."""
    if _libc.tgkill(targets["victim"], targets["victim"], targets["signal"]):
        raise OSError(ctypes.get_errno(), "tgkill")


def kill_its_task(targets: Targets) -> None:
    """By its thread, the old way."""
    _call(_machine(_TKILL), targets["victim"], targets["signal"])


def kill_by_descriptor(targets: Targets) -> None:
    """By a descriptor of the process."""
    signal.pidfd_send_signal(os.pidfd_open(targets["victim"]), targets["signal"])


def kill_with_value(targets: Targets) -> None:
    """With a value."""
    information = struct.pack("=iiii", targets["signal"], 0, -1, 0) + bytes(112)
    _call(_machine(_QUEUE), targets["victim"], targets["signal"], information)


def kill_by_pipe(targets: Targets) -> None:
    """A pipe that signals its owner when there is something to read, and is owned by the victim."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, targets["victim"])
    fcntl.fcntl(reading, 10, targets["signal"])  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writing, b"x")


def kill_all(targets: Targets) -> None:
    """Every process that may be signalled; with a number that does no harm."""
    os.kill(-1, targets["signal"])


def kill_driver(targets: Targets) -> str:
    """The process that started the run, without harm."""
    os.kill(targets["driver"], 0)
    return "the process that started it"


def trace_victim(targets: Targets) -> str:
    """Its registers and memory."""
    _libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if _libc.ptrace(_PTRACE_SEIZE, targets["victim"], None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return "traced"


def read_its_memory(targets: Targets) -> str:
    """Its memory, at an address that is certainly none: what counts is who refuses."""
    vector = ctypes.create_string_buffer(struct.pack("=QQ", 0, 8))
    if _libc.process_vm_readv(targets["victim"], vector, 1, vector, 1, 0) < 0 and ctypes.get_errno() != 14:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    return "its memory may be read"


def open_its_memory(targets: Targets) -> str:
    """Its memory as a file."""
    open(f"/proc/{targets['victim']}/mem", "rb").close()
    return "its memory is open"


def read_its_environment(targets: Targets) -> str:
    """Its variables, and those of the process that started the run."""
    for process in (targets["victim"], targets["driver"], os.getppid(), 1):
        try:
            if targets["planted"].encode() in Path(f"/proc/{process}/environ").read_bytes():
                return f"process {process}"
        except OSError:
            continue
    raise PermissionError("none was seen")


def read_its_maps(targets: Targets) -> str:
    """What it has loaded, and from where."""
    return Path(f"/proc/{targets['victim']}/maps").read_text()[:100]


def see_it(targets: Targets) -> str:
    """That it runs."""
    return str(Path(f"/proc/{targets['victim']}").stat().st_uid)


def take_its_descriptor(targets: Targets) -> str:
    """A copy of one of its descriptors."""
    _call(_PIDFD_GETFD, os.pidfd_open(targets["victim"]), 0, 0)
    return "its standard input"


def open_its_descriptor(targets: Targets) -> str:
    """The same by its name."""
    os.open(f"/proc/{targets['victim']}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    return "its standard input"


def compare_it(targets: Targets) -> str:
    """What it shares with others."""
    _call(_machine(_KCMP), targets["victim"], targets["victim"], 1, 0, 0)
    return "compared"


def hold_it(targets: Targets) -> str:
    """A descriptor of it, that tells when it ends; signalling by it is another attack."""
    signal.pidfd_send_signal(os.pidfd_open(targets["victim"]), 0)
    return "a descriptor of it that signals"


def slow_it(targets: Targets) -> None:
    """Its priority; seen from outside."""
    os.setpriority(os.PRIO_PROCESS, targets["victim"], 7)


def pin_it(targets: Targets) -> str:
    """The processors that it may use: set to what they are."""
    os.sched_setaffinity(targets["victim"], os.sched_getaffinity(0))
    return "its processors"


def schedule_it(targets: Targets) -> str:
    """How it is scheduled: as it is."""
    os.sched_setscheduler(targets["victim"], os.SCHED_OTHER, os.sched_param(0))
    return "its scheduling"


def slow_its_disk(targets: Targets) -> str:
    """The priority of its input and output."""
    _call(_machine(_IOPRIO_SET), 1, targets["victim"], 2 << 13 | 7)
    return "its input and output"


def doom_it(targets: Targets) -> str:
    """That the kernel ends it first when memory is short."""
    Path(f"/proc/{targets['victim']}/oom_score_adj").write_text("1000", encoding="ascii")
    return "it is the first to go"


def steal_input(targets: Targets) -> str | None:
    """What the user's editor says to the server, through standard input."""
    ready, _, _ = select.select([0], [], [], 0.2)
    return os.read(0, 100).decode() or None if ready else None


def steal_input_by_name(targets: Targets) -> str | None:
    """The same through the names of descriptors."""
    for process in ("self", targets["driver"], os.getppid()):
        try:
            number = os.open(f"/proc/{process}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
            if found := os.read(number, 100):
                return found.decode()
        except OSError:
            continue
    return None


def forge_output(targets: Targets) -> None:
    """Something said to the user's editor in the server's name; heard outside."""
    os.write(os.open(f"/proc/{targets['driver']}/fd/1", os.O_WRONLY | os.O_NONBLOCK), b"forged")


def use_inherited(targets: Targets) -> str | None:
    """Descriptors that were open from the start."""
    return ", ".join(map(str, targets["inherited"])) or None


def type_at_terminal(_: Targets) -> str:
    """Keys pressed at the terminal that the server was started from. None was opened here, so who refuses counts."""
    try:
        fcntl.ioctl(os.open("/dev/null", os.O_RDWR), _TIOCSTI, b"")
    except OSError as error:
        if error.errno == 25:  # ENOTTY: the call went through to a file that is no terminal
            return "the call is not denied"
        raise
    return "typed"


def dump_core(_: Targets) -> str | None:
    """A core file, written by the kernel wherever the machine's settings say."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    return "cores may be dumped" if hard else None


def open_many(_: Targets) -> str | None:
    """Four thousand open files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 5000), hard))
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(4000)]
    return f"{len(kept)} files"


ATTACKS = (
    kill_victim, kill_its_group, kill_its_thread, kill_its_task, kill_by_descriptor, kill_with_value, kill_by_pipe,
    kill_all, kill_driver, trace_victim, read_its_memory, open_its_memory, read_its_environment,
    read_its_maps, see_it, take_its_descriptor, open_its_descriptor, compare_it, hold_it, slow_it, pin_it, schedule_it,
    slow_its_disk, doom_it, steal_input, steal_input_by_name, forge_output, use_inherited, type_at_terminal, dump_core,
    open_many,
)  # fmt: skip
