"""A client that we did not write, with capabilities that others recorded: pytest-lsp's, for three kinds of editors."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from support.engine import code_reply
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

TEXT = "def sign(x):\n    if x > 0:\n        return 1\n    return -1\n"
URI = "file:///project/sign.py"


@pytest.fixture(autouse=True)
def endpoint(stet_home: Path, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server inherits; an autouse fixture, because the client's fixture starts it before all others."""
    monkeypatch.setenv("STET_BASE_URL", scripted.base_url)
    monkeypatch.setenv("STET_MODEL", scripted.models[0])


@pytest_lsp.fixture(
    params=["neovim@0.11", "visual-studio-code", "emacs"],
    config=ClientServerConfig(server_command=stet_argv("--stdio")),
)
async def client(request: pytest.FixtureRequest, client_: LanguageClient) -> AsyncIterator[None]:
    """An initialized session that looks at edits and applies none."""
    client_.edits = []

    @client_.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        client_.edits.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=False, failure_reason="this client only looks")

    @client_.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        """VS Code is asked to tell of changed settings."""

    capabilities = client_capabilities(request.param)
    await client_.initialize_session(types.InitializeParams(capabilities=capabilities, process_id=os.getpid()))
    yield
    await client_.shutdown_session()


async def test_an_action_runs_for_every_client(client: LanguageClient, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply("def sign(x):\n    return 1 if x > 0 else -1"))
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "python", 1, TEXT)))
    at = types.Range(types.Position(1, 4), types.Position(1, 4))
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(URI), at, types.CodeActionContext([]))
    )
    assert any("Refactor" in item.title for item in actions or [])
    # The command is written out: this client reads an action that carries a command as if it were the command itself.
    started = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("stet.refactor", [{"uri": URI, "position": {"line": 1, "character": 4}}])
    )
    result = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("stet.result", [{"job": started["job"], "wait": True}])
    )
    assert result["status"] == "refused"
    assert "this client only looks" in result["message"]
    (edit,) = client.edits
    texts = [each for change in edit.document_changes for each in change.edits]
    assert [each.new_text for each in texts] == ["return 1 if x > 0 else"], "no more is sent than what differs"
