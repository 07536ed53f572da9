"""A client without any plugin: its menu has all eight actions, it sees evidence, answers questions, and cancels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.servers.inprocess import connected
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import NOTHING, finish, introduction, lines
from support.servers.wire import RECORDED, Json, RawClient

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.server.app import create_server

CLIENTS = [NOTHING, *RECORDED]

URI = "file:///w/a.py"
BEFORE = "def add(a, b):\n    total = a + b\n    return total\n"


@pytest.fixture(autouse=True)
def endpoint(stet_home: Path, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted model is the only one."""
    monkeypatch.setenv("STET_BASE_URL", scripted.base_url)
    monkeypatch.setenv("STET_MODEL", scripted.models[0])


async def menu(client: RawClient) -> list[Json]:
    """The actions at the function, as commands with their titles: what a client that knows only these gets."""
    context = {"diagnostics": [{"range": lines(1), "message": "odd", "severity": 2, "source": "lint"}]}
    asked = {"textDocument": {"uri": URI}, "range": lines(1), "context": context}
    rows = await client.request("textDocument/codeAction", asked)
    return [row if isinstance(row["command"], str) else {"title": row["title"], **row["command"]} for row in rows]


async def run(client: RawClient, row: Json) -> Any:
    """Runs an action as a client does: by its command."""
    command = {"command": row["command"], "arguments": row.get("arguments")}
    return await client.request("workspace/executeCommand", command)


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_client_without_a_plugin_can_do_all(name: str, scripted: ScriptedModel) -> None:
    scripted.default = Reply("CODE:\n```python\ndef add(a, b):\n    return a - b\n```\n")
    async with connected(create_server()) as client:
        await client.initialize(**{**introduction(name), "initializationOptions": None})
        client.open(URI, "python", BEFORE)
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Discard"}
        rows = {row["command"]: row for row in await menu(client)}
        assert {f"stet.{action}" for action in ACTIONS} <= set(rows)

        [argument] = rows["stet.refactor"]["arguments"]
        refactor = {"command": "stet.refactor", "arguments": [{**argument, "budget": "quick"}]}
        result = await finish(client, (await run(client, refactor))["job"])
        assert result["answer"]["success"], result
        asked = client.received("window/showMessageRequest") + client.received("workspace/applyEdit")
        assert asked or "the diff" in result["message"], "it decides, or gets the diff"
        shown = await run(client, {"command": "stet.evidence", "arguments": [{}]})
        assert "- ✗ **differential**: " in shown["markdown"]

        scripted.default = Reply("It adds.", stall_after=1)
        job = (await run(client, rows["stet.explain"]))["job"]
        [cancel] = [row for row in await menu(client) if row["title"].startswith("Cancel Stet job: explain a.py")]
        await run(client, cancel)
        assert (await finish(client, job))["status"] == "cancelled"
