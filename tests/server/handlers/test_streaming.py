"""Explanations can be read while they are written: by `stet.result`, and in the progress."""

from __future__ import annotations

import threading

import pytest
from support.findings import editing
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import VSCODE, command
from support.servers.wire import Json

from stet_ls.engine.api.events import Progress, Stage
from stet_ls.server.jobs.progress_text import ProgressText

pytestmark = pytest.mark.usefixtures("served_here")
URI = "file:///shop/prices.py"


async def test_a_plugin_reads_what_is_written_so_far(scripted: ScriptedModel) -> None:
    resume = threading.Event()
    words = "It adds the prices. Then it returns the sum."
    scripted.default = Reply(
        words, chunks=["It adds the prices.", " Then it", " returns the sum."], hold=resume, hold_at=2
    )
    async with editing(VSCODE) as client:
        client.open(URI, "python", "def total(prices):\n    return sum(prices)\n")
        job = (await command(client, "stet.explain", uri=URI, position={"line": 0, "character": 5}))["job"]

        def shows_words(message: Json) -> bool:
            value = message.get("params", {}).get("value", {})
            return message.get("method") == "$/progress" and "It adds the prices." in str(value.get("message"))

        try:
            await client.wait_for(shows_words)
            result = await command(client, "stet.result", job=job)
        finally:
            resume.set()
        assert result["status"] == "running"
        assert result["markdown"].startswith("It adds the prices.")
        ended = await command(client, "stet.result", job=job, wait=True)
        assert "Then it returns the sum." in ended["markdown"]


def test_the_progress_shows_the_last_words() -> None:
    text = ProgressText()
    text.on_event(Stage("model", "m"))
    text.on_event(Progress(3, text="It adds\nthe prices."))
    assert text.text.endswith(" · writing, 3 tokens: It adds the prices.")
    text.on_event(Progress(40, text="word " * 40 + "end."))
    assert text.text.endswith("word word end.")
    assert ": …" in text.text
    text.on_event(Progress(41))
    assert text.text.endswith("41 tokens")
