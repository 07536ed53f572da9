"""The numbers of the system calls that filters name. Sources: Linux' syscall_64.tbl (x86) and asm-generic/unistd.h."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """One kind of processor: its name in the kernel's audit, and its calls by name."""

    audit: int
    calls: Mapping[str, int]


# Added after the tables were unified: the same everywhere.
_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446, "process_mrelease": 448,
    "open_tree_attr": 467, "openat2": 437, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466,
    "file_setattr": 469, "memfd_secret": 447,
}  # fmt: skip

ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(
        0xC000003E,
        _COMMON
        | {
            "ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "kill": 62, "ptrace": 101, "syslog": 103,
            "rt_sigqueueinfo": 129, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "adjtimex": 159,
            "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
            "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
            "quotactl": 179, "tkill": 200, "lookup_dcookie": 212, "clock_settime": 227, "tgkill": 234,
            "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
            "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
            "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
            "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "seccomp": 317, "kexec_file_load": 320,
            "bpf": 321, "userfaultfd": 323,
            "fork": 57, "vfork": 58, "vmsplice": 278, "setsockopt": 54, "memfd_create": 319,
            "open": 2, "shmget": 29, "shmat": 30, "shmctl": 31, "connect": 42, "bind": 49, "listen": 50, "semget": 64,
            "semop": 65, "semctl": 66, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "fcntl": 72,
            "truncate": 76, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132,
            "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "prctl": 157, "setxattr": 188,
            "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
            "sched_setaffinity": 203,
            "semtimedop": 220, "utimes": 235, "mq_open": 240, "mq_unlink": 241, "ioprio_set": 251,
            "inotify_add_watch": 254, "migrate_pages": 256, "openat": 257, "fchownat": 260, "futimesat": 261,
            "fchmodat": 268, "move_pages": 279, "utimensat": 280, "prlimit64": 302, "sched_setattr": 314,
        },
    ),
    "aarch64": Architecture(
        0xC00000B7,
        _COMMON
        | {
            "lookup_dcookie": 18, "ioctl": 29, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51,
            "vhangup": 58, "quotactl": 60, "acct": 89, "unshare": 97, "kexec_load": 104, "init_module": 105,
            "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "kill": 129, "tkill": 130,
            "tgkill": 131, "rt_sigqueueinfo": 138, "reboot": 142, "settimeofday": 170, "adjtimex": 171, "socket": 198,
            "socketpair": 199, "add_key": 217, "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224,
            "swapoff": 225, "rt_tgsigqueueinfo": 240, "perf_event_open": 241, "fanotify_init": 262,
            "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
            "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "seccomp": 277,
            "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294, "vmsplice": 75,
            "setsockopt": 208, "memfd_create": 279,
            "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
            "fcntl": 25, "inotify_add_watch": 27, "ioprio_set": 30, "truncate": 45, "fchmod": 52, "fchmodat": 53,
            "fchownat": 54, "fchown": 55, "openat": 56, "utimensat": 88, "sched_setparam": 118,
            "sched_setscheduler": 119, "sched_setaffinity": 122, "setpriority": 140, "prctl": 167,
            "mq_open": 180, "mq_unlink": 181, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189,
            "semget": 190, "semctl": 191,
            "semtimedop": 192, "semop": 193, "shmget": 194, "shmctl": 195, "shmat": 196, "bind": 200, "listen": 201,
            "connect": 203, "migrate_pages": 238, "move_pages": 239, "prlimit64": 261, "sched_setattr": 274,
        },
    ),
}  # fmt: skip
"""By `platform.machine()`."""
