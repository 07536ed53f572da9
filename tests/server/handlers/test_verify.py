"""`stet.verify`: the verdict of the command line, shown where the code is, and never while the user types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.findings import editing, pull
from support.repository import Repository
from support.servers.session import VSCODE, boxes, command
from support.servers.wire import ErrorAnswer, Json, RawClient
from support.verifying import SHOP, TESTS

WRONG = SHOP.replace("cost += 1", "cost += 2")
SOURCE = "stet verify"

pytestmark = pytest.mark.usefixtures("served_here")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "project")
    made.commit({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    return made


def opened(client: RawClient, repository: Repository, name: str = "shop.py") -> str:
    path = repository.folder / name
    client.open(path.as_uri(), "python", path.read_text())
    return path.as_uri()


def folders(repository: Repository) -> Json:
    uri = repository.folder.as_uri()
    return {"rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "project"}]}


async def found(client: RawClient, uri: str) -> list[Json]:
    """What verify reports in a document."""
    return [each for each in (await pull(client, uri))["items"] if each["source"] == SOURCE]


async def lenses(client: RawClient, uri: str) -> list[Json]:
    listed: list[Json] = await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return listed


async def test_an_unsaved_edit_is_judged_where_it_is(repository: Repository) -> None:
    async with editing(VSCODE) as client:
        uri = opened(client, repository)
        client.change(uri, WRONG)
        report = await command(client, "stet.verify", uri=uri, intent="refactor")

        assert (report["schema"], report["verdict"]) == ("stet.verify/1", "refuted")
        assert boxes(client) == [f"shop.py: {report['summary']}"]
        behavior, test = sorted(await found(client, uri), key=lambda each: each["code"])
        assert behavior["range"]["start"] == {"line": 3, "character": 8}, "the changed line, from its first character"
        assert behavior["message"].startswith("shipping: `shipping(")
        assert test["message"].startswith("tests/test_shop.py test_shipping: passed and fails now: ")
        [lens] = await lenses(client, uri)
        assert "data" not in lens, "clients offer to keep or to undo Stet's own edits only"
        assert lens["range"]["start"]["line"] == 0
        assert lens["command"]["title"].startswith("stet: behavior changed: ")
        assert lens["command"]["title"].endswith(" inputs")

        shown = await command(client, "stet.evidence", **lens["command"]["arguments"][0])
        example = shown["attachments"][0]
        ran = subprocess.run(
            [sys.executable, example["uri"].removeprefix("file://")], capture_output=True, text=True, check=False
        )
        assert "1 of 1 calls differ" in ran.stdout, ran
        assert example["uri"] in [params["uri"] for params in client.received("window/showDocument")]

        client.change(uri, "# a comment\n" + WRONG)
        assert [each["range"]["start"]["line"] for each in await found(client, uri)] == [4, 4], "they move"
        assert len(await lenses(client, uri)) == 1
        client.change(uri, SHOP)
        assert await found(client, uri) == await lenses(client, uri) == []


async def test_the_workspace_and_what_is_staged(repository: Repository) -> None:
    """A file that is opened later shows what was found in it; one with other text does not."""
    repository.write({"shop.py": WRONG, "extra.py": "def extra():\n    return missing\n"})
    repository("add", "extra.py")
    async with editing(VSCODE, **folders(repository)) as client:
        staged = await command(client, "stet.verify", scope="staged")
        assert [each["path"] for each in staged["units"]] == ["extra.py"]
        report = await command(client, "stet.verify", scope="workspace")
        assert {each["path"] for each in report["units"]} == {"extra.py", "shop.py"}
        extra = opened(client, repository, "extra.py")
        [undefined] = await found(client, extra)
        assert (undefined["code"], undefined["severity"]) == ("names", 1)
        path = repository.folder / "shop.py"
        client.open(path.as_uri(), "python", SHOP)
        assert await found(client, path.as_uri()) == []
        client.notify("textDocument/didClose", {"textDocument": {"uri": extra}})
        repository.commit()
        await command(client, "stet.verify", scope="workspace")
        assert await found(client, opened(client, repository, "extra.py")) == [], "the change is history"
        repository("reset", "--quiet", "HEAD~1")
        await command(client, "stet.verify", scope="workspace")
        assert len(await lenses(client, extra)) == 1
        await command(client, "stet.clear")
        assert await found(client, extra) == await lenses(client, extra) == []
        with pytest.raises(ErrorAnswer, match="scope"):
            await command(client, "stet.verify", scope="everything")


@pytest.mark.parametrize("on", [True, False])
async def test_a_saved_file_is_judged_only_if_a_setting_says_so(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    monkeypatch.setenv("STET_EDITOR_VERIFY_ON_SAVE", str(on).lower())
    broken = "def total(prices):\n    return sum(price)\n"
    async with editing(VSCODE) as client:
        uri = opened(client, repository)
        await pull(client, uri)
        client.change(uri, broken)
        repository.write({"shop.py": broken})
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        if on:
            await client.wait_notification("workspace/codeLens/refresh")
            assert "names" in {each["code"] for each in await found(client, uri)}
        else:
            await command(client, "stet.capabilities")
            assert await lenses(client, uri) == await found(client, uri) == []
        assert boxes(client) == []


@pytest.mark.parametrize("by", ["the request", "its progress"])
async def test_a_run_can_be_cancelled(repository: Repository, by: str) -> None:
    repository.commit({"tests/test_shop.py": TESTS + "\n\ndef test_long():\n    import time\n    time.sleep(50)\n"})
    repository.write({"shop.py": WRONG})
    async with editing(VSCODE) as client:
        uri = opened(client, repository)
        call = client.call("workspace/executeCommand", {"command": "stet.verify", "arguments": [{"uri": uri}]})
        said = await client.wait_for(lambda message: "running tests" in str(message.get("params", {}).get("value")))
        if by == "the request":
            client.cancel(call)
        else:
            client.notify("window/workDoneProgress/cancel", {"token": said["params"]["token"]})
        with pytest.raises(ErrorAnswer) as raised:
            await call
        assert raised.value.code == -32800
        end = await client.wait_for(lambda m: (m.get("params") or {}).get("value", {}).get("kind") == "end")
        assert end["params"]["value"]["message"] == "cancelled"
        assert await found(client, uri) == []


@pytest.mark.parametrize(
    ("only", "offered"), [(["source"], True), (["source.stet.verify"], True), (["source.fixAll"], False), (None, False)]
)
async def test_the_source_action_comes_only_where_it_is_asked_for(
    repository: Repository, only: list[str] | None, offered: bool
) -> None:
    async with editing(VSCODE) as client:
        assert client.initialize_result is not None
        kinds = client.initialize_result["capabilities"]["codeActionProvider"]["codeActionKinds"]
        assert "source.stet.verify" in kinds
        uri = opened(client, repository)
        start = {"line": 0, "character": 0}
        context = {"diagnostics": [], "triggerKind": 2 if only else 1, **({"only": only} if only else {})}
        asked = {"textDocument": {"uri": uri}, "range": {"start": start, "end": start}, "context": context}
        actions = await client.request("textDocument/codeAction", asked)
        commands = [each["command"] for each in actions if each.get("kind") == "source.stet.verify"]
        assert [each["command"] for each in commands] == (["stet.verify"] if offered else [])
        assert [each["arguments"] for each in commands] == ([[{"uri": uri, "quiet": True}]] if offered else [])
