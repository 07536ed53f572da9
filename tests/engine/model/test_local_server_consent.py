"""A model server that was merely found gets code only after its user said so, once for each server and its owner."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers.scripted import ScriptedModel, dead_endpoint
from support.servers.session import NOTHING, command, fenced, finish, introduction, lines, start
from support.servers.wire import RawClient

from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import NoModelError, PolicyError
from stet_ls.engine.model import discover
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.local_server_consent import FoundServer, ServerConsent, ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.model.port_owner import is_another_user, owner_of
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths
from stet_ls.server.__main__ import main

ALONE = Settings(model=ModelSettings(embedded="off"))
"""No endpoint is configured, and no embedded model takes over."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who listens on a port")


class User:
    """Answers one question after the other."""

    def __init__(self, *answers: bool | None) -> None:
        self._answers = list(answers)
        self.asked: list[FoundServer] = []

    async def server(self, found: FoundServer) -> bool | None:
        """The next answer."""
        self.asked.append(found)
        return self._answers.pop(0)


@pytest.fixture
def found(scripted: ScriptedModel, no_listeners: None, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """The scripted server where LM Studio would be, and no one on the other well-known ports."""
    monkeypatch.setitem(discover.PORTS, "lm-studio", scripted.port)
    return scripted


async def ask(paths: Paths, user: User | None = None, settings: Settings = ALONE) -> str:
    """What a job gets for its prompt: the name of the endpoint that answered."""
    models = ModelPool(settings, paths)
    models.asker = user
    try:
        await models.settle()
        completion = await models.complete([Message("user", "my code")], sampling=Sampling(0.2, 50), deadline=60)
        return completion.endpoint
    finally:
        await models.close()


async def test_without_a_user_to_ask_nothing_is_sent_and_the_way_out_is_shown(
    found: ScriptedModel, paths: Paths
) -> None:
    with pytest.raises(PolicyError, match=f"`stet model allow {found.base_url}`.*STET_BASE_URL") as raised:
        await ask(paths)
    assert raised.value.exit_code == 4
    assert found.requests == []


async def test_consent_is_remembered(found: ScriptedModel, paths: Paths) -> None:
    user = User(True)
    assert await ask(paths, user) == "lm-studio"
    assert await ask(paths, user) == "lm-studio"
    assert await ask(paths) == "lm-studio", "nor does a run need someone to ask any more"
    assert [server.base_url for server in user.asked] == [found.base_url]
    assert paths.consents.stat().st_mode & 0o077 == 0, "it is its user's alone"


async def test_a_refusal_is_kept_and_the_embedded_model_is_used(found: ScriptedModel, paths: Paths) -> None:
    user = User(False)
    with pytest.raises(NoModelError, match=r"not allowed.*stet model allow"):
        await ask(paths, user)
    assert found.requests == []
    assert len(user.asked) == 1


async def test_no_response_is_not_consent(found: ScriptedModel, paths: Paths) -> None:
    with pytest.raises(PolicyError):
        await ask(paths, User(None))
    assert found.requests == []


async def test_a_configured_server_needs_no_consent(found: ScriptedModel, paths: Paths) -> None:
    user = User()
    provider = Provider(name="mine", base_url=found.base_url)
    assert await ask(paths, user, Settings(providers=(provider,))) == "mine"
    assert user.asked == []


async def test_a_health_check_neither_asks_nor_sends_code(found: ScriptedModel, paths: Paths) -> None:
    user = User()
    models = ModelPool(ALONE, paths)
    models.asker = user
    health = await models.health()
    await models.profile()
    await models.close()
    assert [row["asked_first"] for row in health["endpoints"]] == [True]
    assert (user.asked, found.requests) == ([], [])


async def test_an_unwritable_home_does_not_block_consent(found: ScriptedModel, paths: Paths) -> None:
    paths.consents.parent.parent.mkdir(parents=True, exist_ok=True)
    paths.consents.parent.write_text("no folder")
    assert await ask(paths, User(True)) == "lm-studio"


def test_a_server_of_another_owner_needs_its_own_consent(paths: Paths) -> None:
    owner = [os.getuid()]
    consents = ServerConsents(paths.consents, owner=lambda _: owner[0])
    consents.remember(consents.found("ollama", "http://127.0.0.1:11434/v1"), allowed=True)
    assert consents.of(consents.found("ollama", "http://127.0.0.1:11434/v1")) is ServerConsent.ALLOWED
    owner[0] = 1 if os.getuid() != 1 else 2
    assert consents.of(consents.found("ollama", "http://127.0.0.1:11434/v1")) is ServerConsent.UNASKED


def test_a_server_of_another_user_is_never_offered(paths: Paths) -> None:
    consents = ServerConsents(paths.consents, owner=lambda _: 54321)
    server = consents.found("ollama", "http://127.0.0.1:11434/v1")
    assert consents.of(server) is ServerConsent.FOREIGN
    consents.remember(server, allowed=True)
    assert consents.of(server) is ServerConsent.ALLOWED, "its user may say so"


@pytest.mark.parametrize("owner", [None, 0, 1, os.getuid()])
def test_a_system_service_and_the_user_are_not_another_user(owner: int | None) -> None:
    assert not is_another_user(owner)


@linux
def test_the_owner_of_a_port_is_known(scripted: ScriptedModel) -> None:
    assert owner_of(scripted.port) == os.getuid()
    with dead_endpoint() as base_url:
        assert owner_of(int(base_url.split(":")[2].removesuffix("/v1"))) is None


LISTEN = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
"""


@linux
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root starts processes of others")
@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::"])
def test_the_owner_of_a_port_is_the_listening_process(address: str) -> None:
    with subprocess.Popen(
        ["/usr/bin/env", "python3", "-c", LISTEN, address],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=54321, group=54321, cwd="/",
    ) as process:  # fmt: skip
        assert process.stdout is not None
        port = int(process.stdout.readline())
        assert owner_of(port) == 54321
        assert is_another_user(owner_of(port))
        process.kill()


def test_consent_is_given_and_withdrawn_on_the_command_line(found: ScriptedModel, paths: Paths, capsys) -> None:
    assert main(["model", "allow", found.base_url]) == 0
    consents = ServerConsents(paths.consents)
    server = consents.found("lm-studio", found.base_url)
    assert consents.of(server) is ServerConsent.ALLOWED
    assert main(["model", "deny", found.base_url.removesuffix("/v1")]) == 0
    assert consents.of(server) is ServerConsent.DENIED
    assert main(["model", "allow", "http://models.example/v1"]) == 2
    assert "STET_BASE_URL" in capsys.readouterr().err


def test_a_run_without_a_terminal_is_refused_by_policy(
    found: ScriptedModel, paths: Paths, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STET_MODEL_EMBEDDED", "off")
    file = tmp_path / "a.py"
    file.write_text("def f(a):\n    return a\n")
    assert main(["run", "explain", str(file)]) == 4
    assert f"stet model allow {found.base_url}" in capsys.readouterr().err
    assert found.requests == []


PATCHED = """
import sys
from stet_ls.engine.model import discover
for name in discover.PORTS:
    discover.PORTS[name] = int(sys.argv[2])
discover.PORTS["lm-studio"] = int(sys.argv[1])
from stet_ls.server.__main__ import main
sys.exit(main(["serve", "--stdio"]))
"""
"""The server, for which the well-known ports are others."""


@pytest.mark.parametrize("says", ["Send my code there", "No"])
async def test_an_editor_asks_its_user_once(found: ScriptedModel, paths: Paths, tmp_path: Path, says: str) -> None:
    text, uri = "def add(a, b):\n    total = a + b\n    return total\n", "file:///w/a.py"
    found.default = fenced("def add(a, b):\n    return a + b\n")
    asked: list[str] = []

    def answer(params: dict[str, str]) -> dict[str, str]:
        asked.append(params["message"])
        return {"title": says}

    dead = discover.PORTS["vllm"]
    argv = [sys.executable, "-c", PATCHED, str(found.port), str(dead)]
    variables = {"STET_HOME": os.environ["STET_HOME"], "STET_MODEL_EMBEDDED": "off"}
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(RawClient.stdio(argv, env=variables))
        client.answers["window/showMessageRequest"] = answer
        await client.initialize(**{**introduction(NOTHING), "capabilities": {"workspace": {"applyEdit": True}}})
        client.open(uri, "python", text)
        await command(client, "stet.health")
        assert asked == [], "no one is asked before there is something to send"
        results = [await finish(client, await start(client, "explain", uri=uri, range=lines(1))) for _ in range(2)]
    assert len(asked) == 1
    assert f"model server lm-studio at {found.base_url}" in asked[0]
    assert [result["status"] for result in results] == (["done"] * 2 if says != "No" else ["failed"] * 2)
    assert bool(found.requests) is (says != "No")
