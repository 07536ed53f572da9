"""Reads a report: the lines that carry the nonce, if they are well formed."""

from __future__ import annotations

import hashlib
import json
import marshal
import secrets
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from typing import Any

from stet_ls.engine.sandbox.processes import procfs

FOLDER = ".stet-run"
"""The folder of a run's own files in the working folder. Test runners skip folders that begin with a dot."""

_INSIDE = Path(__file__).parent / "inside"

Event = Mapping[str, Any]


def new_nonce() -> str:
    """A word that no test prints by accident."""
    return secrets.token_hex(16)


def token(nonce: str) -> str:
    """A word derived from the nonce, for reporters that share a process with tests: these must not know the nonce."""
    return hashlib.sha256(f"side {nonce}".encode()).hexdigest()[:32]


def placed(program: str, nonce: str) -> dict[str, bytes]:
    """The files that run `inside/<program>.py` in the sandbox, by `python .stet-run`."""
    own = {path.name: path for path in _INSIDE.glob("*.py")} | {"processes.py": Path(procfs.__file__)}
    sources = {f"{FOLDER}/stet_inside/{name}": path.read_bytes() for name, path in own.items()}
    files = sources | {cache_from_source(name): _compiled(name, text) for name, text in sources.items()}
    # The main module has no name by which a test could find the reporter.
    start = f"__import__('stet_inside.{program}', fromlist=['main']).main()\n"
    return {**files, f"{FOLDER}/__main__.py": start.encode(), f"{FOLDER}/nonce": nonce.encode()}


@lru_cache(maxsize=64)
def _compiled(name: str, source: bytes) -> bytes:
    """A module as a file of `__pycache__` (PEP 552, not checked): to compile it again would cost each run a part of its
    time. A Python of another version neither looks for a file of that name nor accepts its first bytes.
    """
    code = marshal.dumps(compile(source, name, "exec", dont_inherit=True))
    return b"".join((MAGIC_NUMBER, (1).to_bytes(4, "little"), source_hash(source), code))


def inside(name: str) -> bytes:
    """A file of `inside/reporters/`."""
    return (_INSIDE / "reporters" / name).read_bytes()


def events(report: bytes, nonce: str) -> Iterator[Event]:
    """The events of a report in their order. Lines that do not begin with the nonce are not the reporter's."""
    start = nonce.encode() + b" "
    for line in report.split(b"\n"):
        if not line.startswith(start):
            continue
        try:
            event = json.loads(line[len(start) :])
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event
