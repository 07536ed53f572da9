"""New files of tests: created, asked about, or shown where the client can create none."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.edits import BEFORE, TARGET, Environment
from support.servers.scripted import ScriptedModel
from support.servers.session import EGLOT, NEOVIM, VSCODE, editor, fenced, finish, start

pytestmark = pytest.mark.usefixtures("model")


TESTS = "from a import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


async def test_a_new_test_file_is_created_with_its_text(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, VSCODE, rootUri=tmp_path.as_uri()) as client:
        client.open(path.as_uri(), "python", BEFORE)
        result = await finish(client, await start(client, "test", uri=path.as_uri(), range=TARGET))

        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        [created] = client.created
        assert "def test_add" in client.text(created)
        assert result["answer"]["new_files"][0]["path"] == created.removeprefix("file://")


async def test_a_new_test_file_that_was_not_run_is_asked_about(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, NEOVIM, rootUri=tmp_path.as_uri()) as client:
        client.open(path.as_uri(), "python", BEFORE)
        job = await start(client, "test", uri=path.as_uri(), range=TARGET, budget="quick")
        result = await finish(client, job)

        [asked] = client.received("window/showMessageRequest")
        assert asked["message"].endswith("Apply it? Tests not run: the budget `quick` runs none.")
        assert (result["status"], result["applied"]) == ("refused", False)
        assert not client.created


async def test_a_client_that_cannot_create_files_is_shown_the_tests(
    scripted: ScriptedModel, environment: Environment, tmp_path: Path
) -> None:
    scripted.default = fenced(TESTS)
    path = tmp_path / "a.py"
    path.write_text(BEFORE)
    async with editor(environment, EGLOT) as client:
        client.open(path.as_uri(), "python", BEFORE)
        result = await finish(client, await start(client, "test", uri=path.as_uri(), range=TARGET))

        assert (result["status"], result["applied"]) == ("done", False), result["message"]
        assert "does not create files" in result["message"]
        assert any("+def test_add" in params["message"] for params in client.received("window/logMessage"))
