"""`stet.showPrompt` tells what the model then really receives; the index hears of files that the client saw change."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, command, editor, fenced, finish, lines, start
from support.servers.wire import Json, RawClient

SECRET = "ghp_" + "a1B2c3D4e5" * 3
USE = "from helpers import tidy\n\n\ndef use(x):\n    total = tidy(x)\n    return total\n"
NEW = "def use(x):\n    return tidy(x)\n"


def project(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    (root / "helpers.py").write_text(f"def tidy(x):\n    return call(x, token={SECRET!r})\n")
    (root / "AGENTS.md").write_text("# Code style\n\nShort names.\n")
    (root / "use.py").write_text(USE)
    return root


def plain(messages: list[Json]) -> list[Json]:
    """Messages without the id of their data fence, which is drawn for each prompt again."""
    (drawn,) = {ident for one in messages for ident in re.findall(r"</data-(\w{8})>", one["content"])}
    return [{"role": one["role"], "content": one["content"].replace(drawn, "ID")} for one in messages]


async def shown_when(client: RawClient, words: str, **argument: object) -> Json:
    """The prompt once some words are in it: the index is read in the background."""
    async with asyncio.timeout(60):
        while True:
            shown = await command(client, "stet.showPrompt", **argument)
            if words in str(shown["messages"]) and "index not ready" not in shown["left_out"]:
                return shown
            await asyncio.sleep(0.2)


async def test_the_shown_prompt_is_the_prompt_that_is_sent(
    scripted: ScriptedModel, environment: Mapping[str, str], tmp_path: Path
) -> None:
    root = project(tmp_path / "project")
    uri = (root / "use.py").as_uri()
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE, rootUri=root.as_uri(), workspaceFolders=None) as client:
        client.open(uri, "python", USE)
        argument = {"uri": uri, "range": lines(4), "instruction": "shorter"}
        shown = await shown_when(client, "def tidy(x)", action="refactor", **argument)
        assert scripted.requests == []
        await finish(client, await start(client, "refactor", **argument))
    sent = scripted.requests[0].body["messages"]
    assert plain(shown["messages"]) == plain(sent)
    assert SECRET not in str(sent)
    assert [each["kind"] for each in shown["redactions"]] == ["access token"]
    assert shown["tokens"] == sum(part["tokens"] for part in shown["parts"])
    assert {"the project's notes", "the body of tidy of helpers.py"} <= {part["name"] for part in shown["parts"]}
    assert shown["left_out"] == []


async def test_files_changed_on_disk_are_noticed(environment: Mapping[str, str], tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    uri = (root / "use.py").as_uri()
    async with editor(environment, VSCODE, rootUri=root.as_uri(), workspaceFolders=None) as client:
        client.open(uri, "python", "from other import tidy\n" + USE.partition("\n")[2])
        asked = {"action": "refactor", "uri": uri, "range": lines(4)}
        async with asyncio.timeout(60):
            while "index not ready" in (await command(client, "stet.showPrompt", **asked))["left_out"]:
                await asyncio.sleep(0.2)
        made = root / "other.py"
        made.write_text("def tidy(x):\n    return 'from the new file'\n")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": made.as_uri(), "type": 1}]})
        await shown_when(client, "from the new file", **asked)
        made.write_text("def tidy(x):\n    return 'saved'\n")
        client.notify("textDocument/didSave", {"textDocument": {"uri": made.as_uri()}})
        await shown_when(client, "'saved'", **asked)


async def test_source_files_are_watched_where_the_client_can(environment: Mapping[str, str]) -> None:
    async with editor(environment, VSCODE) as client:
        registered = await client.wait_for(lambda message: message.get("method") == "client/registerCapability")
        globs = [
            each["globPattern"]
            for registration in registered["params"]["registrations"]
            if registration["method"] == "workspace/didChangeWatchedFiles"
            for each in registration["registerOptions"]["watchers"]
        ]
        assert globs[0] == "**/.stet.toml"
        assert globs[2] == "**/{.gitignore,.stetignore}"
        assert {"py", "ts", "tsx", "js", "go", "rs", "java", "cpp", "cs"} <= set(globs[1][6:-1].split(","))
