"""One edit as tests follow it from the open document to its end: `add`, made shorter."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import fenced, finish, lines, start
from support.servers.wire import TIMEOUT, Json, RawClient

OLD = """\
def add(a, b):
    total = a + b
    return total
"""
NEW = """\
def add(a, b):
    return a + b
"""
HEAD = "import sys\n\n\n"
TOP = "import os\nimport sys\n\n\nA = 1\n\n\n"
"""A longer head, with a line that may change besides."""
TAIL = "\n\ndef other():\n    return sys.path\n"
BEFORE = HEAD + OLD + TAIL
AFTER = HEAD + NEW + TAIL
URI = "file:///w/a.py"
TARGET = lines(4)

Environment = Mapping[str, str]


async def refactored(client: RawClient, text: str = BEFORE, uri: str = URI, target: Json = TARGET) -> Json:
    """The result of one refactoring from the open to the end."""
    client.open(uri, "python", text)
    return await finish(client, await start(client, "refactor", uri=uri, range=target))


class Held:
    """A model's reply that waits until the test lets it go."""

    def __init__(self, scripted: ScriptedModel, code: str = NEW) -> None:
        self._scripted = scripted
        self._event = threading.Event()
        scripted.replies([Reply(fenced(code), hold=self._event)])

    async def arrived(self, client: RawClient, count: int = 1) -> None:
        """Returns once the model was asked."""
        await asyncio.to_thread(self._scripted.wait_request, count, TIMEOUT)

    def release(self) -> None:
        """Lets the reply go."""
        self._event.set()


async def held_job(client: RawClient, held: Held, text: str = BEFORE, uri: str = URI) -> str:
    """A job whose model was asked and has not answered yet."""
    client.open(uri, "python", text)
    job = await start(client, "refactor", uri=uri, range=TARGET)
    await held.arrived(client)
    return job
