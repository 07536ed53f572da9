"""The protocol after its corrections; test_stock_pygls.py shows what each correction is for."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from support.servers.inprocess import connected
from support.servers.probe_server import hardened
from support.servers.probing import command, error_of, started
from support.servers.wire import RECORDED, ErrorAnswer, recorded

URI = "file:///nowhere/a.py"


# Cancellation and shutdown


async def test_a_cancel_reaches_the_command_and_is_answered_once() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        call = await started(client, "block")
        client.cancel(call)
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call
        await client.wait_for(lambda m: m.get("params") == {"state": "cancelled"})


async def test_a_cancel_reaches_a_feature() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        place = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        call = client.call("textDocument/hover", place)
        await client.wait_for(lambda m: m.get("params") == {"state": "started"})
        client.cancel(call)
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call


async def test_a_command_whose_task_is_cancelled_by_the_server_is_answered() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        assert (await error_of(client, "workspace/executeCommand", command("cancel_itself"))).code == -32800


async def test_cancelling_an_unknown_request_is_harmless() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.notify("$/cancelRequest", {"id": 99})
        client.notify("$/cancelRequest", {"id": "strange"})
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}


async def test_shutdown_waits_until_the_work_has_cleaned_up_and_answers_everything() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        calls = [client.call("workspace/executeCommand", command("linger")) for _ in range(3)]
        await client.wait_for(lambda m: len(client.received("probe/state")) == 3)
        await client.request("shutdown")
        assert client.received("probe/state")[3:] == [{"state": "cleaned up"}] * 3
        for call in calls:
            assert call.future.done()
            with pytest.raises(ErrorAnswer, match="-32800"):
                await call


# Phases


async def test_requests_before_initialize_are_refused_and_notifications_dropped() -> None:
    async with connected(hardened()) as client:
        client.open(URI, "python", "x")
        assert (await error_of(client, "workspace/executeCommand", command("texts"))).code == -32002
        assert (await error_of(client, "shutdown")).code == -32002
        await client.initialize()
        assert await client.request("workspace/executeCommand", command("texts")) == {}


async def test_requests_after_shutdown_are_refused() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        await client.request("shutdown")
        assert (await error_of(client, "workspace/executeCommand", command("texts"))).code == -32600
        assert (await error_of(client, "shutdown")).code == -32600


async def test_a_second_initialize_is_refused() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        assert (await error_of(client, "initialize", {"capabilities": {}, "processId": None})).code == -32600


# Bad messages


async def test_malformed_params_are_answered_with_the_names_of_their_fields() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        params = {"textDocument": {}, "range": {"start": {"line": "a", "character": 0}}, "context": {"diagnostics": 5}}
        error = await error_of(client, "textDocument/codeAction", params)
        assert error.code == -32602
        for name in ("params.textDocument.uri", "params.range.start.line", "params.range.end", "context.diagnostics"):
            assert name in error.message
        assert (await error_of(client, "textDocument/codeAction")).code == -32602
        assert (await error_of(client, "textDocument/codeAction", [1, 2])).code == -32602
        assert not client.received("window/showMessage")


async def test_unknown_requests_are_refused_and_unknown_notifications_ignored() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        assert (await error_of(client, "no/such", {"a": 1})).code == -32601
        assert (await error_of(client, "$/strange")).code == -32601
        client.notify("no/such", {"a": {"type_name": 7}})
        client.notify("$/strange")
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}


async def test_an_invalid_message_is_answered_with_a_null_id() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        for body in ("{nope", "[]", "7", '{"id": 1, "method": "shutdown"}', "[" * 100_000):
            since = client.mark()
            client.send_body(body)
            answer = await client.wait_for(lambda m: "error" in m, since=since)
            assert answer["id"] is None
            assert answer["error"]["code"] in (-32700, -32600)
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}


async def test_a_nested_jsonrpc_key_is_just_a_key() -> None:
    async with connected(hardened()) as client:
        await client.initialize(initializationOptions={"a": {"jsonrpc": "2.0", "id": 1, "method": "exit"}})
        client.notify("workspace/didChangeConfiguration", {"settings": {"jsonrpc": "2.0", "method": "exit"}})
        argument = {"text": "a", "more": {"jsonrpc": "2.0", "id": 3}}
        assert await client.request("workspace/executeCommand", command("echo", argument)) == {"text": "a"}


async def test_values_of_a_newer_specification_do_not_make_a_message_unreadable() -> None:
    async with connected(hardened()) as client:
        capabilities = {
            "workspace": {
                "symbol": {"symbolKind": {"valueSet": [1, 99]}},
                "workspaceEdit": {"resourceOperations": ["create", "teleport"], "failureHandling": "hope"},
            },
            "general": {"positionEncodings": ["utf-9", "utf-8"]},
        }
        result = await client.initialize(capabilities)
        assert result["capabilities"]["positionEncoding"] == "utf-8"
        here = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        context = {"diagnostics": [], "triggerKind": 9}
        params = {"textDocument": {"uri": URI}, "range": here, "context": context}
        assert await client.request("textDocument/codeAction", params) == [{"title": "9"}]


# Failures of handlers


async def test_a_bug_is_answered_without_its_text_and_without_paths() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        error = await error_of(client, "workspace/executeCommand", command("fail"))
        assert error.code == -32603
        assert error.data is None
        assert "hunter2" not in error.message
        assert "probe_server" not in error.message


async def test_a_failing_notification_shows_no_message_box() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        await client.request("workspace/executeCommand", command("texts"))
        assert not client.received("window/showMessage")


async def test_a_result_that_cannot_be_serialized_is_answered_with_an_error() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        assert (await error_of(client, "workspace/executeCommand", command("unserializable"))).code == -32603


async def test_a_server_request_that_cannot_be_serialized_fails_its_waiter() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        said = await client.request("workspace/executeCommand", command("malformed"))
        assert "cannot be written" in said


# Commands


async def test_commands_are_advertised() -> None:
    async with connected(hardened()) as client:
        result = await client.initialize()
        names = result["capabilities"]["executeCommandProvider"]["commands"]
        assert "probe.echo" in names
        assert names == sorted(names)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (command("ecko"), "did you mean 'probe.echo'"),
        ({"command": "elsewhere"}, "Unknown command 'elsewhere'"),
        (command("echo", {"text": "a"}, {"text": "b"}), "expects one object"),
        (command("echo", "a"), "expects one object"),
        (command("echo", ["a"]), "expects one object"),
        (command("echo", {"text": 5}), "text: "),
        (command("echo", {"text": "a", "count": "many"}), "count: "),
        (command("texts", {"what": 1}), "what: "),
    ],
)
async def test_bad_commands_are_invalid_params_that_say_what_is_wrong(params: dict[str, Any], said: str) -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        error = await error_of(client, "workspace/executeCommand", params)
        assert error.code == -32602
        assert said in error.message


@pytest.mark.parametrize("arguments", [None, [], [None], [{}]])
async def test_an_argument_can_be_left_out_in_every_way(arguments: Any) -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        params = {"command": "probe.echo"} if arguments is None else {"command": "probe.echo", "arguments": arguments}
        assert await client.request("workspace/executeCommand", params) == {"text": ""}


async def test_a_command_works_on_the_text_that_was_there_when_it_was_sent() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.open(URI, "python", "before")
        request = {"jsonrpc": "2.0", "id": 700, "method": "workspace/executeCommand", "params": command("snapshot")}
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "after"}]}
        notification = {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change}
        client.send(request, notification)
        answer = await client.wait_for(lambda m: m.get("id") == 700)
        assert (answer["result"]["text"], answer["result"]["version"]) == ("before", 1)
        client.problems.clear()  # the client did not know of a request 700


# Requests of the server


async def test_a_late_response_to_an_abandoned_request_is_harmless() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        asked: list[Any] = []
        client.answers["window/showMessageRequest"] = lambda params: never(asked, params)
        call = client.call("workspace/executeCommand", command("ask"))
        question = await client.wait_for(lambda m: m.get("method") == "window/showMessageRequest")
        client.cancel(call)
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"title": "yes"}})
        client.send({"jsonrpc": "2.0", "id": "no one asked", "result": None})
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}


async def never(asked: list[Any], params: Any) -> None:
    asked.append(params)
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"result": {"applied": True}}, {"applied": True}),
        ({"result": {"applied": True}, "error": None}, {"applied": True}),
        ({"error": {"code": -32603, "message": "declined"}}, {"error": "declined"}),
        ({"result": {"unheard": "of"}}, "params"),
        ({"result": 5}, "Cannot read"),
        ({"error": "no object"}, "Cannot read"),
    ],
)
async def test_every_answer_reaches_its_waiter(answer: dict[str, Any], result: Any) -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.answers["workspace/applyEdit"] = lambda params: never([], params)
        call = client.call("workspace/executeCommand", command("apply"))
        question = await client.wait_for(lambda m: m.get("method") == "workspace/applyEdit")
        client.send({"jsonrpc": "2.0", "id": question["id"], **answer})
        got = await call
        if isinstance(result, str):
            assert "Cannot read" in got["error"]
        else:
            assert got == result


async def test_a_cancel_of_a_progress_that_comes_with_its_creation_is_not_lost() -> None:
    async with connected(hardened()) as client:
        await client.initialize()
        client.answers["window/workDoneProgress/create"] = lambda params: never([], params)
        call = client.call("workspace/executeCommand", command("progress"))
        question = await client.wait_for(lambda m: m.get("method") == "window/workDoneProgress/create")
        client.send(
            {"jsonrpc": "2.0", "id": question["id"], "result": None},
            {"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": "token"}},
        )
        assert await call == "cancelled, 0 tokens left"


# What is offered


async def test_virtual_documents_are_advertised_and_served() -> None:
    async with connected(hardened()) as client:
        result = await client.initialize()
        assert result["capabilities"]["workspace"]["textDocumentContent"] == {"schemes": ["probe"]}
        assert await client.request("workspace/textDocumentContent", {"uri": "probe:a"}) == {"text": "text of probe:a"}


@pytest.mark.parametrize("name", RECORDED)
async def test_every_recorded_editor_can_initialize(name: str) -> None:
    async with connected(hardened()) as client:
        result = await client.initialize(**recorded(name))
        offered = (recorded(name)["capabilities"].get("general") or {}).get("positionEncodings") or ["utf-16"]
        assert result["capabilities"]["positionEncoding"] == offered[0]


async def test_bodies_are_kept_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with connected(hardened()) as client:
        await client.initialize(initializationOptions="hunter2")
        client.notify("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "hunter2", "version": "hunter2"}})
        await error_of(client, "textDocument/codeAction", {"textDocument": "hunter2", "range": "hunter2"})
        await error_of(client, "workspace/executeCommand", command("echo", {"text": ["hunter2"]}))
        client.send({"jsonrpc": "1.0", "method": "hunter2"})
        client.open(URI, "python", "hunter2")
        await client.request("workspace/executeCommand", command("texts"))
    assert caplog.messages
    assert "hunter2" not in caplog.text
