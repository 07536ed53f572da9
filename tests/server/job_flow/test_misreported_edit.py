"""Clients that report something else than what became of the edit: what is seen in the document counts."""

from __future__ import annotations

from typing import Any

import pytest
from support.edits import AFTER, BEFORE, URI, Environment, refactored
from support.servers.client_documents import Applying
from support.servers.session import EGLOT, boxes, editor
from support.servers.wire import ErrorAnswer, Json

pytestmark = pytest.mark.usefixtures("model")


async def test_a_client_that_reports_success_without_a_change_is_detected(environment: Environment) -> None:
    async with editor(environment) as client:
        client.applying = Applying.CLAIMS
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", None)
        assert "did not appear" in result["message"]
        assert boxes(client) == [result["message"]]


async def test_a_visible_change_counts_as_applied_despite_the_response(environment: Environment) -> None:
    async with editor(environment) as client:
        client.applying = Applying.DENIES
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)


async def test_the_change_may_arrive_after_the_response(environment: Environment) -> None:
    async with editor(environment) as client:
        client.answers_before_change = True
        result = await refactored(client)

        assert result["applied"] is True


@pytest.mark.parametrize(
    ("applying", "reason"), [(Applying.REFUSES, "refused"), (Applying.FAILS, "User cancelled server edit")]
)
async def test_an_edit_that_the_client_rejects_is_not_applied(
    applying: Applying, reason: str, environment: Environment
) -> None:
    async with editor(environment, EGLOT) as client:
        client.applying = applying
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("refused", False)
        assert reason in result["message"]
        assert boxes(client) == [result["message"]]
        assert client.text(URI) == BEFORE


async def test_a_client_with_a_newer_version_gets_the_edit_again(environment: Environment) -> None:
    """Eglot lets a command overtake the didChange before it, refuses the old version, and sends the change then."""
    async with editor(environment, EGLOT) as client:
        honest = client.answers["workspace/applyEdit"]
        asked: list[Any] = []

        def ahead(params: Json) -> Json:
            asked.append(params["edit"]["documentChanges"][0]["textDocument"]["version"])
            if len(asked) > 1:
                return honest(params)  # type: ignore[no-any-return]
            client.replace(URI, "import sys\n", "import os\nimport sys\n")
            raise ErrorAnswer(-32603, "Edits on `a.py' require version 1, you have 2")

        client.answers["workspace/applyEdit"] = ahead
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)
        assert asked == [1, 2]
        assert client.text(URI) == AFTER.replace("import sys\n", "import os\nimport sys\n")


async def test_typing_between_sending_and_applying_is_never_lost(environment: Environment) -> None:
    """The versions differ, so an honest client refuses; Stet moves the edit and asks once more."""
    async with editor(environment) as client:
        honest = client.answers["workspace/applyEdit"]
        asked: list[Json] = []

        def typing(params: Json) -> Json:
            asked.append(params)
            if len(asked) == 1:
                client.replace(URI, "return sys.path", "return sys.path[:]")
            return honest(params)  # type: ignore[no-any-return]

        client.answers["workspace/applyEdit"] = typing
        result = await refactored(client)

        assert (result["status"], result["applied"]) == ("done", True)
        assert len(asked) == 2
        assert client.text(URI) == AFTER.replace("sys.path", "sys.path[:]")
