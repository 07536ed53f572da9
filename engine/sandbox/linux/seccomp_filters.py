"""System calls denied in a sandbox, with reasons."""

from __future__ import annotations

import errno as numbers

from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.linux.bpf import ALLOW, USER_NOTIFY, ArgumentTest, SyscallRule, errno
from stet_ls.engine.sandbox.linux.syscalls import ARCHITECTURES

_EPERM = errno(numbers.EPERM)
_ENOSYS = errno(numbers.ENOSYS)
_ENOTSUP = errno(numbers.ENOTSUP)
_DONE = errno(0)
_ENOSPC = errno(numbers.ENOSPC)
_ENOTTY = errno(numbers.ENOTTY)
_EAFNOSUPPORT = errno(numbers.EAFNOSUPPORT)

_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETLEASE, _F_NOTIFY = 1024, 1026
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16

_DENIED = (
    # Other processes' memory and descriptors.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
    # Large and recent parts of the kernel.
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "modify_ldt", "lookup_dcookie",
    # New mounts and namespaces: a nested sandbox could undo a read-only mount.
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "unshare", "setns", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init",
    # The machine itself. Without privileges these fail anyway; as root in a container they might not.
    "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "syslog",
    "vhangup", "iopl", "ioperm",
)  # fmt: skip

