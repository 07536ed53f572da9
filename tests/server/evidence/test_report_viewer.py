"""Where explanations appear: as virtual documents, as files, or as a short message; never as code to act on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import NEOVIM, NOTHING, VSCODE, boxes, command, editor, finish, lines, start
from support.servers.wire import ErrorAnswer, Json, RawClient

URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    return a + b\n"
PROSE = "# add\n\nIt returns the sum of its two arguments.\n\nNothing else happens.\n"

Environment = Mapping[str, str]


@pytest.fixture(autouse=True)
def model(scripted: ScriptedModel) -> None:
    """A model that explains."""
    scripted.default = PROSE


async def explained(client: RawClient) -> Json:
    client.open(URI, "python", TEXT)
    return await finish(client, await start(client, "explain", uri=URI, range=lines(1)))


async def test_a_virtual_document_is_fetched_from_the_server(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        assert client.initialize_result is not None
        assert client.initialize_result["capabilities"]["workspace"]["textDocumentContent"] == {"schemes": ["stet"]}
        result = await explained(client)

        [shown] = client.received("window/showDocument")
        assert shown["uri"].startswith("stet:")
        content = await client.request("workspace/textDocumentContent", {"uri": shown["uri"]})
        assert content["text"] == result["markdown"]
        with pytest.raises(ErrorAnswer) as raised:
            await client.request("workspace/textDocumentContent", {"uri": "stet:/nothing.md"})
        assert raised.value.code == -32602


async def test_a_report_is_a_private_file_where_only_files_can_be_shown(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        result = await explained(client)

        [shown] = client.received("window/showDocument")
        file = Path(shown["uri"].removeprefix("file://"))
        assert file.read_text() == result["markdown"]
        assert file.parent.stat().st_mode & 0o077 == 0


async def test_reports_of_stet_get_no_actions_and_are_never_the_target(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        await explained(client)
        [shown] = client.received("window/showDocument")
        client.open(shown["uri"], "markdown", PROSE)
        request = {"textDocument": {"uri": shown["uri"]}, "range": lines(0), "context": {"diagnostics": []}}

        assert await client.request("textDocument/codeAction", request) == []
        again = await command(client, "stet.explain")
        rows = (await command(client, "stet.jobs"))["jobs"]
        assert [row["uri"] for row in rows if row["job"] == again["job"]] == [URI]
        await finish(client, again["job"])


async def test_a_client_without_documents_gets_a_short_message_and_the_report_in_the_log(
    environment: Environment,
) -> None:
    async with editor(environment, NOTHING) as client:
        result = await explained(client)

        assert boxes(client) == ["It returns the sum of its two arguments."]
        assert any(params["message"] == result["markdown"] for params in client.received("window/logMessage"))


async def test_a_client_that_fails_to_show_a_report_gets_a_message(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        client.answers["window/showDocument"] = lambda params: {"success": False}
        await explained(client)

        assert boxes(client) == ["It returns the sum of its two arguments."]


async def test_a_plugin_that_shows_reports_itself_gets_no_second_view(
    environment: Environment, scripted: ScriptedModel
) -> None:
    options = {"plugin": {"name": "any", "reports": True}}
    release = threading.Event()
    scripted.default = Reply(PROSE, hold=release)
    async with editor(environment, NEOVIM, initializationOptions=options) as client:
        client.open(URI, "python", TEXT)
        job = await start(client, "explain", uri=URI, range=lines(1))
        waiting = asyncio.create_task(finish(client, job))
        await asyncio.sleep(0)  # it has asked
        await command(client, "stet.jobs")  # and the server has heard
        release.set()
        result = await waiting

        assert "sum of its two arguments" in result["markdown"]
        assert client.received("window/showDocument") == []
        assert boxes(client) == []


async def test_a_job_that_the_plugin_does_not_follow_is_shown_by_the_server(environment: Environment) -> None:
    """Neovim's own menu of code actions starts jobs that the plugin hears nothing of."""
    options = {"plugin": {"name": "any", "reports": True}}
    async with editor(environment, NEOVIM, initializationOptions=options) as client:
        client.open(URI, "python", TEXT)
        await start(client, "explain", uri=URI, range=lines(1))

        assert await client.wait_for(lambda message: message.get("method") == "window/showDocument")


async def test_the_log_file_contains_no_code_and_no_prompt(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        await explained(client)
    log = Path(environment["STET_HOME"], "log", "stet.log").read_text()

    assert "explain" in log
    assert "return a + b" not in log
    assert "sum of its two" not in log
