"""A box that is weaker than its user wants is a question, whose answer holds until the server ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.servers.scripted import ScriptedModel
from support.servers.session import editor, fenced, finish, start

from stet_ls.engine.sandbox.linux import landlock

pytestmark = pytest.mark.skipif(not landlock.abi(), reason="the kernel has no Landlock, the box that is strong alone")

URI = "untitled:a.py"
TEXT = "def double(a):\n    return a * 3\n"


async def debugged(environment: Mapping[str, str], answers: list[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """The questions of two jobs for which `full` is wanted and `strong` is there, and their results."""
    Path(environment["STET_HOME"], "config.toml").write_text(
        '[sandbox]\nminimum_level = "full"\nbackend = "landlock"\n'
    )
    asked: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, str] | None:
        if "isolation" not in params["message"]:
            return None
        asked.append(params["message"])
        return {"title": answers.pop(0)}

    async with editor(environment) as client:
        client.answers["window/showMessageRequest"] = answer
        client.open(URI, "python", TEXT)
        results = []
        for _ in range(2):
            job = await start(client, "debug", uri=URI, position={"line": 0, "character": 4}, preview="never")
            results.append(await finish(client, job))
        return asked, results


@pytest.mark.parametrize("says", ["Run it anyway", "No"])
async def test_the_same_permission_is_requested_once(
    environment: Mapping[str, str], scripted: ScriptedModel, says: str
) -> None:
    scripted.default = fenced("def double(a):\n    return a * 2")

    asked, results = await debugged(environment, [says])

    assert len(asked) == 1
    assert "Run code that a model wrote in landlock (strong)? Your settings require isolation full" in asked[0]
    assert len(asked[0]) < 400, "the reasons, which are long, are what `stet sandbox probe` shows"
    ran = any(each["check"] == "agreement" for each in results[0]["answer"]["evidence"])
    assert ran is (says != "No"), "samples are compared by running them"
