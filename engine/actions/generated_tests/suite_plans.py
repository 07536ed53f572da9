"""Plans runs of new tests: in the workspace with the test file added, or in a folder of the two files alone."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.sandbox.spec import TESTS, Overlay

_LONGEST = 10.0
"""The most seconds for one run of new tests: they are few and small."""


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """A way to run a test file. `target` and `tests` are relative to the working folder."""

    plan: TestPlan
    target: str
    tests: str

    def running(self, text: str, *ids: str, seconds: float = _LONGEST) -> TestPlan:
        """The plan for a text of the test file: these tests of it, by their ids after the file name, or all."""
        files = {**self.plan.files, self.tests: text.encode("utf-8", "surrogatepass")}
        select = tuple(f"{self.tests}::{each}" for each in ids)
        return replace(self.plan, files=files, select=select, limits=replace(TESTS, seconds=max(1.0, seconds)))


def suite_plan(runtime: Runtime, language: str, path: Path, text: str, tests: Path) -> SuitePlan:
    """The plan to run the tests at the path `tests` of the file `path`; `text` is the user's text of that file."""
    root = runtime.root_of(path)
    own = root is not None and tests.is_relative_to(root)
    base = root if own and root is not None else Path(os.path.commonpath([path.parent, tests.parent]))
    target, file = (each.relative_to(base).as_posix() for each in (path, tests))
    buffers = runtime.unsaved(base, tests)
    files = {target: text.encode("utf-8", "surrogatepass")}
    plan = TestPlan(
        language,
        tests=(file,),
        files=files if own else {**buffers, **files},
        overlay=Overlay(base, buffers) if own else None,
        suite=SuiteOwner.PROJECT if own else SuiteOwner.GENERATED,
        environment=runtime.environment(language),
        until=runtime.until,
    )
    return SuitePlan(plan, target, file)
