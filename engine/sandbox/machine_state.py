"""What decides which sandboxes work for this process, found without starting one."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

BWRAP_FOLDERS = "/usr/bin:/usr/local/bin:/bin"
"""The caller's PATH is not searched: it could find a program of that name in a project."""
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
MOST = Path("/proc/sys/user/max_user_namespaces")
_CONFINED_BY = ("Uid:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:")
"""Lines of `/proc/self/status`."""


def machine_state() -> str:
    """Changes with the boot, the kernel and its settings for namespaces, what confines this process, and bwrap."""
    status = _read(Path("/proc/self/status")).splitlines()
    rows = [boot(), _kernel(), namespaces(), _read(Path("/proc/self/attr/current"))]
    rows += [line for line in status if line.startswith(_CONFINED_BY)]
    rows += [_link(Path("/proc/self/ns", name)) for name in ("mnt", "user", "pid", "net", "cgroup")]
    return "\n".join((*rows, file_state(shutil.which("bwrap", path=BWRAP_FOLDERS) or "")))


def boot() -> str:
    """The id of this boot; "unknown" where the system gives none."""
    return _read(Path("/proc/sys/kernel/random/boot_id")) or "unknown"


def namespaces() -> str:
    """The kernel's current settings for creating user namespaces; "-" for one that it lacks."""
    return " ".join(_read(switch) or "-" for switch in (APPARMOR, CLONE, MOST))


def file_state(path: str | Path) -> str:
    """Changes when a file or the target of its links is replaced."""
    try:
        status = os.stat(path)  # noqa: PTH116 - `Path` would make a folder of an empty name
    except OSError:
        return f"{path} -"
    real = os.path.realpath(path)
    return f"{path} {real} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}"


def _kernel() -> str:
    return " ".join(os.uname()) if hasattr(os, "uname") else sys.platform


def _link(path: Path) -> str:
    try:
        return os.fspath(path.readlink())
    except OSError:
        return "-"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return ""
