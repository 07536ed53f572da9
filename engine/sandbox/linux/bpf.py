"""A seccomp filter as bytes: a list of rules, assembled for this machine's processor, without any library.

The program is a straight line. Each rule is a comparison and its own return, so no jump is longer than its rule;
the kernel runs a hundred such instructions in well under a microsecond. Sources: linux/seccomp.h, linux/filter.h,
seccomp(2); the numbers of the calls are in `syscalls`.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass
from typing import Final

from stet_ls.engine.sandbox.linux.syscalls import ARCHITECTURES, Architecture

ALLOW: Final = 0x7FFF0000
KILL_PROCESS: Final = 0x80000000
USER_NOTIFY: Final = 0x7FC00000
_ERRNO: Final = 0x00050000

_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32_BIT = 0x40000000


def errno(number: int) -> int:
    """The action that makes a call fail with this error number."""
    return _ERRNO | number


@dataclass(frozen=True, slots=True)
class ArgumentTest:
    """A condition on the lower 32 bits of a call's argument, or its `upper`: those of `mask` are `value`, or not."""

    index: int
    value: int
    mask: int = 0xFFFFFFFF
    differs: bool = False
    upper: bool = False


@dataclass(frozen=True, slots=True)
class SyscallRule:
    """The action for a call that meets all conditions. Rules for calls missing in the processor's table are skipped."""

    call: str
    action: int
    when: ArgumentTest | None = None
    also: ArgumentTest | None = None


@functools.cache
def program(rules: tuple[SyscallRule, ...], machine: str) -> bytes:
    """The filter for a machine as `platform.machine()` names it: the rules in order; every other call is allowed.

    Calls of a foreign architecture end the process: their numbers mean other calls. Raises LookupError for a machine
    without a table.
    """
    architecture = ARCHITECTURES[machine]
    code = [
        _instruction(_LOAD, _ARCH),
        _instruction(_JUMP_EQUAL, architecture.audit, yes=1, no=0),
        _instruction(_RETURN, KILL_PROCESS),
        _instruction(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_instruction(_JUMP_AT_LEAST, _X32_BIT, yes=0, no=1), _instruction(_RETURN, KILL_PROCESS)]
    for rule in rules:
        code += _rule(rule, architecture)
    return b"".join([*code, _instruction(_RETURN, ALLOW)])


def _rule(rule: SyscallRule, architecture: Architecture) -> list[bytes]:
    number = architecture.calls.get(rule.call)
    if number is None:
        return []
    conditions = [each for each in (rule.when, rule.also) if each is not None]
    if not conditions:
        return [_instruction(_JUMP_EQUAL, number, yes=0, no=1), _instruction(_RETURN, rule.action)]
    checks = []
    for index, condition in enumerate(conditions):
        out = 3 * (len(conditions) - index - 1) + 1  # past the other conditions and the return
        yes, no = (out, 0) if condition.differs else (0, out)
        checks += [
            _instruction(_LOAD, _ARGUMENTS + 8 * condition.index + 4 * condition.upper),
            _instruction(_AND, condition.mask),
            _instruction(_JUMP_EQUAL, condition.value, yes=yes, no=no),
        ]
    # After the rule, the accumulator holds an argument: the number has to be loaded again.
    return [
        _instruction(_JUMP_EQUAL, number, yes=0, no=len(checks) + 2),
        *checks,
        _instruction(_RETURN, rule.action),
        _instruction(_LOAD, _NUMBER),
    ]


def _instruction(code: int, operand: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)