_UNCOUNTED = (
    # Memory that belongs to no process while unmapped, so that no monitor finds it: files without a name,
    "memfd_create", "memfd_secret",
    # pages that a pipe holds after their owner released them,
    "vmsplice",
    # messages and semaphores of System V: half a gigabyte and more in a private namespace.
    "msgget", "semget",
)  # fmt: skip
_SOL_SOCKET = 1
_SIZES = (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF, and both by force
_SMALL = 0x1FFF
"""The largest System V memory segment, of which there may be 4,096: PostgreSQL requests one of 56 bytes."""

_ANY_BOX: tuple[SyscallRule, ...] = (
    *(SyscallRule(call, _EPERM) for call in _DENIED),
    # ENOSYS: the runtime of .NET falls back to memory without a file, others to files in a folder.
    *(SyscallRule(call, _ENOSYS) for call in _UNCOUNTED),
    SyscallRule("shmget", _ENOSPC, ArgumentTest(1, 0, mask=0xFFFFFFFF & ~_SMALL, differs=True)),
    SyscallRule("shmget", _ENOSPC, ArgumentTest(1, 0, upper=True, differs=True)),
    # Requests for larger buffers succeed without an effect, so that a monitor can count by sockets.
    *(SyscallRule("setsockopt", _DONE, ArgumentTest(1, _SOL_SOCKET), ArgumentTest(2, option)) for option in _SIZES),
    # ENOSYS makes programs fall back: glibc to clone, whose flags are visible, runtimes to ordinary input/output.
    SyscallRule("clone3", _ENOSYS),
    SyscallRule("io_uring_setup", _ENOSYS),
    SyscallRule("io_uring_enter", _ENOSYS),
    SyscallRule("io_uring_register", _ENOSYS),
    SyscallRule("clone", _EPERM, ArgumentTest(0, 0, mask=_NAMESPACES, differs=True)),
    # Typing into the terminal that Stet was started from.
    SyscallRule("ioctl", _EPERM, ArgumentTest(1, _TIOCSTI)),
    SyscallRule("ioctl", _EPERM, ArgumentTest(1, _TIOCLINUX)),
    # A lease on a visible file blocks processes outside that open it; a notice reveals what is written there.
    SyscallRule("fcntl", _EPERM, ArgumentTest(1, _F_SETLEASE)),
    SyscallRule("fcntl", _EPERM, ArgumentTest(1, _F_NOTIFY)),
)

BOX: tuple[SyscallRule, ...] = (
    *_ANY_BOX,
    # A network namespace confines these, but not others: by AF_VSOCK a virtual machine reaches its host.
    *(SyscallRule("socket", ALLOW, ArgumentTest(0, family)) for family in (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)),
    SyscallRule("socket", _EAFNOSUPPORT),
    SyscallRule("socketpair", _EAFNOSUPPORT, ArgumentTest(0, _AF_UNIX, differs=True)),
)
"""For a sandbox with its own namespaces: a socket reaches no other program, so servers on its loopback may run."""

_F_SETOWN, _F_SETOWN_EX = 8, 15
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
_OF_FILE_SYSTEMS = b"fXv\x94"
"""Kinds of ioctl that change flags of files, or volumes, through a descriptor that only reads."""
_PR_SET_DUMPABLE = 4  # a process hidden from the warden has open files that are not counted
_SOCK_DGRAM, _SOCK_TYPES = 2, 0xF
_O_TRUNC, _O_ACCMODE = 0o1000, 0o3

_REACHING_OUT = (
    # Without a network namespace every socket is one of the host's. Pairs remain, except for datagrams: one end of
    # those can send to any path.
    "socket", "connect", "bind", "listen",
    # Memory, queues and semaphores that all of the user's processes share, and that outlive a run.
    "shmget", "shmat", "shmctl", "msgsnd", "msgrcv", "msgctl", "semop", "semtimedop", "semctl",
    "mq_open", "mq_unlink",
    # The names of files that others write, as it happens.
    "inotify_add_watch",
    # Owners and times of files anywhere; modes and newer calls for times go to the warden.
    "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "file_setattr",
    # Signals that carry a value of the sender's.
    "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "ioprio_set",
)  # fmt: skip
_ATTRIBUTES = (
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat",
)  # fmt: skip
_OF_ANY_PROCESS = (
    "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages",
    "move_pages",
)  # fmt: skip
_MODES_AND_TIMES = ("chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat")
_FORKS = ("fork", "vfork", "clone")
_SIGNALS = ("kill", "tkill", "tgkill")


def confined_filter(version: int, *, counted: bool = False) -> tuple[SyscallRule, ...]:
    """For a Landlock-only sandbox of this ABI: calls that it does not cover are denied or go to the warden.

    See `seccomp_notify`. With `counted` new processes go to the warden too: RLIMIT_NPROC does not bind root.
    """
    rules = [
        *_ANY_BOX,
        *(SyscallRule(call, _EPERM) for call in _REACHING_OUT),
        *(SyscallRule(call, _ENOTSUP) for call in _ATTRIBUTES),
        *(SyscallRule(call, _EPERM, ArgumentTest(0, 0, differs=True)) for call in _OF_ANY_PROCESS),
        SyscallRule("setpriority", _EPERM, ArgumentTest(0, 0, differs=True)),
        SyscallRule("setpriority", _EPERM, ArgumentTest(1, 0, differs=True)),
        SyscallRule("socketpair", _EPERM, ArgumentTest(1, _SOCK_DGRAM, mask=_SOCK_TYPES)),
        *(SyscallRule("fcntl", _EPERM, ArgumentTest(1, value)) for value in (_F_SETOWN, _F_SETOWN_EX)),
        *(SyscallRule("ioctl", _EPERM, ArgumentTest(1, value)) for value in (_FIOSETOWN, _SIOCSPGRP)),
        *(SyscallRule("ioctl", _ENOTTY, ArgumentTest(1, kind << 8, mask=0xFF00)) for kind in _OF_FILE_SYSTEMS),
        SyscallRule("prctl", _EPERM, ArgumentTest(0, _PR_SET_DUMPABLE)),
        *(SyscallRule(call, USER_NOTIFY) for call in (*_MODES_AND_TIMES, *(_FORKS if counted else ()))),
    ]
    if version < landlock.SIGNALS_SINCE:
        # ENOSYS: Go's runtime falls back to kill.
        rules += [SyscallRule("pidfd_send_signal", _ENOSYS), *(SyscallRule(call, USER_NOTIFY) for call in _SIGNALS)]
    if version < landlock.TRUNCATE_SINCE:
        rules += [
            SyscallRule("truncate", _EPERM),
            SyscallRule("openat2", _ENOSYS),  # its flags are behind a pointer
            *(
                SyscallRule(call, _EPERM, ArgumentTest(index, _O_TRUNC, mask=_O_TRUNC | _O_ACCMODE))
                for call, index in (("open", 1), ("openat", 2))
            ),
        ]
    return tuple(rules)


def asked_calls(rules: tuple[SyscallRule, ...], machine: str) -> dict[int, str]:
    """The calls that a filter passes to the warden, by number."""
    calls = ARCHITECTURES[machine].calls
    return {calls[rule.call]: rule.call for rule in rules if rule.action == USER_NOTIFY and rule.call in calls}
