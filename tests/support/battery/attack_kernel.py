"""Attacks on the kernel's young and large surfaces, and on what would widen a wall from inside."""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

Targets = Any
_libc = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"perf": 298, "bpf": 321, "userfaultfd": 323, "keyctl": 250, "add_key": 248, "unshare": 272,
               "setns": 308, "clone": 56, "syslog": 103, "modify_ldt": 154, "chroot": 161, "mount": 165,
               "fanotify": 300, "seccomp": 317, "capget": 125, "msgget": 68, "semget": 64, "mq_open": 240},
    "aarch64": {"perf": 241, "bpf": 280, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "unshare": 97,
                "setns": 268, "clone": 220, "syslog": 116, "modify_ldt": -1, "chroot": 51, "mount": 40,
                "fanotify": 262, "seccomp": 277, "capget": 90, "msgget": 186, "semget": 190, "mq_open": 180},
}[os.uname().machine]  # fmt: skip
_IO_URING_SETUP, _CLONE3, _FSOPEN, _OPEN_TREE, _PIDFD_OPEN = 425, 435, 430, 428, 434
_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000
_NO_NEW_PRIVILEGES, _GET_SECCOMP = 39, 21


def _call(name: str | int, *arguments: Any) -> int:
    number = name if isinstance(name, int) else _NUMBERS[name]
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def use_io_uring(_: Targets) -> str:
    """Input and output that no filter over system calls sees."""
    _call(_IO_URING_SETUP, 4, ctypes.create_string_buffer(120))
    return "a ring"


def use_userfaultfd(_: Targets) -> str:
    """Faults of memory, held for as long as one likes."""
    _call("userfaultfd", 1)
    return "a descriptor"


def use_bpf(_: Targets) -> str:
    """Programs in the kernel: a map of one entry."""
    _call("bpf", 0, struct.pack("=IIII", 2, 4, 4, 1) + bytes(112), 128)
    return "a map"


def use_perf(_: Targets) -> str:
    """Events of the processor, of this process alone."""
    _call("perf", struct.pack("=IIQ", 1, 128, 1) + bytes(112), 0, -1, -1, 0)
    return "a counter"


def read_keyring(_: Targets) -> str:
    """The user's keys in the kernel."""
    return f"keyring {_call('keyctl', 0, -4, 1)}"


def add_key(_: Targets) -> str:
    """A key that outlives the run."""
    return f"key {_call('add_key', b'user', b'stet-battery', b'x', 1, -1)}"


def new_user_namespace(_: Targets) -> str:
    """A namespace where it is root, and reaches the kernel's parts for root."""
    _call("unshare", _NEW_USER)
    return "root of its own"


def new_mounts(_: Targets) -> str:
    """Mounts of its own."""
    _call("unshare", _NEW_MOUNTS)
    return "mounts of its own"


def clone_namespace(_: Targets) -> str:
    """The same by clone."""
    if (child := _call("clone", _NEW_USER | 17, 0, 0, 0, 0)) == 0:
        os._exit(0)
    return f"process {child}"


def clone3_namespace(_: Targets) -> str:
    """The same by the call whose flags no filter sees."""
    if (child := _call(_CLONE3, struct.pack("=QQQQQ", _NEW_USER, 0, 0, 0, 17) + bytes(48), 88)) == 0:
        os._exit(0)
    return f"process {child}"


def enter_namespace(targets: Targets) -> str:
    """Another process' namespaces, by its descriptor."""
    _call("setns", os.pidfd_open(targets["driver"]), _NEW_MOUNTS | _NEW_NETWORK)
    return "the driver's namespaces"


def mount_over(_: Targets) -> str:
    """A file system over a folder of its own."""
    os.mkdir("below")
    _call("mount", b"none", b"below", b"tmpfs", 0, None)
    _libc.umount2(b"below", 2)
    return "mounted"


def open_file_system(_: Targets) -> str:
    """The same by the newer calls."""
    _call(_FSOPEN, b"tmpfs", 0)
    return "a file system"


def copy_mounts(_: Targets) -> str:
    """A copy of all mounts, to look below what lies over them."""
    _call(_OPEN_TREE, -100, b"/", 1 | 0x8000)
    return "all mounts"


