"""Replies that give no edit, or no good one: repaired, refused or offered as refuted, and what is said of them."""

from __future__ import annotations

import pytest
from support.engine import Bench, code_reply
from support.projects.sign import SHORT, SIGN
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.errors import EndpointError


async def test_a_syntax_error_is_repaired_with_the_parsers_message(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.replies([Reply(code_reply("def sign(x):\n    return 1 if x > else -1")), Reply(code_reply(SHORT))])
    answer = await bench.run("refactor", SIGN)
    assert answer.success
    assert answer.metadata.calls == 2
    first, second = (request.body["messages"] for request in scripted.requests)
    assert second[: len(first)] == first, "a repair appends; the prefix stays for the cache"
    assert "syntax" in second[-1]["content"]


async def test_an_edit_that_never_parses_is_never_offered(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply("def sign(x:\n    return"))
    answer = await bench.run("refactor", SIGN)
    assert not answer.success
    assert answer.edits == ()
    assert len(scripted.requests) == 3
    assert answer.message.startswith("Refactor: no edit")
    assert (
        "No further repair: limit for this model reached (2 repairs). "
        "Raise the setting `checks.fix_attempts` to allow more."
    ) in answer.warnings


async def test_an_unchanged_reply_is_retried_at_a_higher_temperature_and_then_refused(
    bench: Bench, scripted: ScriptedModel
) -> None:
    scripted.default = Reply(code_reply("def sign(x):\n    if x > 0:\n        return 1\n    return -1"))
    answer = await bench.run("refactor", SIGN)
    assert not answer.success
    assert "unchanged" in answer.message
    warmth = [request.body["temperature"] for request in scripted.requests]
    assert warmth[1] > warmth[0]


async def test_a_refuted_edit_is_offered_as_refuted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply("def sign(x):\n    return signum(x)"))
    answer = await bench.run("refactor", SIGN)
    assert answer.refuted
    assert "names FAILED" in answer.message
    assert answer.confidence <= 0.1


@pytest.mark.parametrize("reply", ["", "Sure!", "I cannot help with that.", "<html><body>gateway</body></html>"])
async def test_a_reply_without_code_is_a_refusal(bench: Bench, scripted: ScriptedModel, reply: str) -> None:
    scripted.default = Reply(reply)
    try:
        answer = await bench.run("refactor", SIGN)
    except EndpointError:
        return  # nothing at all came: the endpoint's fault
    assert not answer.success
    assert answer.edits == ()
    assert answer.message


async def test_a_reply_in_words_is_quoted(bench: Bench, scripted: ScriptedModel) -> None:
    scripted.default = Reply("I cannot: the\nfile is \x1b[31m" + "long " * 40)
    answer = await bench.run("refactor", SIGN)
    assert 'The reply contains no code. It begins: "I cannot: the file is [31mlong long ' in answer.message
    assert answer.message.rstrip(".").endswith('…"')


async def test_an_incomplete_reply_is_distinguished_from_one_without_code(
    bench: Bench, scripted: ScriptedModel
) -> None:
    scripted.default = Reply(code_reply(SHORT), chunks=["PLAN: ", "compare ", "once.\n"], drop_after=2)
    answer = await bench.run("refactor", SIGN)
    assert "The reply stopped before any code: the endpoint " in answer.message
    assert "It begins" not in answer.message


async def test_a_reply_that_ended_within_the_code_names_the_endpoint(bench: Bench, scripted: ScriptedModel) -> None:
    """The model is not to blame, and another instruction would not help."""
    scripted.default = Reply(code_reply(SHORT), drop_after=8)
    answer = await bench.run("refactor", SIGN)
    assert "The reply stopped within the code: the endpoint " in answer.message
