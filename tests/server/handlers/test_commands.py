"""Every command over the wire: what it answers, and how it names what is wrong with its argument."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint
from support.servers.session import (
    NEOVIM,
    NOTHING,
    VSCODE,
    boxes,
    command,
    editor,
    fenced,
    finish,
    health,
    lines,
    start,
)
from support.servers.wire import TIMEOUT, ErrorAnswer

EXAMPLE = "add(1, 2) == 3"
URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    total = a + b\n    return total\n"
NEW = "def add(a, b):\n    return a + b\n"
PROSE = "## What it does\n\n`add` returns the sum of its two arguments.\n"

ACTIONS = ("generate", "debug", "refactor", "analyze", "test", "explain", "optimize", "task")
COMMANDS = {
    *(f"stet.{action}" for action in ACTIONS),
    *(
        f"stet.{name}"
        for name in (
            "result",
            "verify",
            "target",
            "models",
            "download",
            "setup",
            "cancel",
            "retry",
            "apply",
            "custom",
            "clear",
            "evidence",
            "jobs",
            "health",
            "stats",
        )
    ),
    *(f"stet.{name}" for name in ("plan", "review", "tasks.list", "tasks.show", "tasks.resume")),
    *(f"stet.{name}" for name in ("showPrompt", "memory.search", "memory.stats", "memory.forget", "capabilities")),
}

Environment = Mapping[str, str]


@pytest.fixture
def environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The same, with the memory."""
    return {**environment, "STET_MEMORY_ENABLED": "true"}


async def test_the_server_reports_its_name_and_capabilities(environment: Environment) -> None:
    async with editor(environment) as client:
        assert client.initialize_result is not None
        capabilities = client.initialize_result["capabilities"]

        assert client.initialize_result["serverInfo"]["name"] == "stet"
        assert set(capabilities["executeCommandProvider"]["commands"]) == COMMANDS
        assert "quickfix.stet.debug" in capabilities["codeActionProvider"]["codeActionKinds"]
        listed = await command(client, "stet.capabilities")
        assert set(listed["commands"]) == COMMANDS
        assert {action["name"] for action in listed["actions"]} >= set(ACTIONS)
        assert "instruction" in listed["input"]["properties"]


