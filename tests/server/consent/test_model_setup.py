"""The choice of a model: asked in any client, kept next to the user's settings, in force at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.servers.inprocess import connected
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import EGLOT, finish, introduction, lines, start
from support.servers.wire import ErrorAnswer, Json, RawClient

from stet_ls.engine.settings import load
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.app import create_server

URI = "file:///w/a.py"
BEFORE = "def add(a, b):\n    total = a + b\n    return total\n"
REPLY = "CODE:\n```python\ndef add(a, b):\n    return a + b\n```\n"


async def setup(client: RawClient, **fields: object) -> Json:
    return await client.request("workspace/executeCommand", {"command": "stet.setup", "arguments": [fields]})


async def test_a_chosen_endpoint_serves_the_next_job_and_is_forgotten_again(
    stet_home: Path, scripted: ScriptedModel
) -> None:
    (stet_home / "config.toml").write_text("[model]\ndiscover = false\nembedded = 'off'\n")
    scripted.default = Reply(REPLY)
    async with connected(create_server()) as client:
        await client.initialize(**introduction(EGLOT))
        client.open(URI, "python", BEFORE)
        url, model = scripted.base_url, scripted.models[0]
        assert (await setup(client, url=url, model=model))["chosen"] == f"Stet uses {model} at {url}."
        assert (await finish(client, await start(client, "refactor", uri=URI, range=lines(1))))["applied"] is True
        assert (await setup(client, forget=True))["chosen"] == "Stet uses the model of config.toml."
    assert not user_paths().model_file.exists()


async def test_a_client_without_a_plugin_is_asked(stet_home: Path) -> None:
    (stet_home / "config.toml").write_text('[[providers]]\nname = "a"\nbase_url = "http://127.0.0.1:9/v1"\n')
    async with connected(create_server()) as client:
        await client.initialize(**introduction(EGLOT))
        client.answers["window/showMessageRequest"] = lambda params: params["actions"][-1]
        reported = (await setup(client))["chosen"]
        [asked] = client.received("window/showMessageRequest")
        client.answers["window/showMessageRequest"] = lambda params: None
        assert (await setup(client))["chosen"] is None

    titles = [row["title"] for row in asked["actions"]]
    assert "Qwen2.5-Coder 1.5B Instruct, Q4_K_M (download: 1117 MB, 2.0 GB of memory, about 21 s a job)" in titles
    assert titles[-1] == "Another endpoint…"
    assert str(user_paths().config_file) in reported


async def test_a_client_without_buttons_gets_the_other_way(stet_home: Path) -> None:
    def unknown(params: Json) -> None:
        raise ErrorAnswer(-32601, "window/showMessageRequest is unknown")

    async with connected(create_server()) as client:
        await client.initialize(**introduction(EGLOT))
        client.answers["window/showMessageRequest"] = unknown
        with pytest.raises(ErrorAnswer, match=r"this editor shows no buttons. Run `stet config init`"):
            await setup(client)


async def test_the_key_is_in_no_file(stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[tuple[str, str], str] = {}
    monkeypatch.setattr("keyring.set_password", lambda service, user, key: kept.update({(service, user): key}))
    async with connected(create_server()) as client:
        await client.initialize(**introduction(EGLOT))
        await setup(client, url="https://api.example.org/v1", model="m", key="secret-value")
        text = user_paths().model_file.read_text()
        assert kept == {("stet", "api.example.org-v1"): "secret-value"}
        assert "secret-value" not in text
        assert 'api_key_keyring = "stet/api.example.org-v1"' in text
        monkeypatch.setenv("MY_KEY", "other-value")
        await setup(client, url="https://api.example.org/v1", model="m", key="$MY_KEY")
        assert 'api_key_env = "MY_KEY"' in user_paths().model_file.read_text()
        rows = {row.key: row for row in load(project=None).rows}
        assert rows["providers[0].model"].origin.startswith("chosen model: ")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"embedded": "huge"}, "embedded: unknown model 'huge'; it is one of tiny, small, medium."),
        ({"url": "https://api.example.org/v1"}, "model: name the endpoint's model."),
        ({"url": "somewhere", "model": "m"}, "url"),
    ],
)
async def test_a_wrong_choice_names_the_field(stet_home: Path, fields: Json, message: str) -> None:
    async with connected(create_server()) as client:
        await client.initialize(**introduction(EGLOT))
        with pytest.raises(ErrorAnswer, match=message):
            await setup(client, **fields)
    assert not user_paths().model_file.exists()
