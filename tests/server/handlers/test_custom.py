"""Custom actions in an editor: how they are offered, run, and what a project's ones wait for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import command, editor, fenced, finish, lines
from support.servers.wire import ErrorAnswer, Json, RawClient

TABLE = '[[actions]]\nname = "tidy"\ntitle = "Tidy"\ninstruction = "Tidy {name}."\nlanguages = ["python"]\n'
CODE = "def f(a):\n    return a\n"
TIDY = "def f(a):\n    b = a\n    return b\n"

Environment = Mapping[str, str]


@pytest.fixture
def project(tmp_path: Path, scripted: ScriptedModel) -> Path:
    """A project with an action of its own."""
    scripted.default = Reply(fenced(TIDY))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".stet.toml").write_text(TABLE)
    (folder / "a.py").write_text(CODE)
    return folder


def folders(project: Path) -> Json:
    return {"rootUri": project.as_uri(), "workspaceFolders": [{"uri": project.as_uri(), "name": "p"}]}


async def offered(client: RawClient, uri: str, **context: object) -> list[Json]:
    await command(client, "stet.health")  # the settings have been read
    params = {"textDocument": {"uri": uri}, "range": lines(1), "context": {"diagnostics": [], **context}}
    actions: list[Json] = await client.request("textDocument/codeAction", params)
    return [each for each in actions if each["command"]["command"] == "stet.custom"]


async def tidied(client: RawClient, uri: str) -> Json:
    return await finish(client, (await command(client, "stet.custom", action="tidy", uri=uri, range=lines(1)))["job"])


async def test_custom_actions_are_offered_by_their_kind(environment: Environment, project: Path) -> None:
    uri = (project / "a.py").as_uri()
    async with editor(environment, **folders(project)) as client:
        client.open(uri, "python", CODE)
        found = {each["kind"]: each for each in await offered(client, uri)}

        assert set(found) == {"refactor.rewrite.stet.document", "refactor.rewrite.stet.tidy"}
        listed = {each["name"]: each["kind"] for each in (await command(client, "stet.capabilities"))["actions"]}
        assert listed["tidy"] == "refactor.rewrite.stet.tidy"
        assert not any("isPreferred" in each for each in found.values())
        assert found["refactor.rewrite.stet.tidy"]["title"] == "Tidy (project action, asks first)"
        [only] = await offered(client, uri, only=["refactor.rewrite.stet.document"])
        assert only["command"]["arguments"][0]["action"] == "document"
        assert await offered(client, uri, triggerKind=2) == [], "nothing of them in an automatic light bulb"

        client.open("file:///b.go", "go", "package p\n")
        kinds = [each["kind"] for each in await offered(client, "file:///b.go")]
        assert kinds == ["refactor.rewrite.stet.document"], "tidy is for Python"


async def test_trust_in_a_project_is_requested_once_and_again_after_a_change(
    environment: Environment, project: Path
) -> None:
    uri = (project / "a.py").as_uri()
    questions: list[str] = []

    def yes(params: Json) -> Json:
        if any(each["title"] == "Apply" for each in params["actions"]):  # no check ran it
            return {"title": "Apply"}
        questions.append(params["message"])
        return {"title": "Trust these actions"}

    async with editor(environment, **folders(project)) as client:
        client.answers["window/showMessageRequest"] = yes
        client.open(uri, "python", CODE)
        assert (await tidied(client, uri))["applied"] is True
        assert (await tidied(client, uri))["status"] in ("done", "refused")
        (question,) = questions
        assert str(project / ".stet.toml") in question
        assert "tidy (Tidy)" in question

        (project / ".stet.toml").write_text(TABLE.replace("Tidy {name}", "Send {name}"))
        await tidied(client, uri)
        assert len(questions) == 2

    async with editor(environment, **folders(project)) as client:
        client.answers["window/showMessageRequest"] = yes
        client.open(uri, "python", CODE)
        assert (await tidied(client, uri))["applied"] is True, "it is remembered"
    assert len(questions) == 2


async def test_a_refusal_of_trust_is_final(environment: Environment, project: Path, scripted: ScriptedModel) -> None:
    uri = (project / "a.py").as_uri()
    async with editor(environment, **folders(project)) as client:
        client.open(uri, "python", CODE)
        for _ in range(2):
            result = await tidied(client, uri)
            assert result["status"] == "refused"
            assert "you have not trusted" in result["message"]
        assert len(client.received("window/showMessageRequest")) == 1
    assert scripted.requests == []


async def test_an_unknown_custom_action_gets_a_hint(environment: Environment, project: Path) -> None:
    async with editor(environment, **folders(project)) as client:
        client.open("file:///a.py", "python", CODE)
        with pytest.raises(ErrorAnswer, match="did you mean 'document'"):
            await command(client, "stet.custom", action="documnt", uri="file:///a.py")
