"""A runtime with a real box and this interpreter; without a box, tests that run code are skipped and say so."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Buffer, Workspace
from stet_ls.engine.sandbox import mounts
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, own
from stet_ls.engine.sandbox.isolation import Level
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source


@pytest.fixture
async def runtime(probes: Path) -> AsyncIterator[Runtime]:
    sandbox = Sandbox(Level.STRONG, probes)
    best = await sandbox.best()
    if best is None or not best.report.level.reaches(Level.STRONG):
        pytest.skip("no code may run here: there is no box of level strong")
    interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], mounts.interpreter())
    yield Runtime(sandbox, own(interpreter))
    await sandbox.close()


@pytest.fixture
def make(runtime: Runtime) -> MakeCase:
    """A case of two texts; `files` are written into a workspace around it, `buffers` are unsaved."""

    def case(
        before: str,
        after: str,
        unit: str,
        *,
        action: str = "refactor",
        root: Path | None = None,
        path: str = "a.py",
        files: dict[str, str] | None = None,
        buffers: dict[str, str] | None = None,
    ) -> Case:
        place, own_runtime = None, runtime
        if root is not None:
            place = root / path
            for name, text in {**(files or {}), path: before}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            unsaved = tuple(Buffer(root / name, 1, text) for name, text in (buffers or {}).items())
            own_runtime = replace(runtime, workspace=Workspace((root,), unsaved))
        return Case(action, "python", place, Source(before), Source(after), unit, runtime=own_runtime)

    return case
