"""What the memory's process returns to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, sys
from pathlib import Path
from stet_ls.engine.memory.store.malloc_trim import return_large_blocks
if sys.argv[1] == "returned":
    return_large_blocks()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def taken(size):
    block = libc.malloc(size)
    ctypes.memset(block, 1, size)
    return block
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
libc.free(taken(16 << 20))  # from here on glibc keeps what is smaller
before = pages()
blocks = [taken(1 << 20) for _ in range(20)]
pin = taken(100 << 10)  # at the end of the heap, which cannot shrink
for block in blocks:
    libc.free(block)
print((pages() - before) * 4096 >> 20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the heap is told so by glibc alone")
@pytest.mark.parametrize(("how", "least", "most"), [("returned", -1, 2), ("as glibc does", 16, 21)])
def test_large_blocks_are_returned_when_they_are_freed(how: str, least: int, most: int) -> None:
    """Megabytes that stay of 20; the second case says that there is something to return."""
    ran = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, timeout=60, check=True)

    assert least <= int(ran.stdout) <= most
