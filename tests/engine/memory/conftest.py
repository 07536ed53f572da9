"""A store in a folder of its own, with the real embedder and the real table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.corpora.remembered import Open
from support.engine import Bench
from support.servers.scripted import ScriptedModel

pytest.importorskip("lancedb", reason="the extra memory is not installed")

from stet_ls.engine.memory import job_memory
from stet_ls.engine.memory.store.embedders import Embedder, OnnxMiniLM
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.synced_index import SyncedIndex


@pytest.fixture
def long_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait for their hits for as long as a busy machine takes."""
    monkeypatch.setattr(job_memory, "BUDGET", 60.0)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return OnnxMiniLM()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def open_store(root: Path, embedder: Embedder) -> Open:
    async def open_store(*, with_embedder: bool = True, most: int = 10_000) -> SolutionStore:
        return SolutionStore(await SyncedIndex.open(root, embedder if with_embedder else None), most)

    return open_store


@pytest.fixture
async def store(open_store: Open) -> SolutionStore:
    return await open_store()


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path, long_time_limits: None) -> AsyncIterator[Bench]:
    async with Bench(scripted) as bench:
        yield bench


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return tmp_path / "project"
