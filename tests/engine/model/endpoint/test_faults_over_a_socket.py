"""Every way in which an endpoint can fail: what comes of it, and how many requests it costs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import SecretStr
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.api.events import Notice
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import EndpointError, Fault, NoModelError
from stet_ls.engine.settings.table_schemas import Provider

GOOD = Reply("fine")


@dataclass(frozen=True)
class Case:
    """A script, and the fault and the number of requests that it must come to (no fault: a completion)."""

    name: str
    script: Sequence[Reply]
    fault: Fault | None
    requests: int
    says: str = ""
    text: str = "fine"
    finish: str = "stop"

    @property
    def silent(self) -> bool:
        """It is given up after a while, and not for what it said."""
        return any(reply.first_delay or reply.stall_after is not None for reply in self.script)


CASES = (
    # Refused for good: one request.
    Case("401", [Reply.failure(401, "bad key"), GOOD], Fault.UNAUTHORIZED, 1, "bad key"),
    Case("403", [Reply.failure(403), GOOD], Fault.UNAUTHORIZED, 1, "403"),
    Case("402", [Reply.failure(402), GOOD], Fault.QUOTA, 1, "402"),
    Case("quota", [Reply.failure(429, "no money", code="insufficient_quota"), GOOD], Fault.QUOTA, 1, "no money"),
    Case("context", [Reply.failure(400, "too long", code="context_length_exceeded"), GOOD], Fault.CONTEXT, 1, "too lo"),
    Case("llama.cpp's context", [Reply.failure(400, "exceeds the available context size")], Fault.CONTEXT, 1),
    Case("400", [Reply.failure(400, "nonsense"), GOOD], Fault.BAD_REQUEST, 1, "nonsense"),
    Case("404", [Reply.failure(404, "no model x"), GOOD], Fault.NOT_FOUND, 1, "no model x"),
    Case("422", [Reply.failure(422, "bad body"), GOOD], Fault.BAD_REQUEST, 1, "bad body"),
    Case("redirect", [Reply.failure(307, location="http://192.0.2.1/v1"), GOOD], Fault.NOT_FOUND, 1, "redirects"),
    # Worth another try: up to three.
    Case("429 with Retry-After", [Reply.failure(429, retry_after="0.05"), GOOD], None, 2),
    Case("429 with a date", [Reply.failure(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), GOOD], None, 2),
    Case("429 for ever", [Reply.failure(429, retry_after="0.05")] * 4, Fault.RATE_LIMITED, 3),
    Case("429 beyond the deadline", [Reply.failure(429, retry_after="300"), GOOD], Fault.RATE_LIMITED, 1),
    Case("500, then fine", [Reply.failure(500), GOOD], None, 2),
    Case("500 for ever", [Reply.failure(500, "broken")] * 4, Fault.SERVER, 3, "broken"),
    # Bad content with 200, before any token: up to three.
    Case("a page", [Reply(mode="html")] * 4, Fault.MALFORMED, 3, "web page"),
    Case("a page once", [Reply(mode="html"), GOOD], None, 2),
    Case("cut JSON", [Reply("fine", mode="cut_json")] * 4, Fault.MALFORMED, 3, "invalid JSON"),
    Case("no choices in JSON", [Reply(raw=b'{"choices":[]}', mode="json")] * 4, Fault.MALFORMED, 3, "without choices"),
    Case("no choices in a stream", [Reply("fine", mode="no_choices")] * 4, Fault.EMPTY, 3),
    Case("malformed chunk at once", [Reply(mode="malformed")] * 4, Fault.MALFORMED, 3),
    Case("error event at once", [Reply(mode="error_event")] * 4, Fault.MALFORMED, 3, "the engine died"),
    Case("error object with 200", [Reply.failure(200, "sorry")] * 4, Fault.MALFORMED, 3, "sorry"),
    Case("a router's 401 with 200", [Reply.failure(200, "no", code="401")] * 2, Fault.UNAUTHORIZED, 1),
    Case("reset at once", [Reply("fine", drop_after=0)] * 4, Fault.MALFORMED, 3, "was lost"),
    Case("empty", [Reply("")] * 4, Fault.EMPTY, 3),
    Case("blank", [Reply(" \n ")] * 4, Fault.EMPTY, 3),
    Case("nothing but [DONE]", [Reply(raw=b"data: [DONE]\n\n")] * 4, Fault.EMPTY, 3),
    Case("an empty body", [Reply(raw=b"")] * 4, Fault.EMPTY, 3),
    Case("numbers for events", [Reply(raw=b"data: 5\n\ndata: null\n\ndata: []\n\n")] * 4, Fault.EMPTY, 3),
    # Silence is not asked twice.
    Case("never answers", [Reply("fine", first_delay=60), GOOD], Fault.NO_FIRST_TOKEN, 1),
    Case("a head and silence", [Reply("fine", first_delay=60, head_first=True), GOOD], Fault.NO_FIRST_TOKEN, 1),
    # After the first token nothing is asked again; what came is judged.
    Case("reset", [Reply("a b c", drop_after=2), GOOD], None, 1, "was lost", "a b ", "cut"),
    Case("stall", [Reply("a b c", stall_after=2), GOOD], None, 1, "stopped in the middle", "a b ", "cut"),
    Case("malformed chunk", [Reply("a b ", mode="malformed"), GOOD], None, 1, "invalid JSON", "a b ", "cut"),
    Case("error event", [Reply("a b ", mode="error_event"), GOOD], None, 1, "the engine died", "a b ", "cut"),
    Case("no finish", [Reply("a b ", finish=None), GOOD], None, 1, "too early", "a b ", "cut"),
    Case(
        "no finish, no [DONE]", [Reply("a b ", finish=None, no_done=True)], None, 1, "neither a finish", "a b ", "cut"
    ),
    Case("content filter", [Reply("a b ", finish="content_filter")], None, 1, "content_filter", "a b ", "cut"),
    Case("max_tokens", [Reply("a b ", finish="length")], None, 1, "", "a b ", "length"),
    Case("reset in thought", [Reply("a", reasoning="hm", drop_after=0), GOOD], Fault.MALFORMED, 1),
    Case("tokens spent in secret", [Reply("", finish="length"), GOOD], Fault.EMPTY, 1, "hidden reasoning"),
    # Odd, and fine.
    Case("JSON, no stream", [Reply("fine", mode="json")], None, 1, "does not stream"),
    Case("no [DONE]", [Reply("fine", no_done=True)], None, 1),
    Case("no usage", [Reply("fine", usage=False)], None, 1),
    Case("reasoning only", [Reply("", reasoning="```python\nx\n```")], None, 1, "reasoning", "```python\nx\n```"),
    Case("reasoning until the end", [Reply("", reasoning="hm", finish="length")], None, 1, "reasoning", "", "length"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_each_fault_has_its_outcome(
    case: Case, scripted: ScriptedModel, pool, provider: Provider, hasty: Provider
) -> None:
    asker = pool(hasty if case.silent else provider)
    scripted.replies(case.script)
    if case.fault is not None:
        with pytest.raises(EndpointError) as raised:
            await asker.ask()
        assert raised.value.fault is case.fault
        assert raised.value.endpoint == "scripted"
        assert case.says in str(raised.value)
        assert "\n" not in str(raised.value)
    else:
        completion = await asker.ask()
        assert (completion.text, completion.finish) == (case.text, case.finish)
        assert completion.requests == case.requests
        assert case.says in " ".join(completion.warnings)
        assert bool(completion.warnings) == bool(case.says)
    assert len(scripted.requests) == case.requests


async def test_a_refused_connection_is_reported_as_no_model(pool, provider: Provider) -> None:
    with dead_endpoint() as base_url:
        asker = pool(provider.model_copy(update={"base_url": base_url}))
        with pytest.raises(NoModelError, match=f"{re.escape(base_url)}.*connection refused.*start it"):
            await asker.ask()


async def test_the_deadline_ends_a_call(scripted: ScriptedModel, asker) -> None:
    scripted.replies([GOOD, Reply("fine", first_delay=60)])
    await asker.ask()  # loads what takes longer to load than the deadline is
    with pytest.raises(EndpointError) as raised:
        await asker.ask(deadline=1.5)
    assert raised.value.fault is Fault.DEADLINE
    assert len(scripted.requests) == 2


async def test_at_the_deadline_the_text_so_far_is_kept(scripted: ScriptedModel, asker) -> None:
    """Tokens that keep coming reset the stall's clock, never the deadline's."""
    scripted.replies([GOOD, Reply("a " * 1000, delay=0.05)])
    await asker.ask()
    completion = await asker.ask(deadline=2)
    assert completion.finish == "cut"
    assert completion.text.startswith("a a ")
    assert completion.seconds < 1000 * 0.05
    scripted.wait_disconnect()


async def test_slow_tokens_are_not_a_stall(scripted: ScriptedModel, pool, provider: Provider) -> None:
    """Each token has its own time limit: 5 × 1 s is longer than the 4 s between two."""
    scripted.reply("a b c d e", delay=1.0)
    assert (await pool(provider.model_copy(update={"timeout_token": 4.0})).ask()).finish == "stop"


async def test_keep_alive_messages_are_not_tokens(scripted: ScriptedModel, pool, hasty: Provider) -> None:
    scripted.reply(raw=[b": still here\n\n"] * 100, delay=0.05)
    with pytest.raises(EndpointError) as raised:
        await pool(hasty).ask()
    assert raised.value.fault is Fault.NO_FIRST_TOKEN


PROGRESS = b'data: {"choices":[{"delta":{}}],"prompt_progress":{"total":900,"processed":90}}\n\n'


async def test_a_server_that_reports_prompt_progress_is_not_silent(
    scripted: ScriptedModel, pool, provider: Provider
) -> None:
    """llama.cpp does with each batch: a long prompt on a busy machine is no fault."""
    scripted.reply(raw=[*[PROGRESS] * 12, _event("fine") + b"\n\n", b"data: [DONE]\n\n"], delay=0.4)
    assert (await pool(provider.model_copy(update={"timeout_first_token": 4.0})).ask()).text == "fine"


async def test_endless_prompt_processing_is_stopped_at_the_deadline(scripted: ScriptedModel, asker) -> None:
    scripted.reply(raw=[PROGRESS] * 100, delay=0.1)
    with pytest.raises(EndpointError) as raised:
        await asker.ask(deadline=1.5)
    assert raised.value.fault is Fault.DEADLINE


def _event(content: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'delta': {'content': content}}]}, ensure_ascii=False)}".encode()


async def test_a_stream_may_be_split_at_any_byte(scripted: ScriptedModel, asker) -> None:
    """CRLF events, comments, and a character of four bytes that arrives one by one."""
    end = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}'
    whole = b"\r\n\r\n".join([b": hello", _event("né"), _event("𝛼"), end, b"data: [DONE]", b""])
    scripted.reply(raw=[bytes([byte]) for byte in whole])
    completion = await asker.ask()
    assert (completion.text, completion.finish, completion.warnings) == ("né𝛼", "stop", ())


async def test_an_endless_reply_that_repeats_itself_is_stopped(scripted: ScriptedModel, asker) -> None:
    scripted.reply(chunks=["def f", "(x):\n", "    return x\n"], mode="endless")
    completion = await asker.ask(max_tokens=100_000)
    assert completion.finish == "cut"
    assert "repeats itself" in completion.warnings[0]
    assert len(completion.text) < 5000
    scripted.wait_disconnect()


async def test_an_endless_reply_that_ignores_max_tokens_is_stopped(scripted: ScriptedModel, asker) -> None:
    scripted.reply(chunks=[f"x{number} = {number * number}\n" for number in range(5000)], mode="endless")
    completion = await asker.ask(max_tokens=100)
    assert completion.finish == "cut"
    assert "100 tokens" in completion.warnings[0]
    assert len(completion.text) < 2000
    scripted.wait_disconnect()


async def test_a_call_waits_for_a_loading_server(scripted: ScriptedModel, asker) -> None:
    """llama.cpp answers 503 while it reads its weights; that is no fault, however often it says so."""
    loading = Reply.failure(503, "Loading model")
    scripted.replies([loading, loading, loading, Reply.failure(500), GOOD])
    completion = await asker.ask()
    assert completion.text == "fine"
    assert completion.requests == 5
    assert [event.message for event in asker.events if isinstance(event, Notice)] == [
        f"scripted ({scripted.base_url}) is still loading its model."
    ]


async def test_a_retry_is_announced_with_its_reason(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(429, "slow down", retry_after="1"), GOOD])
    await asker.ask()
    assert [event.message for event in asker.events if isinstance(event, Notice)] == [
        f"scripted ({scripted.base_url}) limits the request rate (429): slow down; retrying in 1 s."
    ]


@dataclass(frozen=True)
class Refused:
    """A complaint about a parameter, and the body that must follow it and every later request."""

    name: str
    reply: Reply
    absent: tuple[str, ...]
    present: dict[str, object] = field(default_factory=dict)


REFUSED = (
    Refused("stream_options", Reply.failure(400, "Unknown field stream_options"), ("stream_options",)),
    Refused("temperature", Reply.failure(400, "'temperature' does not support 0.2"), ("temperature",)),
    Refused(
        "max_tokens",
        Reply.failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("max_tokens", "temperature"),
        {"max_completion_tokens": 400},
    ),
    Refused("too many", Reply.failure(400, "max_tokens is too large: 400. At most 300."), (), {"max_tokens": 300}),
    Refused("by 422", Reply.failure(422, "extra field stream_options not permitted"), ("stream_options",)),
)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
async def test_a_refused_parameter_is_dropped_once_and_remembered(
    case: Refused, scripted: ScriptedModel, asker
) -> None:
    scripted.replies([case.reply, GOOD, GOOD])
    assert (await asker.ask()).requests == 2
    assert (await asker.ask()).requests == 1
    for request in scripted.requests[1:]:
        assert not set(case.absent) & set(request.body)
        assert case.present.items() <= request.body.items()


async def test_a_second_refusal_is_final(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(400, "stream_options?"), Reply.failure(400, "temperature?"), GOOD])
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    assert raised.value.fault is Fault.BAD_REQUEST
    assert len(scripted.requests) == 2


async def test_a_reply_that_does_not_fit_is_requested_with_a_lower_limit(scripted: ScriptedModel, asker) -> None:
    complaint = (
        "This model's maximum context length is 1000 tokens. However, you requested 1100 tokens "
        "(700 in the messages, 400 in the completion). Please reduce the length."
    )
    scripted.replies([Reply.failure(400, complaint, code="context_length_exceeded"), GOOD])
    assert (await asker.ask()).requests == 2
    assert scripted.requests[1].body["max_tokens"] == 300


LONG = (Message("user", "word " * 4000),)


async def test_a_truncated_prompt_is_reported(scripted: ScriptedModel, asker) -> None:
    scripted.reply("fine", usage=(2048, 1))
    assert "cut the prompt" in (await asker.ask(LONG)).warnings[0]


async def test_a_complete_prompt_is_not_reported_as_truncated(scripted: ScriptedModel, asker) -> None:
    scripted.reply("fine", usage=(4012, 1))
    assert (await asker.ask(LONG)).warnings == ()


async def test_a_missing_usage_count_is_not_a_fault(scripted: ScriptedModel, asker) -> None:
    """Some proxies keep the line open after the model has said that it is done."""
    pieces = [_event("fine") + b"\n\n", b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n']
    scripted.reply(raw=[*pieces, *[b": ping\n\n"] * 1000], delay=0.05)
    completion = await asker.ask()
    assert (completion.text, completion.finish, completion.warnings) == ("fine", "stop", ())
    assert completion.seconds < 1000 * 0.05


KEY = "sk-test-0123456789abcdef"


@pytest.mark.parametrize("padding", [0, 185, 192, 1985, 1995])
async def test_no_message_contains_the_key(
    padding: int, scripted: ScriptedModel, pool: Callable, provider: Provider, caplog
) -> None:
    """Whatever the server echoes, and wherever its words are shortened."""
    caplog.set_level("DEBUG")
    asker = pool(provider.model_copy(update={"api_key": SecretStr(KEY)}))
    scripted.replies([Reply.failure(401, "x" * padding + KEY), Reply("a ", mode="error_event", error={"message": KEY})])
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    completion = await asker.ask()
    health = await asker.models.health()
    shown = f"{raised.value} {raised.value.__cause__!r} {completion} {health} {asker.events} {caplog.text}"
    assert scripted.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "[key]" in shown
    assert KEY[:12] not in shown


async def test_no_message_contains_a_password_of_the_address(scripted: ScriptedModel, pool, provider: Provider) -> None:
    address = scripted.base_url.replace("http://", "http://me:hunter2@")
    asker = pool(provider.model_copy(update={"base_url": address}))
    scripted.reply(mode="error", status=401, error={"message": "hunter2 is wrong"})
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    assert "hunter2" not in f"{raised.value} {await asker.models.health()}"


@pytest.mark.parametrize(
    ("update", "fault"),
    [
        ({"api_key": SecretStr("schlüssel–„")}, Fault.BAD_REQUEST),
        ({"base_url": "127.0.0.1:8000/v1"}, Fault.BAD_REQUEST),
    ],
    ids=["a key that no header can carry", "an address without a scheme"],
)
async def test_a_request_that_cannot_be_encoded_is_reported(
    update: dict, fault: Fault, pool, provider: Provider
) -> None:
    with pytest.raises(EndpointError) as raised:
        await pool(provider.model_copy(update=update)).ask()
    assert raised.value.fault is fault


async def test_a_hostile_message_stays_on_one_short_line(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(400, "\x1b[31mred\x1b[0m\r\n\n" + "very " * 1000)])
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400
