"""Removes a secret from the process list, which every user of a machine can read."""

from __future__ import annotations

import ctypes
from pathlib import Path

_ARG_START, _ARG_END = 45, 46
"""proc(5), fields 48 and 49 of `stat`; the first two fields, up to the name, are cut off here."""


def hide_argument(secret: str) -> bool:
    """Overwrites a secret in the arguments of this process; False where the system does not allow it (not Linux).

    `ps` and `/proc/PID/cmdline` read the memory that the kernel filled at the start. Python has its own copies.
    """
    wanted = secret.encode()
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
        shown = Path("/proc/self/cmdline").read_bytes()
        if not start or end - start != len(shown):
            return False
        offset = 0
        while (at := shown.find(wanted, offset)) >= 0:
            ctypes.memset(start + at, ord("*"), len(wanted))
            offset = at + len(wanted)
        return wanted not in Path("/proc/self/cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return False