def change_root(_: Targets) -> str:
    """Another root."""
    _call("chroot", b"/")
    return "a root"


def watch_everything(_: Targets) -> str:
    """Word of each file that anybody opens."""
    _call("fanotify", 0, 0)
    return "a watch"


def read_kernel_log(_: Targets) -> str:
    """What the kernel said."""
    return f"{_call('syslog', 10, 0, 0)} bytes"


def change_segments(_: Targets) -> str:
    """Segments of old programs."""
    _call("modify_ldt", 0, ctypes.create_string_buffer(8), 8)
    return "a table"


def foreign_calls(_: Targets) -> str | None:
    """System calls by the numbers of 32-bit programs, which a filter of 64-bit ones would misread."""
    if os.uname().machine != "x86_64":
        return None
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")  # getpid: push rbx, mov eax 20, int 0x80, pop rbx, ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    return "a foreign call" if answer == os.getpid() else None


def new_privileges(_: Targets) -> str | None:
    """Programs that run as their owner: sudo, mount."""
    return None if _libc.prctl(_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 1 else "programs may run as their owner"


def have_capabilities(_: Targets) -> str | None:
    """Parts of root's power."""
    held = (ctypes.c_uint32 * 6)()
    _call("capget", (ctypes.c_uint32 * 2)(0x20080522, 0), held)
    return "some" if held[0] or held[1] or held[3] or held[4] else None


def have_no_filter(_: Targets) -> str | None:
    """No filter over its calls at all."""
    return "no filter" if _libc.prctl(_GET_SECCOMP, 0, 0, 0, 0) == 0 else None


def open_devices(_: Targets) -> str | None:
    """Memory, disks, and what has a driver."""
    names = ("mem", "kmsg", "port", "vda", "sda", "nvme0n1", "fuse", "kvm", "net/tun", "loop-control", "dri/card0",
             "input/event0", "snd/timer", "uinput", "vhost-vsock", "tty0", "console")  # fmt: skip
    return ", ".join(name for name in names if _opens(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK)) or None


def open_settings(_: Targets) -> str | None:
    """Settings of the kernel, to write; nothing is written."""
    names = ("sys/kernel/core_pattern", "sys/vm/drop_caches", "sysrq-trigger", "sys/kernel/modprobe", "sys/fs/file-max")
    return ", ".join(name for name in names if _opens(f"/proc/{name}", os.O_WRONLY)) or None


def open_kernel(_: Targets) -> str | None:
    """The kernel's own memory and log."""
    names = ("kcore", "kallsyms", "kmsg", "config.gz", "timer_list", "keys", "iomem", "slabinfo", "vmallocinfo")
    return ", ".join(name for name in names if _has_text(f"/proc/{name}")) or None


def _opens(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, flags))
    except OSError:
        return False
    return True


def _has_text(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            text = file.read(200)
    except OSError:
        return False
    return any(word.strip(b"0-") for word in text.split()[:1])  # addresses are shown as zeros to whom they are hidden


def see_host_name(targets: Targets) -> str | None:
    """How this machine is called."""
    return socket.gethostname() if socket.gethostname() == targets["host"] else None


def share_queue(targets: Targets) -> str:
    """A queue of messages that all of the user's processes can name."""
    return f"queue {_call('msgget', targets['shared'], 0)}"


def share_semaphore(targets: Targets) -> str:
    """Semaphores that all of the user's processes can name."""
    return f"semaphores {_call('semget', targets['shared'], 0, 0)}"


def share_posix_queue(targets: Targets) -> str:
    """A queue with a name."""
    return f"queue {_call('mq_open', targets['queue'].encode(), os.O_RDONLY, 0, None)}"


ATTACKS: tuple[Callable[[Targets], str | None], ...] = (
    use_io_uring, use_userfaultfd, use_bpf, use_perf, read_keyring, add_key, new_user_namespace, new_mounts,
    clone_namespace, clone3_namespace, enter_namespace, mount_over, open_file_system, copy_mounts, change_root,
    watch_everything, read_kernel_log, change_segments, foreign_calls, new_privileges, have_capabilities,
    have_no_filter, open_devices, open_settings, open_kernel, see_host_name, share_queue, share_semaphore,
    share_posix_queue,
)  # fmt: skip
