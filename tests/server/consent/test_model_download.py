"""A job without any model: the embedded one is offered with its size, and fetched only after the click."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.servers.inprocess import connected
from support.servers.scripted import dead_endpoint
from support.servers.session import NEOVIM, VSCODE, boxes, finish, health, introduction, lines, start
from support.servers.wire import TIMEOUT, ErrorAnswer, Json, RawClient

from stet_ls.engine.model.embedded.weights import WEIGHTS, installed
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.app import create_server

URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    total = a + b\n    return total\n"
CONTENT = bytes(range(256)) * 16_000
FAKE = replace(
    WEIGHTS["tiny"],
    title="Fake 0.1B",
    model="fake",
    repository="Someone/Fake-GGUF",
    file="fake.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)
BUTTON, OTHER = {"title": "Download 4 MB"}, {"title": "Other model…"}


class Hub:
    """A model hub with one file. It sends a quarter, and the rest once it is `released`."""

    def __init__(self) -> None:
        self.content: bytes | None = CONTENT
        self.requests: list[str] = []
        self.released = threading.Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append(handler.path)
        if self.content is None:
            handler.send_error(404)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(self.content)))
        handler.end_headers()
        quarter = len(self.content) // 4
        handler.wfile.write(self.content[:quarter])
        self.released.wait(TIMEOUT)
        try:
            handler.wfile.write(self.content[quarter:])
        except OSError:  # the reader has left
            handler.close_connection = True

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def hub(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A new user without any model, for whom "tiny" is a small file on a hub nearby."""
    (stet_home / "config.toml").write_text("[model]\ndiscover = false\nembedded = 'tiny'\n")
    monkeypatch.setitem(WEIGHTS, "tiny", FAKE)
    server = Hub()
    monkeypatch.setenv("STET_HUB", server.url)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    yield server
    server.close()


@pytest.fixture
async def client(hub: Hub) -> AsyncIterator[RawClient]:
    """An editor with one document open."""
    async with connected(create_server()) as client:
        await client.initialize(**introduction(VSCODE))
        client.open(URI, "python", TEXT)
        yield client


async def ask_for_an_edit(client: RawClient) -> Json:
    return await finish(client, await start(client, "refactor", uri=URI, range=lines(1)))


async def box(client: RawClient, words: str) -> str:
    """The text of the message box that holds these words."""
    message = await client.wait_for(
        lambda m: m.get("method") == "window/showMessage" and words in m["params"]["message"]
    )
    return str(message["params"]["message"])


def value(message: Json) -> Json:
    """What a progress notification says; nothing for any other message."""
    return dict(message["params"]["value"]) if message.get("method") == "$/progress" else {}


def clicks(client: RawClient, answer: Any) -> None:
    client.answers["window/showMessageRequest"] = lambda params: answer


async def test_a_click_downloads_the_model(client: RawClient, hub: Hub) -> None:
    clicks(client, BUTTON)
    hub.released.set()
    result = await ask_for_an_edit(client)

    assert result["status"] == "failed", "the job does not wait for a person and a download"
    assert await box(client, "Downloaded") == "Downloaded Fake 0.1B. Your job continues."
    listed = await client.request("workspace/executeCommand", {"command": "stet.jobs", "arguments": []})
    assert [job["action"] for job in listed["jobs"]] == ["refactor", "refactor"]
    assert installed(user_paths(), "tiny") is not None
    [asked] = client.received("window/showMessageRequest")
    assert asked["message"] == result["message"]
    assert "Run `stet model pull tiny` (4 MB)" in asked["message"]
    assert asked["actions"] == [BUTTON, OTHER]
    values = [each["value"] for each in client.received("$/progress") if "/download/" in each["token"]]
    assert values[0]["title"] == "Stet: download Fake 0.1B"
    assert values[0]["cancellable"] is True
    assert values[-1] == {"kind": "end", "message": "Downloaded Fake 0.1B. Your job continues."}


async def test_a_plugin_that_chooses_models_is_asked_instead(hub: Hub) -> None:
    async with connected(create_server()) as client:
        given = introduction(VSCODE)
        await client.initialize(**{**given, "initializationOptions": {"plugin": {"name": "any", "models": True}}})
        client.answers["stet/noModel"] = lambda params: None
        client.open(URI, "python", TEXT)
        result = await ask_for_an_edit(client)
        asked = (await client.wait_for(lambda m: m.get("method") == "stet/noModel"))["params"]

    assert (asked["name"], asked["megabytes"]) == ("tiny", 4)
    assert asked["needs"].startswith("4 MB, ")
    assert asked["message"] == result["message"]
    assert not client.received("window/showMessageRequest")