async def test_an_action_answers_at_once_with_a_job(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = Reply(fenced(NEW), first_delay=60)
    async with editor(environment) as client:
        client.open(URI, "python", TEXT)
        job = await start(client, "refactor", uri=URI, range=lines(1))
        [row] = (await command(client, "stet.jobs"))["jobs"]
        assert (row["job"], row["action"], row["status"], row["uri"]) == (job, "refactor", "running", URI)
        unfinished = await command(client, "stet.result", job=job)
        assert unfinished == {
            "status": "running",
            "answer": None,
            "markdown": "",
            "message": "",
            "headline": "",
            "applied": None,
        }
        await command(client, "stet.cancel", job=job)


async def test_without_a_uri_the_document_last_used_is_the_target(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment) as client:
        with pytest.raises(ErrorAnswer, match="no document is open") as raised:
            await command(client, "stet.refactor")
        assert raised.value.code == -32602
        client.open(URI, "python", TEXT)
        client.open("file:///w/b.py", "python", "x = 1\n")
        context = {"diagnostics": []}
        await client.request(
            "textDocument/codeAction", {"textDocument": {"uri": URI}, "range": lines(0), "context": context}
        )
        result = await finish(client, await start(client, "refactor", range=lines(1)))

        assert result["applied"] is True
        assert "sure" in result["message"]
        assert "sure" not in result["headline"], "a status bar has room for what was done alone"
        assert client.text(URI) == NEW


async def test_null_arguments_are_treated_as_missing(environment: Environment) -> None:
    async with editor(environment) as client:
        for arguments in (None, [], [None], [{}]):
            answer = await client.request("workspace/executeCommand", {"command": "stet.jobs", "arguments": arguments})
            assert answer == {"jobs": []}


BAD_INPUT: list[tuple[str, dict[str, Any], str]] = [
    *((f"stet.{action}", {"instructoin": "x"}, "did you mean 'instruction'") for action in ACTIONS),
    *((f"stet.{action}", {"range": {"start": 1}}, "range.start") for action in ACTIONS),
    ("stet.refactor", {"budget": "free"}, "budget"),
    ("stet.refactor", {"uri": 7}, "uri"),
    ("stet.refactor", {"uri": "file:///nowhere/x.py"}, "uri: "),
    ("stet.refactor", {"range": lines(99)}, "range: line 99"),
    ("stet.refactor", {"position": {"line": 99, "character": 0}}, "position: line 99"),
    ("stet.result", {}, "job"),
    ("stet.result", {"job": "nope"}, "job: unknown job 'nope'"),
    ("stet.result", {"job": "nope", "wait": 1}, "wait"),
    ("stet.cancel", {}, "job"),
    ("stet.cancel", {"job": "nope"}, "job: unknown job 'nope'"),
    ("stet.apply", {"job": "nope"}, "job: unknown job 'nope'"),
    ("stet.retry", {"job": "nope"}, "job: unknown job 'nope'"),
    ("stet.retry", {"job": 1}, "job"),
    ("stet.custom", {}, "action"),
    ("stet.custom", {"action": "refactro"}, "refactor"),
    ("stet.showPrompt", {"action": "nonsense"}, "action: "),
    ("stet.showPrompt", {}, "action"),
    ("stet.jobs", {"all": True}, "all"),
    ("stet.health", {"deep": True}, "deep"),
    ("stet.stats", {"since": 1}, "since"),
    ("stet.capabilities", {"x": 1}, "x"),
    ("stet.memory.search", {}, "query"),
    ("stet.memory.search", {"query": "x", "limit": 0}, "limit"),
    ("stet.memory.stats", {"x": 1}, "x"),
    ("stet.memory.forget", {}, "id"),
    ("stet.memory.forget", {"id": "17"}, "id: unknown solution"),
    ("stet.refacter", {}, "did you mean 'stet.refactor'"),
]
"""A command, its argument, and what the answer has to name."""


async def test_a_field_that_does_not_exist_is_named_first(wired: Any) -> None:
    with pytest.raises(ErrorAnswer) as raised:
        await command(wired, "stet.refactor", rang=lines(1))

    assert raised.value.message == "rang: unknown field; did you mean 'range'?"


async def test_bad_input_is_named_in_one_sentence(wired: Any) -> None:
    for name, argument, named in BAD_INPUT:
        with pytest.raises(ErrorAnswer) as raised:
            await command(wired, name, **argument)

        error = raised.value
        assert (error.code, error.data) == (-32602, None), (name, argument, error)
        assert named in error.message, (name, argument)
        assert "\n" not in error.message
    assert boxes(wired) == []


@pytest.fixture
async def wired(environment: Environment) -> Any:
    """A client with one document open."""
    async with editor(environment) as client:
        client.open(URI, "python", TEXT)
        yield client


async def test_more_or_less_than_one_object_is_refused(wired: Any) -> None:
    for arguments in ([1], ["file:///w/a.py"], [{}, {}], [[]]):
        with pytest.raises(ErrorAnswer, match="one object") as raised:
            await wired.request("workspace/executeCommand", {"command": "stet.refactor", "arguments": arguments})
        assert raised.value.code == -32602


async def test_a_missing_instruction_says_how_to_give_one(wired: Any) -> None:
    result = await finish(wired, await start(wired, "generate", uri=URI, position={"line": 3, "character": 0}))

    assert result["status"] == "refused"
    assert "stet:" in result["message"]


async def test_retry_runs_the_job_again_with_other_words(scripted: ScriptedModel, wired: Any) -> None:
    scripted.default = "I would rather not."
    job = await start(wired, "refactor", uri=URI, range=lines(1), instruction="shorter")
    assert (await finish(wired, job))["status"] == "refused"
    asked = len(scripted.requests)
    scripted.default = fenced(NEW)
    again = await command(wired, "stet.retry", job=job, instruction="one line")
    result = await finish(wired, again["job"])

    assert again["job"] != job
    assert result["applied"] is True
    assert "one line" in scripted.requests[asked].prompt


async def test_an_example_as_the_instruction_of_a_retry_is_tried_on_the_same_edit(
    scripted: ScriptedModel, wired: Any
) -> None:
    """The reply to a question about an edit that no check ran; no further call is needed if it holds."""
    scripted.default = fenced(NEW)
    job = await start(wired, "refactor", uri=URI, range=lines(1), preview="always")
    assert (await finish(wired, job))["applied"] is False, "its question is closed without an answer"
    asked = len(scripted.requests)
    again = await command(wired, "stet.retry", job=job, instruction=EXAMPLE)
    result = await finish(wired, again["job"])

    assert len(scripted.requests) == asked, result["message"]
    assert result["answer"]["metadata"]["evidence_tier"] == "tested"


async def test_custom_runs_an_action_by_name(scripted: ScriptedModel, wired: Any) -> None:
    scripted.default = fenced(NEW)
    answer = await command(wired, "stet.custom", action="refactor", uri=URI, range=lines(1))

    assert (await finish(wired, answer["job"]))["applied"] is True


async def test_show_prompt_sends_no_request(scripted: ScriptedModel, wired: Any) -> None:
    shown = await command(wired, "stet.showPrompt", action="refactor", uri=URI, range=lines(1), instruction="shorter")

    assert scripted.requests == []
    assert {"messages", "tokens", "parts", "redactions", "left_out", "endpoint"} == set(shown)
    assert any("total = a + b" in message["content"] for message in shown["messages"])


async def test_health_names_the_model(scripted: ScriptedModel, wired: Any) -> None:
    assert scripted.models[0] in str(await health(wired))


async def test_stats_count_what_was_done(scripted: ScriptedModel, wired: Any) -> None:
    scripted.default = fenced(NEW)
    await finish(wired, await start(wired, "refactor", uri=URI, range=lines(1)))
    stats = await command(wired, "stet.stats")

    assert stats["jobs"] == {"done": 1}
    assert stats["actions"] == {"refactor": 1}
    assert stats["calls"] == 1
    assert stats["tokens"]["completion"] > 0


async def test_an_empty_memory_is_reported_as_empty(wired: Any) -> None:
    assert await command(wired, "stet.memory.search", query="sum") == {"solutions": [], "available": True}
    assert (await command(wired, "stet.memory.stats"))["solutions"] == 0


async def test_a_missing_model_is_reported_in_one_sentence(environment: Environment) -> None:
    with dead_endpoint() as nowhere:
        async with editor({**environment, "STET_BASE_URL": nowhere}) as client:
            client.open(URI, "python", TEXT)
            result = await finish(client, await start(client, "refactor", uri=URI, range=lines(1)))

            assert (result["status"], result["applied"]) == ("failed", False)
            assert boxes(client) == [result["message"]]
            assert client.received("window/showMessage")[0]["type"] == 1
            assert "\n" not in result["message"]
            assert client.text(URI) == TEXT


async def test_a_typo_in_the_project_file_is_reported_and_ignored(
    scripted: ScriptedModel, environment: Environment, tmp_path: Any
) -> None:
    scripted.default = fenced(NEW)
    (tmp_path / ".stet.toml").write_text("deadlin = 5\n")
    async with editor(environment, NEOVIM, rootUri=tmp_path.as_uri()) as client:
        client.open(URI, "python", TEXT)
        result = await finish(client, await start(client, "refactor", uri=URI, range=lines(1)))

        assert result["applied"] is True
        [reported] = boxes(client)
        assert "deadline" in reported
        assert ".stet.toml" in reported


async def test_a_changed_project_file_applies_to_the_next_job(
    scripted: ScriptedModel, environment: Environment, tmp_path: Any
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE, rootUri=tmp_path.as_uri()) as client:
        client.open(URI, "python", TEXT)
        (tmp_path / ".stet.toml").write_text('[editor]\npreview = "always"\n')
        await finish(client, await start(client, "refactor", uri=URI, range=lines(1)))

        [sent] = client.received("workspace/applyEdit")
        assert "changeAnnotations" in sent["edit"]


async def test_editor_settings_are_requested_or_sent_with_initialize(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    options = {"settings": {"editor": {"preview": "always"}}}
    async with editor(environment, NOTHING, initializationOptions=options, capabilities=APPLIES) as client:
        client.open(URI, "python", TEXT)
        await finish(client, await start(client, "refactor", uri=URI, range=lines(1)))

        assert len(client.received("window/showMessageRequest")) == 1


APPLIES = {"workspace": {"applyEdit": True}}


async def test_explain_shows_a_document_and_returns_markdown(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = PROSE
    async with editor(environment, NEOVIM) as client:
        client.open(URI, "python", TEXT)
        result = await finish(client, await start(client, "explain", uri=URI, range=lines(1)))

        assert result["status"] == "done"
        assert "returns the sum" in result["markdown"]
        assert result["applied"] is None
        [shown] = client.received("window/showDocument")
        assert shown["uri"].startswith("file://")
        assert shown["uri"].endswith(".md")
        assert client.text(URI) == TEXT


async def test_commands_do_not_wait_for_each_other(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = Reply(fenced(NEW), first_delay=60)
    async with editor(environment) as client:
        client.open(URI, "python", TEXT)
        job = await start(client, "refactor", uri=URI, range=lines(1))
        await asyncio.to_thread(scripted.wait_request, 1, TIMEOUT)
        calls = [client.call("workspace/executeCommand", {"command": "stet.jobs"}) for _ in range(50)]
        for call in calls:
            assert (await call)["jobs"][0]["job"] == job
        await command(client, "stet.cancel", job=job)
