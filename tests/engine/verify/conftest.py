"""A repository, the runtimes of an engine, and a call that verifies what is in the repository."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from support.processes.sandboxed import patient_with_trials
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.verify import VerifyOptions, verify

__all__ = ["patient_with_trials"]

Verify = Callable[..., Awaitable[Report]]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A small project, committed."""
    made = Repository.new(tmp_path / "project")
    made.commit({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    return made


@pytest.fixture
async def runtimes(stet_home: Path) -> AsyncIterator[RuntimeProvider]:
    """Of a home and a Python of their own: what this machine's user has decides nothing."""
    del stet_home
    provider = RuntimeProvider(Settings(), user_paths())
    yield provider
    await provider.close()


@pytest.fixture
def verified(repository: Repository, runtimes: RuntimeProvider) -> Verify:
    """Verifies what is in the repository; words are the fields of `ChangeQuery` and of `VerifyOptions`."""

    async def call(intent: str = "", **asked: object) -> Report:
        with read_change(ChangeQuery(repository.folder, **asked)) as change:  # type: ignore[arg-type]
            return await verify(change, runtimes, VerifyOptions(intent))

    return call
