"""Which system calls a box is denied, and why."""

from __future__ import annotations

import errno as numbers

from stet_ls.engine.sandbox.bpf import Argument, Rule, errno

_EPERM = errno(numbers.EPERM)
_ENOSYS = errno(numbers.ENOSYS)

_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

_DENIED = (
    # Other processes' memory and descriptors.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
    # Large and young surfaces of the kernel.
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "modify_ldt", "lookup_dcookie",
    # New mounts and namespaces: a box inside the box could undo what is mounted read-only.
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "unshare", "setns", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init",
    # The machine itself. Without privileges they fail anyway; in a container's root they might not.
    "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "syslog",
    "vhangup", "iopl", "ioperm",
)  # fmt: skip

BOX: tuple[Rule, ...] = (
    *(Rule(call, _EPERM) for call in _DENIED),
    # "Not there" makes programs fall back: glibc to clone, whose flags can be seen, runtimes to ordinary input/output.
    Rule("clone3", _ENOSYS),
    Rule("io_uring_setup", _ENOSYS),
    Rule("io_uring_enter", _ENOSYS),
    Rule("io_uring_register", _ENOSYS),
    Rule("clone", _EPERM, Argument(0, _NAMESPACES, any_bit=True)),
    # Typing into the terminal that Stet was started from.
    Rule("ioctl", _EPERM, Argument(1, _TIOCSTI)),
    Rule("ioctl", _EPERM, Argument(1, _TIOCLINUX)),
)
"""For a box with namespaces of its own: there a socket reaches nobody, so servers on its own loopback may run."""
