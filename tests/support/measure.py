"""A plugin for pytest: which lines and branches of the product the tests reach, in this process.

Loaded by `-p support.measure`, before anything of the product is imported. SlipCover rewrites the code that it
measures, which costs seconds once and little afterwards; a tracer doubles the time of all tests. Processes that tests
start, and what runs in a box, are not measured: what only they reach counts as missed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from slipcover import FileMatcher, ImportManager, Slipcover

ROOT = Path(__file__).parents[2]
ROOMS = ("server", "engine", "validators")
DATA = ROOT / ".cache" / "coverage"
"""One file for each process that ran tests; `tests/measured.py` reads them."""

_measured = Slipcover(branch=True)
ImportManager(_measured, FileMatcher(sources=[ROOT / room for room in ROOMS])).__enter__()


def pytest_sessionfinish() -> None:
    """Adds a file; a later run, of other tests, adds its own."""
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / f"{os.getpid()}.json").write_text(json.dumps(_measured.get_coverage()), encoding="utf-8")
