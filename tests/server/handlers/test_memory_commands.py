"""The memory through the protocol: an edit that lands and is saved is found again; one that is undone is not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.findings import editing
from support.servers.scripted import ScriptedModel
from support.servers.session import NEOVIM, command, editor, fenced, finish, health, lines, start

from stet_ls.engine.memory import job_memory

pytest.importorskip("lancedb", reason="the extra memory is not installed")

Environment = Mapping[str, str]
OLD = 'def shout(text):\n    """Make a text loud."""\n    pass\n'
NEW = 'def shout(text):\n    """Make a text loud."""\n    return text.upper()'
INSTRUCTION = "return the text in capital letters"


@pytest.fixture
def environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same, with the memory."""
    return {**environment, "STET_MEMORY_ENABLED": "true"}


async def solutions(client: Any, count: int) -> list[Any]:
    """What is remembered, once it is so many."""
    async with asyncio.timeout(60):
        while True:
            found = await command(client, "stet.memory.search", query=INSTRUCTION)
            if len(found["solutions"]) == count:
                assert found["available"] is True
                return list(found["solutions"])
            await asyncio.sleep(0.1)


async def awaiting(client: Any, count: int) -> Any:
    """The memory's numbers, once so many edits wait for their outcome: it is looked at behind the editor's back."""
    async with asyncio.timeout(60):
        while (stats := await command(client, "stet.memory.stats"))["use"]["pending"] != count:
            await asyncio.sleep(0.1)
    return stats


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


async def edited(client: Any, scripted: ScriptedModel, uri: str) -> None:
    """Has an edit land in a document that is open from here on."""
    scripted.reply(fenced(NEW))
    client.open(uri, "python", OLD)
    asked = {"uri": uri, "range": lines(0, 3), "instruction": INSTRUCTION, "preview": "never"}
    result = await finish(client, await start(client, "generate", **asked))
    assert result["applied"] is True, result["message"]


async def test_a_saved_edit_is_found_in_another_window(
    environment: Environment, scripted: ScriptedModel, folder: Path, served_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = (folder / "loud.py").as_uri()
    async with editor(environment, rootUri=folder.as_uri()) as client:
        await edited(client, scripted, uri)
        client.save(uri)
        (hit,) = await solutions(client, 1)
    assert (hit["code"], hit["from"]) == (NEW, "from `loud.py`, kept 1 time")

    monkeypatch.setattr(job_memory, "BUDGET", 60.0)
    async with editing(NEOVIM, rootUri=folder.as_uri()) as window:
        assert await solutions(window, 1)
        scripted.reply(fenced("def cry(text):\n    return text"))
        other = (folder / "other.py").as_uri()
        window.open(other, "python", "def cry(text):\n    pass\n")
        instruction = "give the text back in capitals"
        asked = {"uri": other, "range": lines(0, 2), "instruction": instruction, "preview": "never"}
        result = await finish(window, await start(window, "generate", **asked))
        assert "remembered: from `loud.py`" in result["message"]
        assert result["answer"]["metadata"]["memory_hits"] == 1
        assert "from `loud.py`" in scripted.requests[-1].prompt

        assert await command(window, "stet.memory.forget", id=hit["id"]) == {"forgotten": hit["id"]}
        assert await solutions(window, 0) == []
        assert (await health(window))["memory"]["status"] == "ready"
        assert (await command(window, "stet.memory.stats"))["solutions"] == 0


async def test_an_undone_edit_is_not_remembered(
    environment: Environment, scripted: ScriptedModel, folder: Path
) -> None:
    uri = (folder / "loud.py").as_uri()
    async with editor(environment, rootUri=folder.as_uri()) as client:
        await edited(client, scripted, uri)
        await awaiting(client, 1)
        client.change(uri, OLD)
        client.save(uri)
        stats = await awaiting(client, 0)

    assert (stats["solutions"], stats["use"]["learned"]) == (0, 0)


async def test_an_edit_undone_after_saving_is_removed_from_the_memory(
    environment: Environment, scripted: ScriptedModel, folder: Path
) -> None:
    uri = (folder / "loud.py").as_uri()
    async with editor(environment, rootUri=folder.as_uri()) as client:
        await edited(client, scripted, uri)
        client.save(uri)
        await solutions(client, 1)
        client.change(uri, OLD)

        assert await solutions(client, 0) == []
