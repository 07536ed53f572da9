"""Inline completion: switched on by its user, judged by syntax and names, never in the way of a job."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import VSCODE, command, editor, lines, start
from support.servers.wire import RawClient

URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    return \n\n\ndef twice(a):\n    return a + a\n"


@pytest.fixture
def on(environment: Mapping[str, str]) -> Mapping[str, str]:
    return {**environment, "STET_EDITOR_INLINE_COMPLETION": "true"}


async def completed(client: RawClient) -> Any:
    place = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 11}}
    items = await client.request("textDocument/inlineCompletion", {**place, "context": {"triggerKind": 1}})
    return items and [item["insertText"] for item in items]


async def test_what_passes_is_offered(on: Mapping[str, str], scripted: ScriptedModel) -> None:
    replies = {
        "```python\na + b\n```": ["a + b"],
        "    return a + b": ["a + b"],  # the start of the line again
        "```python\na + total\n```": None,  # a name that nothing defines
        "```python\na + (b\n```": None,
    }
    async with editor(on, VSCODE) as client:
        client.open(URI, "python", TEXT)
        for reply, expected in replies.items():
            scripted.default = Reply(reply)
            assert await completed(client) == expected, reply
    assert "return <CURSOR>" in scripted.requests[-1].prompt


async def test_nothing_is_asked_while_it_is_off_or_a_job_runs(
    environment: Mapping[str, str], on: Mapping[str, str], scripted: ScriptedModel
) -> None:
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", TEXT)
        assert await completed(client) is None
    assert scripted.requests == []

    scripted.default = Reply("```python\na + b\n```", stall_after=0)
    async with editor(on, VSCODE) as client:
        client.open(URI, "python", TEXT)
        job = await start(client, "refactor", uri=URI, range=lines(4, 5))
        await asyncio.to_thread(scripted.wait_request)
        assert await completed(client) is None
        await command(client, "stet.cancel", job=job)
    assert len(scripted.requests) == 1
