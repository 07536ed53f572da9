"""Whether an answered document is right: its hidden tests, run in Stet's own sandbox."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import TESTS, RunSpec, RunStatus


async def passes(sandbox: Sandbox, document: str, hidden: str) -> bool:
    """True if the tests ran to their end. A program that leaves early never prints the word that only we know."""
    word = secrets.token_hex(16)
    program = f"{document}\n\n{hidden}\n\nprint({word!r})\n"
    python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    spec = RunSpec(
        (str(python), "-I", "-B", "case.py"),
        files={"case.py": program.encode()},
        binds=() if sys.base_prefix == "/usr" else (Path(sys.base_prefix),),
        limits=TESTS,
    )
    result = await sandbox.run(spec)
    return result.status is RunStatus.OK and result.stdout.decode("utf-8", "replace").rstrip().endswith(word)
