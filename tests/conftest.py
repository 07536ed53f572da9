"""What every test may ask for: a scripted model, a home of its own, and the environment of a child process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import compress
from pathlib import Path

import pytest
from support.servers.scripted import ScriptedModel

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.environments.interpreter_detection import Detector
from stet_ls.engine.sandbox.environments.probe_cache import ProbeCache
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.storage.private_files import private_folder

_BUILDER = Path(__file__).parents[1] / "editors" / "vscode" / "node_modules" / "esbuild" / "bin"
if shutil.which("esbuild") is None and _BUILDER.is_dir():  # what builds the extension builds the tests' TypeScript too
    os.environ["PATH"] += os.pathsep + str(_BUILDER)

SKIPPED = "stet/skipped"
"""Where pytest's cache keeps what the last run skipped."""

OURS = ("STET_", "OPENAI_")
"""Variables of the developer's shell that must not reach a test."""

PYTHON = {"VIRTUAL_ENV": sys.prefix}
"""Candidates run in this Python, which has pytest: what else this machine has is not what is tested."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped-before", action="store_true", help="run only what the last run skipped")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the tests that the last run skipped, or that stand in a file that it skipped as a whole."""
    if not config.getoption("--skipped-before"):
        return
    skipped = set(config.cache.get(SKIPPED, ())) if getattr(config, "cache", None) else set()
    chosen = [not skipped.isdisjoint((item.nodeid, item.nodeid.partition("::")[0])) for item in items]
    config.hook.pytest_deselected(items=[item for item, left in zip(items, chosen, strict=True) if not left])
    items[:] = compress(items, chosen)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Keeps what was skipped, for a run on the same machine after its missing tools were installed."""
    if getattr(config, "cache", None) and not config.getoption("lf"):  # there is none under `-p no:cacheprovider`
        config.cache.set(SKIPPED, sorted({report.nodeid for report in terminalreporter.getreports("skipped")}))


@pytest.fixture
def scripted() -> Iterator[ScriptedModel]:
    """A running OpenAI-compatible server that says what the test wrote."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture(scope="session")
def probes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sandbox's folder that knows this machine's boxes and this Python, probed once for all tests."""
    folder = tmp_path_factory.mktemp("probes") / "sandbox"
    asyncio.run(_probe(folder))
    return folder


async def _probe(folder: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, folder)
    await sandbox.candidates()
    with contextlib.suppress(StetError):  # a machine without a box
        await Detector(sandbox, ProbeCache(folder / "proofs.json", sandbox.identity)).find(folder, environ=PYTHON)
    await sandbox.close()


@pytest.fixture
def stet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probes: Path) -> Path:
    """A STET_HOME that knows this machine's boxes and this Python and nothing else, without endpoints and keys."""
    for name in tuple(os.environ):
        if name.startswith(OURS):
            monkeypatch.delenv(name)
    home = tmp_path / "stet-home"
    home.mkdir()
    for known in probes.glob("*.json"):
        shutil.copy2(known, private_folder(home / "cache" / "sandbox"))
    monkeypatch.setenv("STET_HOME", str(home))
    for name, value in PYTHON.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture
def environment(stet_home: Path, scripted: ScriptedModel) -> Mapping[str, str]:
    """The environment of a child process that finds its home and the scripted model."""
    return {
        **os.environ,
        "STET_HOME": str(stet_home),
        "STET_BASE_URL": scripted.base_url,
        "STET_MODEL": scripted.models[0],
        "STET_API_KEY": "test-key",
        "STET_MEMORY_ENABLED": "false",
        "STET_MODEL_CACHE": "false",  # a test that asks twice counts on two replies
        "STET_CHECKS_REVIEW": "off",  # a reviewer would take the next reply of a test's script
        "STET_CHECKS_EXAMPLE_CALLS": "false",  # and so would a question for example calls
    }


@pytest.fixture
def served_here(environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a server in this process: a test can then give it all the time that a busy machine takes."""
    for name in ("STET_BASE_URL", "STET_MODEL", "STET_API_KEY", "STET_MEMORY_ENABLED"):
        monkeypatch.setenv(name, environment[name])
