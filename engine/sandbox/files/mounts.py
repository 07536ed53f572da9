"""The parts of the host visible in a sandbox: system programs and libraries, required interpreters, nothing else."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from stet_ls.validators.project_files import read_regular

BOX = "/box"
"""The working folder of a run without a workspace."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "protocols", "services",
    "ssl/openssl.cnf", "java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "java-25-openjdk", "mono",
)  # fmt: skip

NAMES = {
    "/etc/passwd": b"box:x:1000:1000:box:/tmp:/bin/sh\n",
    "/etc/group": b"box:x:1000:\n",
    "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
}
"""Files that describe the user and the network on the host; the sandbox has its own."""

_LARGEST_CONFIG = 100_000
"""Bytes of a `pyvenv.cfg`."""
_NEVER = frozenset(
    {"/", "/home", "/root", "/run", "/var", "/var/run", "/tmp", "/dev", "/proc", "/sys", "/etc", "/usr", "/opt"}  # noqa: S108
)


def system() -> Iterator[tuple[str, str, str]]:
    """The system's part as (option, source, destination) for bwrap: links stay links, folders are bound read-only."""
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield "--symlink", str(path.readlink()), name
        elif path.is_dir():
            yield "--ro-bind", name, name
    for name in _ETC:
        if Path("/etc", name).exists():
            yield "--ro-bind", f"/etc/{name}", f"/etc/{name}"


_HIDDEN = frozenset({"keys", "config.gz"})
"""World-readable entries of /proc: the names of the user's keys, and the kernel's build configuration."""
_ANY_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def kernel() -> Iterator[tuple[str, str, str]]:
    """The parts of /proc that are hidden or made read-only, as options for bwrap.

    If root starts a sandbox, its user owns the kernel's files there, although without capabilities: `core_pattern`
    names a program that the kernel starts outside, as root. bwrap's own covers depend on the mode of the folders, which
    are not writable for anyone. For other users these files have another owner.
    """
    root = os.geteuid() == 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() or entry.is_symlink() or not (root or entry.name in _HIDDEN):
            continue
        mode = entry.stat().st_mode
        if stat.S_ISDIR(mode):
            yield "--ro-bind", entry.path, entry.path
        elif entry.name in _HIDDEN or mode & _ANY_WRITES or not mode & stat.S_IROTH:
            yield "--ro-bind", "/dev/null", entry.path


def readable() -> Iterator[Path]:
    """The system's part for a sandbox without mounts: what may be read and started there."""
    for name in _SYSTEM:
        if Path(name).is_dir():
            yield Path(name)
    for name in _ETC:
        if Path("/etc", name).exists():
            yield Path("/etc", name)


def bindable(path: Path) -> Path | None:
    """The folder or file to bind for `path`, or None if the sandbox has it anyway.

    Raises ValueError for a place that holds other things too: a whole home, the root, the run-time folder.
    """
    real = path.absolute()
    if any(real.is_relative_to(name) for name in _SYSTEM):
        return None
    if str(real) in _NEVER or real == Path.home().absolute():
        raise ValueError(f"{real} contains more than a run may see; use a folder below it")
    return real


def interpreter(executable: Path = Path(sys.executable)) -> tuple[Path, ...]:
    """The folders that a Python needs to start: its environment and the base installation.

    Of an installation in a home folder (pyenv, uv) only its own folder is shown, not the parents.
    """
    folders = [environment_of(executable)]
    base = _home(folders[0])
    if base is not None:
        folders.append(environment_of((base / executable.name).resolve()))
    folders.append(environment_of(executable.resolve()))
    return tuple(dict.fromkeys(folder for folder in folders if bindable(folder) is not None))


def environment_of(executable: Path) -> Path:
    """The folder that a Python belongs to: two above it (`…/bin/python`)."""
    return executable.absolute().parent.parent


def _home(environment: Path) -> Path | None:
    """The folder of the base interpreter, from a virtual environment's configuration."""
    try:
        text = read_regular(environment / "pyvenv.cfg", most=_LARGEST_CONFIG).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return Path(value.strip())
    return None


def outermost_paths(paths: Iterable[Path]) -> list[Path]:
    """The paths that are not inside another one of them, outer ones first."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), path)):  # a set has another order in each process
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return kept
