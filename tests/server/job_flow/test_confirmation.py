"""Asking before an edit is applied: by annotations, by a message, or by a plugin's own window."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.edits import AFTER, BEFORE, TARGET, URI, Environment
from support.servers.session import NEOVIM, VSCODE, editor, finish, start
from support.servers.wire import ErrorAnswer, Json

pytestmark = pytest.mark.usefixtures("model")


async def test_preview_always_annotates_the_edit_if_the_client_confirms_itself(environment: Environment) -> None:
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        [sent] = client.received("workspace/applyEdit")
        [annotation] = sent["edit"]["changeAnnotations"].values()
        assert annotation["needsConfirmation"] is True
        assert annotation["label"].startswith("Stet: Refactored `add`")
        assert annotation["label"].endswith(" · select to apply"), "the box next to it is empty"
        assert re.match(r"[\d-]+ % sure: .* Apply it\?$", annotation["description"])
        assert "Refactored" not in annotation["description"], "clients show both"
        assert all("annotationId" in edit for edit in sent["edit"]["documentChanges"][0]["edits"])
        assert not client.received("window/showMessageRequest")
        [shown] = client.received("window/showDocument")
        content = await client.request("workspace/textDocumentContent", {"uri": shown["uri"]})
        assert "- ✓ differential: " in content["text"], "the evidence is open next to the preview"
        assert result["applied"] is True


@pytest.mark.parametrize(("choice", "status"), [("Apply", "done"), ("Discard", "refused"), (None, "refused")])
async def test_preview_always_asks_with_a_message_otherwise(
    choice: str | None, status: str, environment: Environment
) -> None:
    async with editor(environment, NEOVIM) as client:
        client.answers["window/showMessageRequest"] = lambda params: choice and {"title": choice}
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        [asked] = client.received("window/showMessageRequest")
        assert [action["title"] for action in asked["actions"]] == ["Apply", "Show diff", "Show evidence", "Discard"]
        assert result["status"] == status
        assert client.text(URI) == (AFTER if status == "done" else BEFORE)


async def test_the_diff_is_shown_before_the_question_is_asked_again(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:
        titles = iter(["Show diff", "Apply"])
        client.answers["window/showMessageRequest"] = lambda params: {"title": next(titles)}
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        assert result["applied"] is True
        [shown] = client.received("window/showDocument")
        diff = Path(shown["uri"].removeprefix("file://")).read_text()
        assert "-    total = a + b" in diff
        assert "+    return a + b" in diff


def refuse(params: Json) -> None:
    raise ErrorAnswer(-32603, "no window today")


@pytest.mark.parametrize(
    ("choice", "status"),
    [
        (lambda params: "Apply", "done"),
        (lambda params: "Discard", "refused"),
        (lambda params: None, "refused"),
        (lambda params: {"title": "Apply"}, "refused"),
        (refuse, "refused"),
    ],
    ids=["yes", "no", "closed", "of another form", "failed"],
)
async def test_a_plugin_shows_the_edit_with_its_evidence_and_asks(
    choice: Callable[[Json], Any], status: str, environment: Environment
) -> None:
    options = {"plugin": {"name": "any", "offers": True}}
    async with editor(environment, NEOVIM, initializationOptions=options) as client:
        client.answers["stet/offer"] = choice
        client.open(URI, "python", BEFORE)
        job = await start(client, "refactor", uri=URI, range=TARGET, preview="always")
        result = await finish(client, job)

        [asked] = client.received("stet/offer")
        assert (asked["job"], asked["question"], asked["choices"]) == (job, "Apply it?", ["Apply", "Discard"])
        assert "- ✓ syntax: " in asked["markdown"]
        assert "-    total = a + b\n-    return total\n+    return a + b\n" in asked["markdown"]
        assert asked["markdown"].index("+    return a + b") < asked["markdown"].index("inputs_add.py")
        assert not client.received("window/showMessageRequest")
        assert result["status"] == status
        assert client.text(URI) == (AFTER if status == "done" else BEFORE)


async def test_typing_while_the_question_is_open_moves_the_edit(environment: Environment) -> None:
    async with editor(environment, NEOVIM) as client:

        def type_and_agree(params: Json) -> Json:
            client.replace(URI, "import sys\n", "import os\nimport sys\n")
            return {"title": "Apply"}

        client.answers["window/showMessageRequest"] = type_and_agree
        client.open(URI, "python", BEFORE)
        result = await finish(client, await start(client, "refactor", uri=URI, range=TARGET, preview="always"))

        assert result["applied"] is True
        assert client.text(URI) == AFTER.replace("import sys\n", "import os\nimport sys\n")
