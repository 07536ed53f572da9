"""A server whose home cannot be written does its jobs, and its health names what is off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.findings import editing
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import NEOVIM, command, fenced, finish, health, start

HEAD = 'def add(a: int, b: int) -> int:\n    """The sum.\n\n    >>> add(1, 2)\n    3\n    """\n'
OLD = f"{HEAD}    total = a + b\n    return total\n"
NEW = f"{HEAD}    return a + b\n"


@pytest.fixture
def environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same, with the memory."""
    return {**environment, "STET_MEMORY_ENABLED": "true"}


async def test_a_job_with_an_unwritable_home_is_proven_and_health_lists_disabled_features(
    scripted: ScriptedModel, served_here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.write_text("in the way")
    monkeypatch.setenv("STET_HOME", str(home))
    scripted.default = Reply(fenced(NEW))
    file = tmp_path / "a.py"
    file.write_text(OLD)
    async with editing(NEOVIM, rootUri=tmp_path.as_uri()) as client:
        client.open(file.as_uri(), "python", OLD)
        results = []
        for _ in range(2):
            job = await start(client, "refactor", uri=file.as_uri(), position={"line": 6, "character": 4})
            results.append(await finish(client, job))
            client.replace(file.as_uri(), NEW.splitlines()[-1], "\n".join(OLD.splitlines()[-2:]))
        parts = (await health(client))["parts"]
        shown = await command(client, "stet.evidence", job=job)

    first, second = results
    assert (first["status"], second["status"]) == ("done", "done"), results
    checks = {line["check"]: line["verdict"] for line in first["answer"]["evidence"]}
    assert (checks["doctest"], checks["differential"]) == ("pass", "pass")
    off = f"`{home}` is not writable (Not a directory). Disabled until it is: the memory, job records, the ledger, "
    assert [warning.startswith(off) for warning in first["answer"]["warnings"]] == [True]
    assert second["answer"]["warnings"] == [], "it is said once"
    assert parts["folders"]["state"] == "broken"
    assert parts["folders"]["detail"].startswith(off)
    assert {name: parts[name]["state"] for name in ("memory", "ledger", "trace", "sandbox")} == {
        "memory": "broken", "ledger": "broken", "trace": "broken", "sandbox": "ok",
    }  # fmt: skip
    assert "code runs from a temporary folder" in parts["sandbox"]["detail"]
    assert "STET_HOME" in parts["folders"]["todo"]
    assert "differential" in shown["markdown"], "evidence is shown without its files"
