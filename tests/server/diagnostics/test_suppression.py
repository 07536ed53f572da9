"""Where no live syntax errors are wanted: settings, at once when they change, and languages that others report on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.findings import PUBLISH, URI, editing, empty, pull, pushed, saying, worded
from support.servers.session import EGLOT, VSCODE
from support.servers.wire import Json, RawClient

BROKEN = "def area(w, h:\n    return w * h\n"
OTHER = "file:///w/a.js"

pytestmark = pytest.mark.usefixtures("stet_home")


def settings(client: RawClient, **checks: Any) -> None:
    """Changes the editor's settings, and says so."""
    client.answers["workspace/configuration"] = lambda params: [{"checks": checks}] * len(params["items"])
    client.notify("workspace/didChangeConfiguration", {"settings": None})


async def act(client: RawClient, *diagnostics: Json, uri: str = URI) -> list[Json]:
    """Asks for code actions with what all servers say, as editors do when the cursor moves."""
    context = {"diagnostics": list(diagnostics), "triggerKind": 2}
    at = {"line": 0, "character": 0}
    params = {"textDocument": {"uri": uri}, "range": {"start": at, "end": at}, "context": context}
    result = await client.request("textDocument/codeAction", params)
    assert isinstance(result, list)
    return result


def finding(line: int, *, source: str | None = "Pyright", severity: int = 1) -> Json:
    """An error that another server reports on a line."""
    where = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}}
    found: Json = {"range": where, "message": "that is wrong", "severity": severity}
    return found if source is None else {**found, "source": source}


@pytest.mark.parametrize("checks", [{"live": False}, {"live_off": ["py"]}, {"live_off": ["Python", "go"]}])
async def test_a_setting_disables_and_enables_diagnostics_at_once(checks: dict[str, Any]) -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        mark = client.mark()
        settings(client, **checks)
        await pushed(client, empty, since=mark)
        mark = client.mark()
        settings(client)
        await pushed(client, saying("never closed"), since=mark)


async def test_disabled_from_the_start_no_diagnostics_are_sent() -> None:
    async with editing(EGLOT, settings={"checks": {"live_off": ["python"]}}) as client:
        client.open(URI, "python", BROKEN)
        client.open(OTHER, "javascript", "let x = (\n")
        await pushed(client, saying("never closed"), uri=OTHER)
        assert all(params["uri"] == OTHER for params in client.received(PUBLISH))


async def test_the_project_file_is_applied_when_it_is_saved(tmp_path: Path) -> None:
    async with editing(EGLOT, rootUri=tmp_path.as_uri()) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
        mark = client.mark()
        file = tmp_path / ".stet.toml"
        file.write_text("[checks]\nlive = false\n")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 1}]})
        await pushed(client, empty, since=mark)
        asked = await client.wait_notification("client/registerCapability")
        assert [each["method"] for each in asked["registrations"]] == ["workspace/didChangeWatchedFiles"]


async def test_an_error_of_another_server_on_the_same_line_silences_its_language() -> None:
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        client.open(OTHER, "javascript", "let x = (\n")
        await pushed(client, saying("never closed"))
        await pushed(client, saying("never closed"), uri=OTHER)
        mark = client.mark()
        await act(client, finding(0))
        await pushed(client, empty, since=mark)
        said = await client.wait_for(lambda m: m.get("method") == "window/logMessage" and "Pyright" in str(m))
        assert "live_yield" in said["params"]["message"]
        client.replace(OTHER, "(", "((")
        await pushed(client, lambda params: params["version"] == 2 and not empty(params), uri=OTHER)
        client.open("file:///w/b.py", "python", BROKEN)
        assert (await pull(client, "file:///w/b.py"))["items"] == []


@pytest.mark.parametrize(
    "foreign",
    [finding(0, severity=2), finding(0, severity=3), finding(1), finding(0, source="stet"), finding(0, source=None)],
    ids=["a warning", "information", "another line", "our own", "no one knows whose"],
)
async def test_other_diagnostics_do_not_silence_a_language(foreign: Json) -> None:
    async with editing(VSCODE) as client:
        client.open(URI, "python", "x = (\n\n\n")
        assert (await pull(client))["items"]
        await act(client, foreign)
        assert await worded(client, "'(' is never closed")


async def test_a_setting_enables_both_sources_of_errors() -> None:
    async with editing(VSCODE, settings={"checks": {"live_yield": False}}) as client:
        client.open(URI, "python", BROKEN)
        assert (await pull(client))["items"]
        await act(client, finding(0))
        assert (await pull(client))["items"]


async def test_languages_that_an_editor_diagnoses_itself_are_not_checked() -> None:
    options = {"plugin": {"name": "vscode", "diagnoses": ["javascript", "jsonc", 7]}}
    async with editing(VSCODE, initializationOptions=options) as client:
        client.open(OTHER, "javascript", "let x = (\n")
        client.open(URI, "python", BROKEN)
        assert (await pull(client, OTHER))["items"] == []
        assert (await pull(client))["items"]


async def test_invalid_settings_do_not_disable_diagnostics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_BASE_URL", "no address")
    async with editing(EGLOT) as client:
        client.open(URI, "python", BROKEN)
        await pushed(client, saying("never closed"))
