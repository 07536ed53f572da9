"""Suites of a few lines, run in the real box of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from support.suites import Check

from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import TESTS


@pytest.fixture
async def box(sandbox: Sandbox) -> AsyncIterator[Sandbox]:
    """The best box, as a job would get it."""
    best = await sandbox.best()
    if best is None or best.backend is None:
        pytest.skip("no sandbox works on this machine")
    yield sandbox
    await sandbox.close()


@pytest.fixture
def check(box: Sandbox) -> Check:
    """Runs files as tests: `await check("python", {"test_a.py": "…"})`; those in `code` are no tests."""

    async def run(
        language: str, tests: dict[str, str], code: dict[str, str] | None = None, *, seconds: float = 0, **more: Any
    ) -> TestReport:
        files = {name: text.encode() for name, text in {**tests, **(code or {})}.items()}
        plan = TestPlan(language, tuple(tests), files, **more)
        return await run_tests(
            box, replace(plan, limits=replace(TESTS, seconds=seconds, wall_factor=60.0)) if seconds else plan
        )

    return run
