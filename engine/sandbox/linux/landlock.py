"""Landlock: a process gives up access to all files except those it lists, for itself and its children.

Uses only the standard library. Sources: landlock(7), linux/landlock.h. Each ABI version adds rights; requested rights
that a kernel does not know are left out, and the filter (`confined`) closes the gaps that it can.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE, _READ, _LIST = 1, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL_DEV
_CONNECT_AND_BIND = 0b11
_ABSTRACT_SOCKETS, _SIGNALS = 1, 1 << 1

SIGNALS_SINCE = 6
TRUNCATE_SINCE = 3


def abi() -> int:
    """The kernel's ABI version of Landlock; 0 if it has none, or it is disabled."""
    found = _syscall(_CREATE, None, 0, _ASK_VERSION)
    return max(found, 0)


def restrict(read: Sequence[str], write: Sequence[str], devices: Sequence[str], version: int) -> None:
    """Gives up all access except: reading and starting files below `read`, all below `write`, and some devices.

    `version` is the ABI to use, at most the kernel's. No path may be a link; paths that do not exist are skipped.
    Raises OSError if the kernel refuses: then nothing was given up.
    """
    handled = _rights(version)
    attributes = struct.pack(
        "=QQQ",
        handled,
        _CONNECT_AND_BIND if version >= 4 else 0,
        _ABSTRACT_SOCKETS | _SIGNALS if version >= SIGNALS_SINCE else 0,
    )[: 8 if version < 4 else 16 if version < SIGNALS_SINCE else 24]
    rules = _checked(_syscall(_CREATE, attributes, len(attributes), 0))
    try:
        for path in read:
            _allow(rules, path, handled & (_EXECUTE | _READ | _LIST))
        for path in write:
            _allow(rules, path, handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV))
        for path in devices:
            _allow(rules, path, handled & (_WRITE | _READ))
        _checked(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_syscall(_RESTRICT, rules, 0))
    finally:
        os.close(rules)


def _rights(version: int) -> int:
    """Every right over files that this ABI can take away: the first had 13, the second, third and fifth one more."""
    return (1 << 13 + (version >= 2) + (version >= TRUNCATE_SINCE)) - 1 | (_IOCTL_DEV if version >= 5 else 0)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(place).st_mode
        if stat.S_ISLNK(mode):
            return
        rights = rights if stat.S_ISDIR(mode) else rights & _OF_FILES
        _checked(_syscall(_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0))
    finally:
        os.close(place)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *map(_wide, arguments)))


def _wide(argument: int | bytes | None) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
