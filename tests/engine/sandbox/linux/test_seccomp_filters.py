"""The filter's calls, made from inside: each is denied, and what programs need is not."""

from __future__ import annotations

import platform
import struct
import sys

import pytest

from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.linux import bpf, seccomp_filters
from stet_ls.engine.sandbox.linux.syscalls import ARCHITECTURES
from stet_ls.engine.sandbox.spec import RunSpec

SCRIPT = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    ctypes.set_errno(0)
    libc.syscall(number, 0, 0, 0, 0, 0, 0)
    print(number, ctypes.get_errno())
"""


async def test_every_denied_call_is_denied(box: Bwrap) -> None:
    calls = ARCHITECTURES[platform.machine()].calls
    plain = {
        rule.call: rule.action & 0xFFFF for rule in seccomp_filters.BOX if rule.when is None and rule.call in calls
    }
    numbers = [str(calls[name]) for name in plain]
    spec = RunSpec((sys.executable, "-I", "-S", "-c", SCRIPT, *numbers), binds=mounts.interpreter())

    result = await box.run(spec)

    seen = dict(tuple(map(int, line.split())) for line in result.stdout.splitlines())
    assert seen == {calls[name]: error for name, error in plain.items()}
    assert len(seen) > 45


async def test_threads_children_and_local_servers_work(box: Bwrap) -> None:
    script = (
        "import threading, subprocess, socket, multiprocessing as m\n"
        "t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
        "assert subprocess.run(['true']).returncode == 0\n"
        "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())\n"
        "with m.Pool(2) as pool: print(pool.map(abs, [-1, 2]))\n"
    )
    result = await box.run(RunSpec((sys.executable, "-c", script), binds=mounts.interpreter()))

    assert result.stdout == b"[1, 2]\n", result.stderr


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_program_is_well_formed_for_every_processor(machine: str) -> None:
    """Every jump stays inside, every path ends in a return: what the kernel's own checker asks."""
    code = list(struct.iter_unpack("=HBBI", bpf.program(seccomp_filters.confined_filter(1), machine)))

    assert code[-1][0] == 0x06
    for at, (kind, yes, no, _) in enumerate(code):
        if kind & 0x07 == 0x05:
            assert at + 1 + max(yes, no) < len(code)


def test_an_unknown_processor_has_no_filter() -> None:
    with pytest.raises(LookupError):
        bpf.program(seccomp_filters.BOX, "vax")
