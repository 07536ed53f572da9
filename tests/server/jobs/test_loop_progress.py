"""The loop of generate, test and fix as an editor sees it: every step is a line of the progress, in its order."""

from __future__ import annotations

import itertools
import re

import pytest
from support.engine import asks_for_tests, code_reply, reply_of_tests
from support.findings import editing
from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, begins_first, finish, lines, start
from support.servers.wire import TIMEOUT

from stet_ls.server.lsp import client_configuration

URI = "file:///w/solution.py"
HEAD = 'def first(values: list[int]) -> int:\n    """The first of the values; 0 for none."""\n'
CRASHES = f"{HEAD}    return values[0]\n"
GOOD = f"{HEAD}    return values[0] if values else 0\n"
TESTS = """\
from solution import first


def test_one():
    assert first([3, 4]) == 3


def test_none():
    assert first([]) == 0
"""
LOOP = ("planning", "writing", "running", "diagnosing", "asking scripted-7b again")
"""How the lines begin that are the loop's; what the judges say comes in between."""


@pytest.mark.timeout(300)
async def test_every_step_of_the_loop_is_reported(
    scripted: ScriptedModel, served_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_configuration, "CONFIGURATION_SECONDS", TIMEOUT)
    scripted.on(asks_for_tests, reply_of_tests(TESTS))
    scripted.on(lambda body: "That cannot be used" in str(body["messages"]), code_reply(GOOD))
    scripted.default = code_reply(CRASHES)
    async with editing(VSCODE) as client:
        begins_first(client)
        client.open(URI, "python", f"{HEAD}    ...\n")
        job = await start(client, "generate", uri=URI, range=lines(2), budget="thorough")
        await client.wait_for(lambda m: m.get("params", {}).get("value", {}).get("kind") == "end", timeout=240)
        result = await finish(client, job)
    if "code may not run" in str(result):
        pytest.skip(f"code cannot run here: {result['message']}")

    values = [each["value"] for each in client.received("$/progress")]
    messages = [
        re.sub(r"`|, by \w+| · .*|, \d+ s$", "", value["message"]) for value in values if value["kind"] == "report"
    ]
    loop = [
        line for line, _ in itertools.groupby(messages[messages.index("planning the tests") :]) if line.startswith(LOOP)
    ]
    assert loop == [
        "planning the tests",
        "writing tests from the specification: first",
        "running the tests: 2 tests",
        "diagnosing the failure: 1 pass, 1 logic",
        "asking scripted-7b again",
        "running the tests: 2 tests",
        "diagnosing the failure: 2 pass",
        "running the tests: 2 tests, twice more",
    ]
    assert [value["kind"] for value in values].count("end") == 1
    assert result["answer"]["code"].strip() == GOOD.strip()
