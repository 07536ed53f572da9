"""Eight whole tasks of four kinds in an editor: each is one edit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from support.projects.whole_tasks import WHOLE_TASKS, WholeTask
from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, command, editor, start

from stet_ls.validators.languages import language_of

CANNOT = ("code may not run", "not reachable", "not compared", "no Python was found")


@pytest.mark.parametrize("task", WHOLE_TASKS, ids=lambda task: task.name)
async def test_a_whole_task_in_an_editor(
    environment: Mapping[str, str], scripted: ScriptedModel, tmp_path: Path, task: WholeTask
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    task.make(folder)
    task.play(scripted)
    async with editor(environment, VSCODE, rootUri=folder.as_uri()) as client:
        for name in (task.document, *task.files):
            path = folder / name
            client.open(path.as_uri(), language_of(path), path.read_text())
        uri = (folder / task.document).as_uri()
        others = [name for name in task.files if name.endswith(".py") and not name.startswith("tests/")]
        job = await start(client, "task", uri=uri, instruction=task.words, files=others)
        while (result := await command(client, "stet.result", job=job))["status"] == "running":
            await asyncio.sleep(0.2)  # a whole task may take longer than the client waits for one response
        if not result["applied"] and any(each in result["message"] for each in CANNOT):
            pytest.skip(result["message"])
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert len(client.received("workspace/applyEdit")) == 1
        created = {Path(unquote(urlsplit(each).path)) for each in client.created}
        for name, text in task.holds.items():
            path = folder / name
            if path.suffix == ".png":  # no edit of a client has bytes: the server writes them
                assert path.read_bytes().startswith(b"\x89PNG")
            elif path.as_uri() in client.documents:
                assert text in client.text(path.as_uri())
            else:
                assert path in created, name
