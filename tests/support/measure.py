"""A plugin for pytest: which lines and branches of the product the tests reach, in this process.

Loaded by `-p support.measure`, before anything of the product is imported. SlipCover rewrites the code that it
measures, which costs seconds once and little afterwards; a tracer doubles the time of all tests.

The fork server (`servers/fork_server.py`) pays them once for all that it forks. To write down what one of them reached
takes a third of a second: so the first of each kind of call is measured (`call_of`), not all. What runs in a box,
servers that editors start, and the memory's process are not measured: what only they reach counts as missed.
"""

from __future__ import annotations

import ast
import json
import os
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slipcover import FileMatcher, ImportManager, Slipcover
from support.processes import command
from support.servers.fork_server import forked_argv, measured_argv

ROOT = Path(__file__).parents[2]
ROOMS = ("server", "engine", "validators")
DATA = ROOT / ".cache" / "coverage"
"""One file for each process that ran tests; `tests/measured.py` reads them."""

_parse, _parsing = ast.parse, threading.Lock()


def _parse_alone(*args: Any, **options: Any) -> Any:
    """`ast.parse`, one thread at a time: SlipCover parses what is imported, and `validators/ast_text.py` says why."""
    with _parsing:
        return _parse(*args, **options)


ast.parse = _parse_alone
_measured = Slipcover(branch=True, immediate=True)
ImportManager(_measured, FileMatcher(sources=[ROOT / room for room in ROOMS])).__enter__()

_seen: set[tuple[str, ...]] = set()


def call_of(words: Sequence[str]) -> list[str]:
    """The command line of a `stet`, measured if none with that command and these options was started before."""
    kind = (*words[:1], *sorted(word.partition("=")[0] for word in words if word.startswith("--")))
    if kind in _seen:
        return forked_argv(*words)
    _seen.add(kind)
    return measured_argv(*words)


def pytest_configure() -> None:
    """Has the tests of the command line start it measured."""
    command.call_of = call_of


def pytest_sessionfinish() -> None:
    """What this process reached."""
    keep()


def keep() -> None:
    """Adds a file; a later run, of other tests, adds its own."""
    found: Any = _measured.get_coverage()
    files = {os.path.relpath(name, ROOT): each for name, each in found["files"].items()}  # as seen from anywhere
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / f"{uuid.uuid4()}.json").write_text(json.dumps({**found, "files": files}), encoding="utf-8")
