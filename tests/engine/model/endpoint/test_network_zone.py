"""Where a prompt goes is decided by addresses, and the address that was checked is the one connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.engine import Bench, code_reply, request_for
from support.servers.scripted import ScriptedModel

from stet_ls.engine.errors import EndpointError, NoModelError, PolicyError
from stet_ls.engine.model.endpoint.network_zone import NetworkZone, route_to, zone_of
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import Privacy, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths

TOKEN = "ghp_" + "a1B2c3D4e5" * 3
CODE = f"def f():\n    token = {TOKEN!r}$0\n    return token\n"


@pytest.mark.parametrize(
    ("address", "zone"),
    [
        ("127.0.0.1", NetworkZone.LOOPBACK),
        ("127.9.9.9", NetworkZone.LOOPBACK),
        ("0.0.0.0", NetworkZone.LOOPBACK),
        ("::1", NetworkZone.LOOPBACK),
        ("::ffff:127.0.0.1", NetworkZone.LOOPBACK),
        ("::ffff:8.8.8.8", NetworkZone.PUBLIC),
        ("64:ff9b::808:808", NetworkZone.PUBLIC),
        ("64:ff9b::a00:1", NetworkZone.PRIVATE),
        ("2002:0a00:0001::", NetworkZone.PRIVATE),
        ("10.1.2.3", NetworkZone.PRIVATE),
        ("172.16.0.1", NetworkZone.PRIVATE),
        ("172.32.0.1", NetworkZone.PUBLIC),
        ("192.168.1.1", NetworkZone.PRIVATE),
        ("169.254.1.1", NetworkZone.PRIVATE),
        ("100.64.0.1", NetworkZone.PRIVATE),
        ("fe80::1", NetworkZone.PRIVATE),
        ("fd00::1", NetworkZone.PRIVATE),
        ("8.8.8.8", NetworkZone.PUBLIC),
        ("2606:4700::1111", NetworkZone.PUBLIC),
    ],
)
def test_the_zone_of_an_address_follows_its_target(address: str, zone: NetworkZone) -> None:
    assert zone_of(ipaddress.ip_address(address)) is zone


@pytest.mark.parametrize(
    ("url", "zone"),
    [
        ("http://localhost:1/v1", NetworkZone.LOOPBACK),
        ("http://2130706433/v1", NetworkZone.LOOPBACK),
        ("http://0x7f.1/v1", NetworkZone.LOOPBACK),
        ("http://[::ffff:127.0.0.1]/v1", NetworkZone.LOOPBACK),
        ("http://134744072/v1", NetworkZone.PUBLIC),
        ("https://127.0.0.1.invalid/v1", NetworkZone.PUBLIC),
    ],
)
async def test_the_zone_of_a_name_follows_its_resolved_address(
    url: str, zone: NetworkZone, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert (await route_to(url)).zone is zone


async def test_a_proxy_that_can_read_the_prompt_determines_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://8.8.8.8:3128")
    monkeypatch.setenv("https_proxy", "http://8.8.8.8:3128")
    assert (await route_to("http://10.0.0.1/v1")).zone is NetworkZone.PUBLIC
    assert (await route_to("https://10.0.0.1/v1")).zone is NetworkZone.PRIVATE, "it sees no more than a tunnel"
    assert (await route_to("http://127.0.0.1/v1")).proxied is False


def settings(**rules: str) -> Settings:
    return Settings(privacy=Privacy(**rules))  # type: ignore[arg-type]


async def test_secrets_are_redacted_in_every_zone_by_default(scripted: ScriptedModel, stet_home: Path) -> None:
    for rules, seen in (({}, False), ({"loopback": "allow"}, True), ({"public": "allow", "private": "allow"}, False)):
        scripted.reply(code_reply("def f():\n    return 'STET_SECRET_1'"))
        async with Bench(scripted, settings(**rules)) as bench:
            answer = await bench.run("refactor", CODE)
        sent = str(scripted.requests[-1].body["messages"])
        assert (TOKEN in sent) is seen, rules
        assert TOKEN in answer.code


async def test_a_prompt_blocked_by_policy_is_not_sent(scripted: ScriptedModel, stet_home: Path) -> None:
    async with Bench(scripted, settings(loopback="refuse")) as bench:
        with pytest.raises(PolicyError) as refused:
            await bench.run("refactor", CODE)
        assert 'line 2 contains a secret (access token), and privacy.loopback is "refuse"' in str(refused.value)
        assert TOKEN not in str(refused.value)
        assert refused.value.exit_code == 4
        assert scripted.requests == []
        scripted.reply(code_reply("def f():\n    return 2"))
        assert (await bench.run("refactor", "def f():\n    return 1$0\n")).success, "nothing is hidden in this one"


async def test_each_endpoint_of_a_chain_gets_what_its_zone_allows(scripted: ScriptedModel, stet_home: Path) -> None:
    """The first may not have it, the second may: the refusal is reported, and the prompt goes to no other."""
    near = Provider(name="near", base_url=scripted.base_url, model="m", api_key=SecretStr("k"))
    far = replace_host(near, "10.255.255.1", "far")
    scripted.reply(code_reply("def f():\n    return 'STET_SECRET_1'"))
    engine = Engine(
        settings(private="refuse", loopback="allow").model_copy(update={"providers": (far, near)}), user_paths()
    )
    try:
        answer = await engine.run(request_for("refactor", CODE))
    finally:
        await engine.close()
    assert any("far (http://10.255.255.1" in messages and '"refuse"' in messages for messages in answer.warnings)
    assert TOKEN in str(scripted.requests[-1].body["messages"])


def replace_host(provider: Provider, host: str, name: str) -> Provider:
    port = provider.base_url.rpartition(":")[2]
    return provider.model_copy(update={"name": name, "base_url": f"http://{host}:{port}"})


class Resolver:
    """A name service that tells something else from the second question on, as an attacker's does."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        self.asked += 1
        address = self.answers[min(self.asked, len(self.answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


@pytest.fixture
def rebinding(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return


async def test_a_connection_uses_the_address_that_was_checked(
    scripted: ScriptedModel, stet_home: Path, rebinding: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name has no address but for the resolver of this test: the request reaches the model only if it is pinned."""
    resolver = Resolver("127.0.0.1")
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolver)
    provider = Provider(name="m", base_url=scripted.base_url, model="m", api_key=SecretStr("k"))
    provider = replace_host(provider, "model.invalid", "m")
    pinned = settings(public="refuse").model_copy(update={"providers": (provider,)})
    scripted.reply(code_reply("def f():\n    return 'STET_SECRET_1'"))
    engine = Engine(pinned, user_paths())
    try:
        assert (await engine.run(request_for("refactor", CODE))).success
        assert scripted.requests[-1].headers["host"].startswith("model.invalid:"), "the name stays in the request"
        resolver.answers = ["8.8.8.8"]
        with pytest.raises(PolicyError):
            await engine.run(request_for("refactor", CODE))
        resolver.answers, resolver.asked = ["127.0.0.1", "8.8.8.8", "8.8.8.8"], 0
        scripted.reply(code_reply("def f():\n    return 'STET_SECRET_1' or 1"))
        assert (await engine.run(request_for("refactor", CODE))).success, "what was looked at is what is connected to"
        resolver.answers = ["127.0.0.2"]
        with pytest.raises(NoModelError):
            await engine.run(request_for("refactor", CODE))
    finally:
        await engine.close()
    assert len(scripted.requests) == 2


async def test_an_unresolved_name_is_public_and_not_contacted(stet_home: Path, rebinding: None) -> None:
    provider = Provider(name="m", base_url="http://nobody.invalid/v1", model="m", api_key=SecretStr("k"))
    engine = Engine(settings(loopback="allow").model_copy(update={"providers": (provider,)}), user_paths())
    request = replace(request_for("refactor", CODE))
    try:
        with pytest.raises((EndpointError, Exception)) as failed:
            await engine.run(request)
    finally:
        await engine.close()
    assert "nobody.invalid" in str(failed.value)
    assert TOKEN not in str(failed.value)
