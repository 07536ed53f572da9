"""The demo's client: a server that ends, or says nothing, or is given up at any moment."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from stet_ls.server.cli.demo.language_client import LanguageClient, ServerGoneError

SILENT = "import os, sys; open(str(os.getpid()), 'w').close(); sys.stdin.read(); import time; time.sleep(600)"
"""Leaves its number in the folder, and does not end by itself."""


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("step", range(0, 40, 2))
async def test_cancelling_while_a_server_starts_leaves_no_process(step: int, tmp_path: Path) -> None:
    starting = asyncio.create_task(LanguageClient.start([sys.executable, "-c", SILENT], tmp_path))
    for _ in range(step):
        await asyncio.sleep(0)
    starting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(starting), 60)

    assert _standing_in(tmp_path) == []


async def test_cancelling_while_a_server_is_silent_leaves_no_process(tmp_path: Path) -> None:
    starting = asyncio.create_task(LanguageClient.start([sys.executable, "-c", SILENT], tmp_path))
    while not list(tmp_path.iterdir()):
        await asyncio.sleep(0.01)
    starting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(starting), 60)

    (number,) = tmp_path.iterdir()
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.name), 0)


@pytest.mark.parametrize(
    "script",
    ["", "print('hello')", "print('Hello: there\\r\\n\\r')", "print('Content-Length: 2\\r\\n\\r\\n{')", "1 / 0"],
    ids=["ends", "writes no message", "writes no length", "breaks off", "fails"],
)
async def test_a_program_that_is_not_a_server_is_one_error(script: str, tmp_path: Path) -> None:
    with pytest.raises((ServerGoneError, BrokenPipeError, ConnectionResetError)):
        async with asyncio.timeout(60):
            await LanguageClient.start([sys.executable, "-c", script], tmp_path)
    assert _standing_in(tmp_path) == []


def _standing_in(folder: Path) -> list[str]:
    """The processes whose current folder that is; none where the system lists none."""
    standing = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                standing.append(process.name)
        except OSError:
            continue
    return standing
