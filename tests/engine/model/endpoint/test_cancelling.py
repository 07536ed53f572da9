"""Cancelling a call stops the endpoint's work at once and leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading

import pytest
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.events import Progress
from stet_ls.engine.model.endpoint import stream_request


async def _cancel(task: asyncio.Task, scripted: ScriptedModel) -> None:
    """Cancel, and wait until the server saw the client leave, which nothing else makes it do."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(scripted.wait_disconnect)


async def _others() -> set[asyncio.Task]:
    return asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize(
    "reply",
    [Reply("never", hold=threading.Event()), Reply("never", hold=threading.Event(), head_first=True)],
    ids=["before the head", "before the first token"],
)
async def test_cancelling_before_the_first_token_closes_the_request(
    reply: Reply, scripted: ScriptedModel, asker
) -> None:
    before = await _others()
    scripted.replies([reply])
    task = asyncio.create_task(asker.ask())
    await asyncio.to_thread(scripted.wait_request)
    await _cancel(task, scripted)
    assert await _others() == before
    assert len(scripted.requests) == 1


async def test_cancelling_during_a_reply_closes_the_request(scripted: ScriptedModel, asker) -> None:
    before = await _others()
    scripted.reply("a b c d", hold=threading.Event(), hold_at=2)
    arrived = asyncio.Event()
    asker.events = _Watcher(arrived)
    task = asyncio.create_task(asker.ask())
    await arrived.wait()
    await _cancel(task, scripted)
    assert await _others() == before


class _Watcher(list):
    """A list of events that says when text arrives."""

    def __init__(self, arrived: asyncio.Event) -> None:
        super().__init__()
        self._arrived = arrived

    def append(self, event: object) -> None:
        super().append(event)
        if isinstance(event, Progress):
            self._arrived.set()


async def test_cancelling_during_the_pause_before_a_retry_ends_the_call(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(429, retry_after="9"), Reply("never")])
    task = asyncio.create_task(asker.ask())
    await asyncio.to_thread(scripted.wait_request)
    while not asker.events:  # the notice of the pause
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(scripted.requests) == 1


async def test_a_cancelled_call_does_not_count_as_a_failure(scripted: ScriptedModel, pool, provider) -> None:
    """It moves no work to the next provider and is no one's fault."""
    with ScriptedModel() as second:
        asker = pool(provider, provider.model_copy(update={"name": "second", "base_url": second.base_url}))
        scripted.replies([Reply("never", hold=threading.Event()), Reply("fine")])
        task = asyncio.create_task(asker.ask())
        await asyncio.to_thread(scripted.wait_request)
        await _cancel(task, scripted)
        assert [getattr(event, "fault", "") for event in asker.events] == ["", ""], "what it took, and that it ended"
        assert (await asker.models.health())["last_fault"] is None
        assert (await asker.ask()).endpoint == "scripted"
        assert second.requests == []


async def test_the_connection_is_kept_for_the_next_call(
    scripted: ScriptedModel, asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finished stream is read to its end, so that no handshake is paid again."""
    monkeypatch.setattr(stream_request, "_CLOSING_SECONDS", 60.0)
    for _ in range(3):
        await asker.ask()
    assert scripted.connections == 1
