"""Threads that look for ruff at the same time all find it."""

from __future__ import annotations

import sysconfig
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from stet_ls.validators.checkers.tools import ruff

THREADS, ROUNDS = 4, 100


def test_threads_that_start_at_once_find_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 shows a second thread the table of `sysconfig` half filled; a hook then said nothing."""
    barrier = Barrier(THREADS)

    def find() -> str | None:
        barrier.wait()
        return ruff._program()

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(ROUNDS):
            monkeypatch.setattr(sysconfig, "_CONFIG_VARS", None)
            monkeypatch.setattr(sysconfig, "_CONFIG_VARS_INITIALIZED", False, raising=False)
            found = {future.result() for future in [pool.submit(find) for _ in range(THREADS)]}
            assert len(found) == 1
