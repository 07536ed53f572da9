"""The test client itself: it has to edit like an editor, and to lie when told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.servers.client_documents import Applying
from support.servers.inprocess import connected
from support.servers.probe_server import hardened
from support.servers.wire import ErrorAnswer, RawClient

URI = "file:///nowhere/a.py"


def text_edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    at = {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}
    return {"range": at, "newText": text}


TWO = [text_edit((0, 0), (0, 1), "X"), text_edit((1, 0), (1, 1), "Y\nY")]


async def apply(client: RawClient, edit: dict[str, Any]) -> Any:
    params = {"command": "probe.edit", "arguments": [{"edit": edit}]}
    return await client.request("workspace/executeCommand", params)


async def servers_text(client: RawClient, uri: str = URI) -> Any:
    params = {"command": "probe.snapshot", "arguments": [{"uri": uri}]}
    return (await client.request("workspace/executeCommand", params))["text"]


def versioned(version: int | None) -> dict[str, Any]:
    return {"documentChanges": [{"textDocument": {"uri": URI, "version": version}, "edits": TWO}]}


@pytest.mark.parametrize(
    ("applying", "edit", "applied", "text"),
    [
        (Applying.HONESTLY, versioned(1), True, "X😀\nY\nYb\n"),
        (Applying.HONESTLY, versioned(None), True, "X😀\nY\nYb\n"),
        (Applying.HONESTLY, {"changes": {URI: TWO}}, True, "X😀\nY\nYb\n"),
        (Applying.HONESTLY, versioned(7), False, "a😀\nbb\n"),
        (Applying.BLINDLY, versioned(7), True, "X😀\nY\nYb\n"),
        (Applying.REFUSES, versioned(1), False, "a😀\nbb\n"),
        (Applying.CLAIMS, versioned(1), True, "a😀\nbb\n"),
        (Applying.DENIES, versioned(1), False, "X😀\nY\nYb\n"),
    ],
)
@pytest.mark.parametrize("answers_first", [False, True])
async def test_edits_are_applied_and_reported_as_configured(
    applying: Applying, edit: dict[str, Any], applied: bool, text: str, answers_first: bool
) -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open(URI, "python", "a😀\nbb\n")
        client.applying = applying
        client.answers_before_change = answers_first
        assert (await apply(client, edit))["applied"] == applied
        assert client.text(URI) == text
        assert await servers_text(client) == text


async def test_a_client_that_fails_answers_an_error() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.applying = Applying.FAILS
        with pytest.raises(ErrorAnswer, match="User cancelled"):
            await apply(client, versioned(1))


async def test_files_are_created_and_opened_for_an_edit(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("a\n")
    old, new = (tmp_path / "old.py").as_uri(), (tmp_path / "new.py").as_uri()
    changes = [
        {"kind": "create", "uri": new},
        {"textDocument": {"uri": new, "version": None}, "edits": [text_edit((0, 0), (0, 0), "n")]},
        {"textDocument": {"uri": old, "version": None}, "edits": [text_edit((0, 0), (0, 1), "o")]},
    ]
    async with connected(hardened()) as client:
        await client.initialize()
        assert (await apply(client, {"documentChanges": changes}))["applied"]
        assert client.created == [new]
        assert [await servers_text(client, uri) for uri in (new, old)] == ["n", "o\n"]


async def test_undo_takes_the_last_change_back() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open(URI, "python", "a\n")
        client.replace(URI, "a", "b")
        client.replace(URI, "b", "c")
        client.undo(URI)
        assert client.text(URI) == await servers_text(client) == "b\n"
        client.undo(URI)
        assert client.text(URI) == await servers_text(client) == "a\n"


async def test_a_missing_response_fails_the_test() -> None:
    async def forgetful() -> None:
        async with connected(hardened()) as client:
            await client.initialize()
            client.call("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
            client.notify("exit")
            await client.wait_end()

    with pytest.raises(AssertionError, match="got 0 answers"):
        await forgetful()


async def test_two_responses_fail_the_test() -> None:
    async def repetitive() -> None:
        server = hardened()
        async with connected(server) as client:
            await client.initialize()
            server.protocol._send_data({"jsonrpc": "2.0", "id": 1, "result": None})

    with pytest.raises(AssertionError, match="answer to nothing"):
        await repetitive()
