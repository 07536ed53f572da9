"""Fixtures of tests that run code: a real box with this interpreter; without a box they are skipped and say so."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from support.judging import MakeCase

from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.execution.harness_run import HarnessRun
from stet_ls.engine.execution.javascript import version_pair as of_javascript
from stet_ls.engine.execution.python import version_pair as of_python
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges import agreement, doctest
from stet_ls.engine.judges.case import Case
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

_TRIAL_SECONDS = 12.0
"""Twice as long as usual, and less than the box gives."""


@pytest.fixture(autouse=True)
def patient_with_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared has more time on the wall: a busy machine makes fewer calls in it."""
    for module in (agreement, of_python, of_javascript, doctest):
        monkeypatch.setattr(module, "HarnessRun", partial(HarnessRun, seconds=_TRIAL_SECONDS))


@pytest.fixture
def backend() -> str:
    """The box that code runs in, "" for the best of this machine. `TEST_BACKEND=landlock` takes that one for all."""
    return os.environ.get("TEST_BACKEND", "")


@pytest.fixture
async def runtime(probes: Path, backend: str) -> AsyncIterator[Runtime]:
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)
    best = await sandbox.best()
    if best is None or not best.report.level.reaches(IsolationLevel.STRONG):
        pytest.skip("code cannot run here: there is no box of level strong")
    interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], mounts.interpreter())
    yield Runtime(sandbox, bare_environment(interpreter))
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
