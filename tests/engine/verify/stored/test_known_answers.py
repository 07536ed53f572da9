"""A request that was answered before is answered again, unless anything that the answer depends on is different."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.processes.tools import needs
from support.repository import Repository
from support.verifying import SHOP

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.sandbox import machine_state
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import change_between
from stet_ls.engine.verify.changes.read_trees import ChangeQuery, read_trees
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.engine.verify.report import Report
from stet_ls.engine.verify.stored import records
from stet_ls.engine.verify.stored.known_answers import VerifyRequest, known_answer, request_for
from stet_ls.engine.verify.verify import verify

_CHANGED = SHOP.replace("cost += 1", "cost += 2")


def _request(repository: Repository, intent: str = "", **asked: object) -> VerifyRequest:
    with read_trees(ChangeQuery(repository.folder, **asked)) as trees:  # type: ignore[arg-type]
        return request_for(trees, repository.folder, user_paths(), intent)


async def _answered(repository: Repository, runtimes: RuntimeProvider) -> Report:
    request = _request(repository)
    return await verify(change_between(request.trees), runtimes, VerifyOptions(request=request))


@pytest.fixture
def project(repository: Repository, monkeypatch: pytest.MonkeyPatch, stet_home: Path) -> Repository:
    del stet_home  # whose settings are not the user's
    monkeypatch.chdir(repository.folder)
    (repository.folder / ".git" / "info" / "exclude").write_text(".venv\n")
    repository.write({"shop.py": _CHANGED})
    return repository


async def test_the_same_request_gets_the_same_report(project: Repository, runtimes: RuntimeProvider) -> None:
    assert known_answer(_request(project)) is None, "nobody asked before"
    report = await _answered(project, runtimes)
    known = known_answer(_request(project))
    assert known is not None
    assert replace(known, seconds=0) == replace(report, seconds=0)
    assert known.findings == report.findings
    assert known.findings[0].attachments or known.findings[-1].attachments, "with what a client opens"


def _new_environment(project: Repository) -> None:
    """An environment that git ignores, and that code would run with."""
    bin_folder = project.folder / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(sys.executable)
    (bin_folder.parent / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")


def _other_settings(_: Repository) -> None:
    user_paths().config_file.write_text("[checks]\nformat_edits = false\n")


_DIFFERENCES: dict[str, Callable[[Repository], None]] = {
    "the changed file": lambda each: each.write({"shop.py": f"{_CHANGED}# more\n"}),
    "a file that is new": lambda each: each.write({"conftest.py": ""}),
    "tests": lambda each: each.write({"tests/test_shop.py": ""}),
    "the base": lambda each: each("commit", "--quiet", "--all", "--message=more") and None,
    "settings of the user": _other_settings,
    "settings of the project": lambda each: each.write({".stet.toml": ""}),
    "the environment": _new_environment,
}


@pytest.mark.parametrize("differs", _DIFFERENCES)
async def test_another_state_gets_no_earlier_answer(
    project: Repository, runtimes: RuntimeProvider, differs: str
) -> None:
    project.write({"shop.py": f"# A note.\n{SHOP}"})
    await _answered(project, runtimes)
    assert known_answer(_request(project)) is not None
    _DIFFERENCES[differs](project)
    assert known_answer(_request(project)) is None


_PRICE = 'import {{ rate }} from "dep";\nexport function price(n) {{\n  return {};\n}}\n'
_TEST = """import test from "node:test";
import assert from "node:assert";
import { price } from "../price.js";
test("price", () => assert.equal(price(3), 6));
"""


def _install(project: Repository, folder: str, rate: int = 5) -> None:
    """A package in `node_modules`, which git ignores, as an installer writes it."""
    version = {"package.json": f'{{"name": "dep", "version": "{rate}.0.0", "type": "module", "main": "index.js"}}',
               "index.js": f"export const rate = {rate};\n"}  # fmt: skip
    project.write({f"{folder}node_modules/dep/{name}": text for name, text in version.items()})


def _edit_in_place(project: Repository, folder: str) -> None:
    """Another text of the same size in the same file, with the times that it had."""
    file = project.folder / folder / "node_modules" / "dep" / "index.js"
    status = file.stat()
    with file.open("r+") as opened:
        opened.write("export const rate = 5;\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


@needs("node")
@pytest.mark.parametrize("folder", ["", "packages/shop/"])
@pytest.mark.parametrize("change", [_install, _edit_in_place])
async def test_tests_run_again_with_another_package(
    project: Repository, runtimes: RuntimeProvider, folder: str, change: Callable[..., None]
) -> None:
    (project.folder / ".git" / "info" / "exclude").write_text("node_modules\n")
    _install(project, folder, 2)
    files = {"package.json": '{"type": "module"}', "price.js": _PRICE.format("n * rate"), "test/price.test.js": _TEST}
    project.commit({f"{folder}{name}": text for name, text in files.items()})
    project.write({f"{folder}price.js": _PRICE.format("rate * n")})
    assert not (await _answered(project, runtimes)).notes
    assert known_answer(_request(project)) is not None
    change(project, folder)
    assert known_answer(_request(project)) is None
    assert "fails on both sides" in " ".join((await _answered(project, runtimes)).notes)


async def test_another_question_machine_or_version_gets_no_earlier_answer(
    project: Repository, runtimes: RuntimeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"shop.py": f"# A note.\n{SHOP}"})
    await _answered(project, runtimes)
    assert known_answer(_request(project, "refactor")) is None
    assert known_answer(_request(project, paths=(Path("tests"),))) is None
    with monkeypatch.context() as other:
        other.setenv("STET_SANDBOX_PYTHON", "/usr/bin/python3")
        assert known_answer(_request(project)) is None
    with monkeypatch.context() as other:
        other.setattr(machine_state, "MOST", tmp_path / "max_user_namespaces")
        (tmp_path / "max_user_namespaces").write_text("7\n")
        assert known_answer(_request(project)) is None
    with monkeypatch.context() as other:
        other.setattr(records, "__version__", "another")
        records._own_version.cache_clear()
        assert known_answer(_request(project)) is None
    records._own_version.cache_clear()
    assert known_answer(_request(project)) is not None


async def test_settings_that_change_while_they_are_read_keep_nothing(
    project: Repository, runtimes: RuntimeProvider
) -> None:
    project.write({"shop.py": f"# A note.\n{SHOP}"})
    request = _request(project)
    _other_settings(project)
    await verify(change_between(request.trees), runtimes, VerifyOptions(request=request))
    assert known_answer(request) is None
    assert known_answer(_request(project)) is None


async def test_a_container_engine_is_asked_each_time(project: Repository) -> None:
    """What an engine would run is not in the files that a request looks at."""
    named = Settings.model_validate({"sandbox": {"backend": "podman:docker.io/library/python:3"}})
    provider = RuntimeProvider(named, user_paths())
    assert provider.needs(["python"]) is None
    await provider.close()
