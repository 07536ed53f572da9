"""Attacks on what lies on the disk. Each returns what it reached, or None, or raises; files are looked at from outside.

`targets["canary"]` is a file that no box shows, `targets["bound"]` one that every box shows read-only; each attack has
its own two.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import struct
from pathlib import Path
from typing import Any

Targets = Any
_libc = ctypes.CDLL(None, use_errno=True)
_FS_IOC_SETFLAGS, _NODUMP = 0x40086602, 0x40


def read_key(targets: Targets) -> str:
    """The user's key for SSH."""
    return Path(targets["home"], ".ssh", "id_ed25519").read_text(encoding="ascii")


def read_by_link(targets: Targets) -> str:
    """A link in the working folder that leads out."""
    os.symlink(targets["canary"], "way-out")
    return Path("way-out").read_text(encoding="ascii")


def read_by_dots(targets: Targets) -> str:
    """The same without a link."""
    return Path("../" * 40 + targets["canary"]).read_text(encoding="ascii")


def read_by_roots(targets: Targets) -> str | None:
    """Through the root, or the working folder, of any process that can be seen."""
    for process in [str(targets["victim"]), str(targets["driver"]), "self", "1", *os.listdir("/proc")]:
        for way in ("root", "cwd"):
            try:
                return Path(f"/proc/{process}/{way}/{targets['canary']}").read_text(encoding="ascii")
            except OSError:
                continue
    return None


def read_from_memory(targets: Targets) -> str | None:
    """By a program without a file, started from a descriptor: the walls have to go with it."""
    program = os.memfd_create("cat")
    os.write(program, Path("/bin/cat").read_bytes())
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(writing, 1)
        os.execve(program, ["cat", targets["canary"]], {})
    os.close(writing)
    return os.read(reading, 100).decode() or None


def read_shared_memory(targets: Targets) -> str:
    """A file in the host's /dev/shm."""
    return Path(targets["shm"]).read_text(encoding="ascii")


def read_machine(_: Targets) -> str:
    """The number that identifies this machine."""
    return Path("/etc/machine-id").read_text(encoding="ascii") or "it is there"


def read_users(_: Targets) -> str | None:
    """Who has an account."""
    text = Path("/etc/passwd").read_text(encoding="utf-8")
    return text if text.count("\n") > 1 else None


def read_hardware(_: Targets) -> str | None:
    """The hardware: addresses of network cards, serial numbers."""
    for place in ("/sys/class/net", "/sys/class/dmi/id", "/sys/block", "/sys/fs/cgroup"):
        if names := set(os.listdir(place)) - {"lo"}:
            return f"{place}: {', '.join(sorted(names)[:3])}"
    return None


def link_canary(targets: Targets) -> str:
    """A second name for a file of the user's; seen from outside by its count of names."""
    os.link(targets["canary"], "second-name")
    return "a second name"


def link_shown(targets: Targets) -> str:
    """A second name, in a writable place, for a file that is shown."""
    os.link(targets["bound"], "second-name-of-shown")
    return "a second name"


def write_by_link(targets: Targets) -> None:
    """Through a link in the working folder."""
    os.symlink(targets["canary"], "way-in")
    Path("way-in").write_text("changed", encoding="ascii")


def write_reopened(targets: Targets) -> None:
    """A file that is shown, opened to read and opened again by its descriptor."""
    number = os.open(targets["bound"], os.O_RDONLY)
    os.write(os.open(f"/proc/self/fd/{number}", os.O_WRONLY), b"changed")


def write_mapped(targets: Targets) -> None:
    """A file that is shown, through memory."""
    import mmap

    with open(targets["bound"], "r+b") as file, mmap.mmap(file.fileno(), 1) as memory:
        memory[0] = 0x21


def create_next_to_shown(targets: Targets) -> None:
    """A new file in a folder that is shown: how a cache of packages would be poisoned."""
    Path(targets["bound"]).with_name("added").write_text("here", encoding="ascii")


def replace_shown(targets: Targets) -> None:
    """Another file in the place of one that is shown."""
    Path("mine").write_text("mine", encoding="ascii")
    os.rename("mine", targets["bound"])


def remove_shown(targets: Targets) -> None:
    """A file that is shown, gone."""
    os.unlink(targets["bound"])


def remove_canary(targets: Targets) -> None:
    """A file of the user's, gone."""
    os.unlink(targets["canary"])


def move_canary(targets: Targets) -> None:
    """A file of the user's, elsewhere."""
    os.rename(targets["canary"], "moved")


def make_folder(targets: Targets) -> None:
    """A folder among the user's."""
    os.mkdir(Path(targets["canary"]).with_name("made"))


def make_link(targets: Targets) -> None:
    """A link planted among the user's files."""
    os.symlink("/etc/passwd", Path(targets["canary"]).with_name("planted"))


def make_pipe(targets: Targets) -> None:
    """A named pipe planted among the user's files, at which a reader hangs."""
    os.mkfifo(Path(targets["canary"]).with_name("pipe"))


def make_device(_: Targets) -> str:
    """A device of its own."""
    os.mknod("zeros", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    with open("zeros", "rb") as file:
        return f"{len(file.read(8))} bytes of a device"


def set_flags(targets: Targets) -> str:
    """Flags of a file that is shown, by a descriptor that only reads."""
    with open(targets["bound"], "rb") as file:
        fcntl.ioctl(file, _FS_IOC_SETFLAGS, struct.pack("=q", _NODUMP))
    return "other flags"


def lease_shown(targets: Targets) -> str:
    """A lease on a file that is shown: a process outside that opens it to write waits for as long as 45 seconds."""
    with open(targets["bound"], "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        return "a lease"


def notify_shown(targets: Targets) -> str:
    """Word of each change in a folder that is shown."""
    number = os.open(Path(targets["bound"]).parent, os.O_RDONLY)
    fcntl.fcntl(number, fcntl.F_NOTIFY, fcntl.DN_CREATE)
    return "word of changes"


def write_shared_memory(targets: Targets) -> None:
    """A file in the host's /dev/shm; the box may have one of its own."""
    Path(targets["shm"] + ".written").write_text("here", encoding="ascii")


def write_temporary(targets: Targets) -> None:
    """Files where everybody may write; the box may have such folders of its own."""
    for folder in ("/tmp", "/var/tmp", "/run/lock"):
        try:
            Path(folder, targets["mark"]).write_text("here", encoding="ascii")
        except OSError:
            continue


def by_handle(targets: Targets) -> str:
    """A handle of a file, which opens it whatever lies in between."""
    handle = ctypes.create_string_buffer(struct.pack("=II", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    if _libc.name_to_handle_at(-100, os.fsencode(targets["bound"]), handle, ctypes.byref(mount), 0) < 0:
        raise OSError(ctypes.get_errno(), "no handle")
    return "a handle"


ATTACKS = (
    read_key, read_by_link, read_by_dots, read_by_roots, read_from_memory, read_shared_memory, read_machine, read_users,
    read_hardware, link_canary, link_shown, write_by_link, write_reopened, write_mapped, create_next_to_shown,
    replace_shown, remove_shown, remove_canary, move_canary, make_folder, make_link, make_pipe, make_device, set_flags,
    lease_shown, notify_shown, write_shared_memory, write_temporary, by_handle,
)  # fmt: skip