async def test_a_plugin_offers_a_job_again_whose_model_failed(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = {"plugin": {"name": "any", "models": True, "buttons": True}}
    with dead_endpoint() as nowhere:
        monkeypatch.setenv("STET_BASE_URL", nowhere)
        async with connected(create_server()) as client:
            await client.initialize(**{**introduction(VSCODE), "initializationOptions": plugin})
            client.answers["stet/modelFailed"] = lambda params: None
            client.open(URI, "python", TEXT)
            job = await start(client, "refactor", uri=URI, range=lines(1))
            result = await finish(client, job)
            asked = (await client.wait_for(lambda m: m.get("method") == "stet/modelFailed"))["params"]

    assert asked == {"job": job, "message": result["message"]}
    assert "is not reachable" in asked["message"]
    assert not client.received("window/showMessage")


async def test_another_model_is_chosen_by_question_and_the_job_continues(client: RawClient, hub: Hub) -> None:
    hub.released.set()

    def answer(params: Json) -> Json:
        if OTHER in params["actions"]:
            return OTHER
        return next(row for row in params["actions"] if row["title"].startswith("Fake 0.1B (download: 4 MB, "))

    client.answers["window/showMessageRequest"] = answer
    await ask_for_an_edit(client)
    await box(client, "Downloaded Fake 0.1B.")
    await client.wait_for(lambda m: len(client.received("window/workDoneProgress/create")) == 3)
    assert 'embedded = "tiny"' in user_paths().model_file.read_text()


@pytest.mark.parametrize("answer", [None, {"title": "Later"}])
async def test_nothing_is_downloaded_without_the_click(client: RawClient, hub: Hub, answer: Any) -> None:
    clicks(client, answer)
    await ask_for_an_edit(client)
    await client.wait_for(lambda m: m.get("method") == "window/showMessageRequest")
    await ask_for_an_edit(client)
    await client.wait_for(lambda m: len(client.received("window/showMessageRequest")) == 2)

    assert hub.requests == []
    assert boxes(client) == [], "the question was the message"


async def test_a_client_without_buttons_gets_the_message(client: RawClient, hub: Hub) -> None:
    def unknown(params: Json) -> None:
        raise ErrorAnswer(-32601, "window/showMessageRequest is unknown")

    client.answers["window/showMessageRequest"] = unknown
    result = await ask_for_an_edit(client)

    assert await box(client, "not downloaded") == result["message"]
    assert hub.requests == []


async def test_a_download_can_be_cancelled(client: RawClient, hub: Hub) -> None:
    clicks(client, BUTTON)
    await ask_for_an_edit(client)
    report = await client.wait_for(lambda m: "of 4 MB" in str(value(m).get("message")))
    client.notify("window/workDoneProgress/cancel", {"token": report["params"]["token"]})
    # Answered after it: else the rest could arrive before the server has read that it is not wanted.
    await client.request("workspace/executeCommand", {"command": "stet.jobs", "arguments": []})
    hub.released.set()
    end = await client.wait_for(lambda m: str(value(m).get("message")).startswith("cancelled"))

    assert end["params"]["token"] == report["params"]["token"]
    assert value(end) == {"kind": "end", "message": "cancelled; the next download resumes here"}
    assert installed(user_paths(), "tiny") is None
    assert boxes(client) == []


async def test_a_second_job_is_notified_of_the_download(client: RawClient, hub: Hub) -> None:
    clicks(client, BUTTON)
    await ask_for_an_edit(client)
    await client.wait_for(lambda m: "of 4 MB" in str(value(m).get("message")))
    await ask_for_an_edit(client)

    assert await box(client, "downloading") == "Fake 0.1B is downloading. Run the action again afterwards."
    assert len(client.received("window/showMessageRequest")) == 1
    hub.released.set()
    await box(client, "Downloaded")
    assert len(hub.requests) == 1


async def test_a_second_job_does_not_repeat_an_open_question(client: RawClient, hub: Hub) -> None:
    answered = asyncio.Event()

    async def think(params: Json) -> None:
        await answered.wait()

    client.answers["window/showMessageRequest"] = think
    await ask_for_an_edit(client)
    await client.wait_for(lambda m: m.get("method") == "window/showMessageRequest")
    result = await ask_for_an_edit(client)

    assert await box(client, "not downloaded") == result["message"]
    assert len(client.received("window/showMessageRequest")) == 1
    answered.set()


async def test_a_download_that_fails_says_why(client: RawClient, hub: Hub) -> None:
    clicks(client, BUTTON)
    hub.content = None
    await ask_for_an_edit(client)

    message = await box(client, "could not be fetched")
    assert "HTTP 404" in message
    assert "stet model pull --from FILE" in message


async def test_the_download_ends_with_the_server(hub: Hub) -> None:
    async with connected(create_server()) as client:
        await client.initialize(**introduction(NEOVIM))
        client.open(URI, "python", TEXT)
        clicks(client, BUTTON)
        await ask_for_an_edit(client)
        await client.wait_for(lambda m: "of 4 MB" in str(value(m).get("message")))
        await client.request("shutdown")
        hub.released.set()

    assert installed(user_paths(), "tiny") is None


async def test_a_configured_endpoint_is_never_replaced(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_BASE_URL", "http://127.0.0.1:9/v1")
    async with connected(create_server()) as client:
        await client.initialize(**introduction(VSCODE))
        client.open(URI, "python", TEXT)
        result = await ask_for_an_edit(client)

        assert "is not reachable" in result["message"]
        assert boxes(client) == [result["message"]]
        assert client.received("window/showMessageRequest") == []
        assert (await health(client))["status"] == "unreachable"
