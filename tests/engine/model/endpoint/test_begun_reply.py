"""Replies that are begun for the model: who gets the beginning, and that it stands in the reply once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.message import Message
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.endpoint.begun_reply import joined, stops
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.model.profiles.profile_store import ProbeScores, ProfileStore, StoredProfile
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths

FENCE = "```python\n"
HEADER = f'{FENCE}def twice(n):\n    """Twice n."""\n'
BODY = "    return 2 * n"
WHOLE = f"{HEADER}{BODY}\n```\n"


@pytest.mark.parametrize(
    "reply",
    [
        BODY,
        f"{BODY}\n```\n",
        f"{HEADER}{BODY}",
        f'def twice(n):\n    """Twice n."""\n{BODY}',
        f'    """Twice n."""\n{BODY}',
    ],
    ids=["continues", "ignores the stop", "sends it too", "repeats the header", "repeats the documentation"],
)
def test_the_beginning_stands_in_the_reply_once(reply: str) -> None:
    assert joined(HEADER, reply, complete=True) == WHOLE


def test_a_repeated_header_with_other_documentation_replaces_the_beginning() -> None:
    other = f'def twice(n):\n    """Two times n."""\n{BODY}\n'
    assert joined(HEADER, other, complete=True) == f"{FENCE}{other}```\n"


@pytest.mark.parametrize("start", ["", "PLAN: double it\nCODE:\n"])
def test_a_reply_that_starts_again_replaces_the_beginning(start: str) -> None:
    reply = f"{start}```python\ndef twice(n):\n    return n + n\n```\n"
    assert joined(HEADER, reply, complete=True) == reply


def test_a_reply_that_was_cut_stays_open() -> None:
    assert joined(HEADER, "    return 2", complete=False) == f"{HEADER}    return 2"


def test_writing_stops_at_the_fence_that_was_opened() -> None:
    assert stops("````md\n# title\n") == ("\n````",)
    assert stops("") == ()


async def asked(scripted: ScriptedModel, paths: Paths, *, begins: bool, begun: str = HEADER) -> Completion:
    model = "some-7b"
    store = ProfileStore(paths.profiles)
    store.save(StoredProfile(scripted.base_url, model, probe=ProbeScores("2026-01-01T00:00:00+00:00", begins=begins)))
    provider = Provider(name="s", base_url=scripted.base_url, model=model, timeout_first_token=60.0)
    alone = ModelSettings(discover=False, embedded="off")
    models = ModelPool(Settings(providers=(provider,), model=alone), paths)
    try:
        sampling = replace(Sampling(0.2, 400), begun=begun)
        return await models.complete([Message("user", "Double it.")], sampling=sampling, deadline=60)
    finally:
        await models.close()


async def test_an_endpoint_that_continues_gets_the_beginning_and_the_stop(
    scripted: ScriptedModel, paths: Paths
) -> None:
    scripted.default = Reply(BODY)
    reply = await asked(scripted, paths, begins=True)
    body = scripted.requests[-1].body
    assert body["messages"][-1] == {"role": "assistant", "content": HEADER}
    assert body["stop"] == ["\n```"]
    assert reply.text == WHOLE


async def test_another_endpoint_gets_neither(scripted: ScriptedModel, paths: Paths) -> None:
    scripted.default = Reply(WHOLE)
    reply = await asked(scripted, paths, begins=False)
    body = scripted.requests[-1].body
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert "stop" not in body
    assert reply.text == WHOLE
