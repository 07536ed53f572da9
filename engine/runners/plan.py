"""A test plan: the tests to run, and with what."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, Overlay
from stet_ls.validators.project_files import read_regular

_LARGEST = 4_000_000
"""Bytes of the largest file that is read before a run."""


class SuiteOwner(StrEnum):
    """The owner of tests. A project's configuration and plugins apply to its own tests, not to generated ones."""

    GENERATED = "generated"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class TestPlan:
    """One run of tests.

    `tests` are the test files, relative to the working folder; empty means all of the project's. `files` are placed
    into the working folder, over the workspace if there is an `overlay`. `expected` are ids that must be in the report;
    for generated tests, those that can be read from the files are added. `select` are the ids to run if not all are
    requested. `framework` chooses among the runners of a language ("unittest", "cargo", "junit"); "" takes the first
    that fits. `environment` is Python's; without one, Stet's own interpreter is used. `binds` are further folders to
    show. `traced` are Python files, relative to the working folder, whose executed lines are reported for each test.
    `captured` are those whose calls are reported with their arguments. `until` is the deadline of the run (of
    `time.monotonic`). `reported_root` is filled in from the report.
    """

    __test__: ClassVar[bool] = False

    language: str
    tests: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    overlay: Overlay | None = None
    suite: SuiteOwner = SuiteOwner.GENERATED
    framework: str = ""
    expected: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    environment: Environment | None = None
    binds: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    coverage: bool = False
    traced: tuple[str, ...] = ()
    captured: tuple[str, ...] = ()
    limits: Limits | None = None
    until: float = float("inf")
    reported_root: str = ""

    @property
    def root(self) -> str:
        """The working folder as the run saw it: some sandboxes cannot show a folder at its own path."""
        return self.reported_root or (str(self.overlay.root) if self.overlay else mounts.BOX)

    def text(self, path: str) -> str | None:
        """The text of a file in the run: from the plan, an unsaved buffer, or the workspace; None if unreadable."""
        content = self.files.get(path)
        if content is None and self.overlay:
            content = self.overlay.buffers.get(path)
            if content is None:
                try:
                    content = read_regular(self.overlay.root / path, most=_LARGEST)
                except OSError:
                    return None
        return content.decode("utf-8", "replace") if content is not None else None

    def python(self) -> Path:
        """The interpreter that runs the tests."""
        return self.environment.path if self.environment else Path(sys.executable)

    def python_binds(self) -> tuple[Path, ...]:
        """What that interpreter needs to start."""
        return self.environment.binds if self.environment else mounts.interpreter()
