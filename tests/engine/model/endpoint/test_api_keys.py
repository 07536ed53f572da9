"""Keys out of the system's keyring: the real library with a backend of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from support.servers.scripted import ScriptedModel

from stet_ls.engine.errors import EndpointError, Fault
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.validators.install_hints import install_command

keyring = pytest.importorskip("keyring", reason="the extra `keyring` is not installed")


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Fills the keyring."""
    from support.processes.keyring_backend import Keyring

    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())
    yield lambda text: monkeypatch.setenv("STET_TEST_KEYRING", text)
    keyring.set_keyring(before)


def _with(provider: Provider, entry: str) -> Provider:
    return provider.model_copy(update={"api_key_keyring": entry})


@pytest.mark.parametrize("entry", ["stet/work", "stet"])
async def test_a_key_is_taken_from_the_keyring(entry: str, entries, scripted: ScriptedModel, pool, provider) -> None:
    entries("other/work=no\nstet/work=k3y-of-the-keyring")
    asker = pool(_with(provider, entry))
    await asker.ask()
    await asker.models.health()
    assert {request.headers["authorization"] for request in (*scripted.requests, *scripted.probes)} == {
        "Bearer k3y-of-the-keyring"
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("", r'the keyring has no entry "stet/work": keyring set stet work'), ("locked", "the collection is locked")],
)
async def test_an_unavailable_key_is_reported_and_no_request_is_sent(
    text: str, message: str, entries, scripted: ScriptedModel, pool, provider
) -> None:
    entries(text)
    with pytest.raises(EndpointError, match=message) as raised:
        await pool(_with(provider, "stet/work")).ask()
    assert raised.value.fault is Fault.NO_KEY
    assert scripted.requests == []


async def test_without_its_key_an_endpoint_is_skipped(entries, scripted: ScriptedModel, pool, provider) -> None:
    entries("")
    second = provider.model_copy(update={"name": "second"})
    completion = await pool(_with(provider, "stet/work"), second).ask()
    assert (completion.endpoint, completion.requests) == ("second", 1)
    assert "no entry" in completion.warnings[0]


async def test_no_message_contains_a_key_of_the_keyring(
    entries, scripted: ScriptedModel, pool, provider, caplog
) -> None:
    from support.servers.scripted import Reply

    caplog.set_level("DEBUG")
    entries("stet/work=k3y-of-the-keyring")
    scripted.replies([Reply.failure(401, "k3y-of-the-keyring is wrong")])
    asker = pool(_with(provider, "stet/work"))
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    assert "[key] is wrong" in str(raised.value)
    assert "k3y" not in f"{raised.value} {await asker.models.health()} {caplog.text}"


ABSENT = """
import sys
sys.modules["keyring"] = None
import asyncio
from stet_ls.engine.model.endpoint.api_keys import key_of
from stet_ls.engine.settings.table_schemas import Provider

print(asyncio.run(key_of(Provider(name="x", base_url="http://127.0.0.1:1/v1", api_key_keyring="stet"))).detail)
"""


def test_a_missing_keyring_library_is_reported_with_an_install_hint() -> None:
    done = subprocess.run([sys.executable, "-c", ABSENT], capture_output=True, text=True, env={**os.environ})
    assert install_command("keyring") in done.stdout, done.stderr


LATE = """
import sys
import stet_ls.engine.run, stet_ls.engine.settings, stet_ls.server.app
assert "keyring" not in sys.modules
"""


def test_the_keyring_library_is_loaded_only_when_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
