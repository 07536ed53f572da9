"""What analyze found, as diagnostics: how it comes to each kind of editor, moves with its lines and goes again."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.findings import PUBLISH, REFRESH, URI, editing, empty, messages, pull, pushed, saying
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import EGLOT, NEOVIM, VSCODE, command, finish, start
from support.servers.wire import Json, RawClient

UNUSED = "import os\nimport re\n\n\ndef area(w, h):\n    return re.sub('x', w, h)\n"
UNUSED_TWICE = UNUSED.replace("    return", "    import sys\n    return")


pytestmark = pytest.mark.usefixtures("served_here")


async def analyze(client: RawClient, **argument: Any) -> Json:
    """Runs the action without asking a model."""
    job = await start(client, "analyze", uri=URI, **{"budget": "quick", **argument})
    result = await finish(client, job)
    assert result["status"] == "done", result
    return result


def line_of(params: Json, part: str) -> int:
    found = next(each for each in params.get("diagnostics", params.get("items", [])) if part in each["message"])
    return int(found["range"]["start"]["line"])


def unused(name: str) -> str:
    return f"`{name}` imported but unused"


async def test_findings_are_pushed_move_and_disappear_with_their_line() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED)
        await analyze(client)
        params = await pushed(client, saying(unused("os")))
        found = next(each for each in params["diagnostics"] if each["message"].startswith(unused("os")))
        assert (found["source"], found["code"], found["tags"]) == ("stet", "F401", [1])

        client.change(URI, "# hello\n", ((0, 0), (0, 0)))
        assert line_of(await pushed(client, lambda params: params["version"] == 2), unused("os")) == 1

        client.replace(URI, "import os", "import sys")
        params = await pushed(client, lambda params: params["version"] == 3)
        assert not saying(unused("os"))(params)


async def test_a_change_on_the_line_of_a_finding_removes_it() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED)
        await analyze(client)
        await pushed(client, saying(unused("os")))
        client.change(URI, " ", ((0, 6), (0, 6)))
        params = await pushed(client, lambda params: params["version"] == 2)
        assert not saying(unused("os"))(params)


async def test_findings_absent_from_the_next_analysis_are_removed() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED)
        await analyze(client)
        await pushed(client, saying(unused("os")))
        client.replace(URI, "w, h)\n", "w, h) + os.sep\n")
        mark = client.mark()
        await analyze(client)
        await pushed(client, lambda params: not saying(unused("os"))(params), since=mark)


async def test_a_client_with_refresh_support_pulls_findings() -> None:
    async with editing(VSCODE) as client:
        client.open(URI, "python", UNUSED)
        before = await pull(client)
        await analyze(client)
        await client.wait_notification(REFRESH)
        report = await pull(client, previous=before["resultId"])
        assert any(message.startswith(unused("os")) for message in messages(report))
        assert client.received(PUBLISH) == []


async def test_a_client_without_refresh_support_is_pushed_findings_until_it_pulls() -> None:
    async with editing(NEOVIM) as client:
        client.open(URI, "python", UNUSED)
        await pull(client)
        await analyze(client)
        await pushed(client, saying(unused("os")))
        mark = client.mark()
        report = await pull(client)
        assert any(message.startswith(unused("os")) for message in messages(report))
        await pushed(client, empty, since=mark)


async def test_the_next_analysis_replaces_findings_of_the_same_code_and_adds_others() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED_TWICE)
        await analyze(client, position={"line": 5, "character": 4})
        params = await pushed(client, saying(unused("sys")))
        assert not saying(unused("os"))(params)
        mark = client.mark()
        await analyze(client)  # the whole document
        params = await pushed(client, saying(unused("os")), since=mark)
        assert sum(message.startswith(unused("sys")) for message in messages(params)) == 1
        mark = client.mark()
        client.replace(URI, "    import sys\n", "")
        await analyze(client, position={"line": 4, "character": 4})
        params = await pushed(client, lambda params: not saying(unused("sys"))(params), since=mark)
        assert saying(unused("os"))(params)


async def test_a_command_clears_the_findings() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED)
        await analyze(client)
        await pushed(client, saying(unused("os")))
        mark = client.mark()
        assert await command(client, "stet.clear", uri=URI) == {"cleared": 1}
        await pushed(client, empty, since=mark)
        assert await command(client, "stet.clear") == {"cleared": 0}


async def test_closing_the_document_removes_its_findings() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED)
        await analyze(client)
        await pushed(client, saying(unused("os")))
        mark = client.mark()
        client.close(URI)
        await pushed(client, empty, since=mark)
        client.open(URI, "python", UNUSED)
        assert messages(await pushed(client, lambda params: params.get("version") == 1, since=mark)) == []


async def test_a_setting_limits_findings_to_the_report() -> None:
    async with editing(EGLOT, settings={"checks": {"findings": False}}) as client:
        client.open(URI, "python", UNUSED)
        result = await analyze(client)
        assert "imported but unused" in result["markdown"]
        client.change(URI, "\n", ((0, 0), (0, 0)))
        assert messages(await pushed(client, lambda params: params["version"] == 2)) == []


async def test_a_syntax_error_is_reported_once() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", "x = 1\nprint(end='', x)\n")
        await pushed(client, saying("Positional argument"))
        await analyze(client)
        mark = client.mark()
        client.change(URI, "\n", ((0, 0), (0, 0)))
        params = await pushed(client, lambda params: params["version"] == 2, since=mark)
        assert sum("Positional argument" in message for message in messages(params)) == 1


async def test_without_live_errors_the_analysis_reports_them() -> None:
    async with editing(EGLOT, settings={"checks": {"live": False}}) as client:
        client.open(URI, "python", "x = 1\nprint(end='', x)\n")
        await analyze(client)
        await pushed(client, saying("Positional argument"))


async def test_an_edit_during_the_analysis_drops_only_touched_findings(scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply("`import re`: fine.", hold=release)
    async with editing(EGLOT) as client:
        client.open(URI, "python", UNUSED_TWICE)
        job = await start(client, "analyze", uri=URI)
        client.replace(URI, "import os", "import io")
        client.change(URI, "\n\n", ((0, 0), (0, 0)))
        await command(client, "stet.jobs")  # the server has both changes
        release.set()
        assert (await finish(client, job))["status"] == "done"
        params = await pushed(client, saying(unused("sys")))
        assert line_of(params, unused("sys")) == 7
        assert not saying(unused("os"))(params)
