"""Each way of failing with one, two and three endpoints: which is asked, how often, and what the user reads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.api.events import Notice
from stet_ls.engine.errors import EndpointError, Fault, ModelError, NoModelError
from stet_ls.engine.model.endpoint.circuit_breaker import Breaker, BreakerState
from stet_ls.engine.settings.schema import ModelSettings
from stet_ls.engine.settings.table_schemas import Provider

GOOD = Reply("fine")
Endpoints = Callable[[int], list[tuple[ScriptedModel, Provider]]]


@pytest.fixture
def endpoints() -> Iterator[Endpoints]:
    """Makes running servers, each with its provider with long timeouts: first, second, third."""
    with ExitStack() as stack:

        def make(count: int) -> list[tuple[ScriptedModel, Provider]]:
            servers = [stack.enter_context(ScriptedModel()) for _ in range(count)]
            names = ("first", "second", "third")
            return [(server, _provider(name, server.base_url)) for name, server in zip(names, servers, strict=False)]

        yield make


def _provider(name: str, base_url: str) -> Provider:
    return Provider(name=name, base_url=base_url, model="m-7b", timeout_first_token=60.0, timeout_token=60.0)


def _hasty(provider: Provider, timeout: float = 1.5) -> Provider:
    """One that must be found silent; those that answer may take what a busy machine takes."""
    return provider.model_copy(update={"timeout_first_token": timeout, "timeout_token": timeout})


@dataclass(frozen=True)
class Row:
    """A row of the table of faults: what an endpoint answers, and what comes of it alone.

    `fault` None: it serves, after so many requests, and no one else is asked.
    """

    name: str
    script: Sequence[Reply]
    fault: Fault | None
    requests: int
    says: str = ""

    def asked(self, provider: Provider) -> Provider:
        """The provider of an endpoint that answers so."""
        silent = any(reply.first_delay or reply.stall_after is not None for reply in self.script)
        return _hasty(provider) if silent else provider


MESSAGE = b'{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}'
ROWS = (
    Row("429 with Retry-After, then fine", [Reply.failure(429, retry_after="0.05"), GOOD], None, 2),
    Row("429 with Retry-After 300", [Reply.failure(429, "busy", retry_after="300")], Fault.RATE_LIMITED, 1, "busy"),
    Row("429 with an absurd Retry-After", [Reply.failure(429, retry_after="1e99")], Fault.RATE_LIMITED, 1, "429"),
    Row("429, quota", [Reply.failure(429, "no money", code="insufficient_quota")], Fault.QUOTA, 1, "no money"),
    Row("500", [Reply.failure(500, "broken")] * 3, Fault.SERVER, 3, "broken"),
    Row("400, context", [Reply.failure(400, code="context_length_exceeded")], Fault.CONTEXT, 1, "of this length"),
    Row("400", [Reply.failure(400, "nonsense")], Fault.BAD_REQUEST, 1, "nonsense"),
    Row("401", [Reply.failure(401, "who?")], Fault.UNAUTHORIZED, 1, "who?"),
    Row("403", [Reply.failure(403, "not you")], Fault.UNAUTHORIZED, 1, "not you"),
    Row("404", [Reply.failure(404, "no model")], Fault.NOT_FOUND, 1, "no model"),
    Row("422", [Reply.failure(422, "odd body")], Fault.BAD_REQUEST, 1, "odd body"),
    Row("never answers", [Reply("fine", first_delay=60)], Fault.NO_FIRST_TOKEN, 1, "did not start"),
    Row("a page with 200", [Reply(mode="html")] * 3, Fault.MALFORMED, 3, "web page"),
    Row("a page said to be a stream", [Reply(raw=b"<html>hello</html>")] * 3, Fault.MALFORMED, 3, "web page"),
    Row("cut JSON", [Reply("fine", mode="cut_json")] * 3, Fault.MALFORMED, 3, "invalid JSON"),
    Row("a malformed chunk", [Reply(mode="malformed")] * 3, Fault.MALFORMED, 3, "invalid JSON"),
    Row("an error with 200", [Reply.failure(200, "sorry")] * 3, Fault.MALFORMED, 3, "sorry"),
    Row("no choices", [Reply("fine", mode="no_choices")] * 3, Fault.EMPTY, 3, "empty"),
    Row("an error event", [Reply(mode="error_event")] * 3, Fault.MALFORMED, 3, "the engine died"),
    Row("RST before a token", [Reply("fine", drop_after=0)] * 3, Fault.MALFORMED, 3, "was lost"),
    # What came is judged, and no endpoint is asked for it again.
    Row("nothing but reasoning", [Reply("", reasoning="x = 1")], None, 1, "only reasoning"),
    Row("no finish, no [DONE]", [Reply("fi ne", finish=None, no_done=True)], None, 1, "neither a finish reason"),
    Row("JSON where a stream was asked", [Reply("fine", mode="json")], None, 1, "does not stream"),
    Row("JSON said to be a stream", [Reply(raw=MESSAGE)], None, 1, "does not stream"),
    Row("RST in mid-stream", [Reply("a b c", drop_after=2)], None, 1, "was lost"),
    Row("an error event in mid-stream", [Reply("a b", mode="error_event")], None, 1, "the engine died"),
    Row("a stall after a token", [Reply("a b c", stall_after=1)], None, 1, "stopped in the middle"),
    Row("nine slow tokens", [Reply("a b c d e f g h i", delay=0.1)], None, 1),
    Row("keep-alives, CRLF, no last blank line", [Reply(raw=b": hi\r\n\r\ndata: " + MESSAGE)], None, 1),
)
FAULTY = [row for row in ROWS if row.fault is not None]
SERVING = [row for row in ROWS if row.fault is None]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("row", FAULTY, ids=lambda row: row.name)
async def test_if_all_endpoints_fail_each_is_tried_by_its_rules_and_named(
    row: Row, count: int, endpoints: Endpoints, pool: Callable
) -> None:
    made = endpoints(count)
    for server, _ in made:
        server.replies(row.script)
        server.default = Reply("asked too often")
    asker = pool(*(row.asked(provider) for _, provider in made))
    with pytest.raises(EndpointError) as raised:
        await asker.ask()
    assert raised.value.fault is row.fault
    assert [len(server.requests) for server, _ in made] == [row.requests] * count
    messages = str(raised.value)
    assert messages.count(row.says) >= count
    assert all(provider.base_url in messages for _, provider in made)
    assert "\n" not in messages


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("row", FAULTY, ids=lambda row: row.name)
async def test_an_answer_of_the_last_endpoint_says_why(
    row: Row, count: int, endpoints: Endpoints, pool: Callable
) -> None:
    made = endpoints(count)
    *failing, (last, provider) = made
    for server, _ in failing:
        server.replies(row.script)
        server.default = Reply("asked too often")
    last.default = GOOD
    asker = pool(*(row.asked(failing) for _, failing in failing), provider)
    completion = await asker.ask()
    assert (completion.text, completion.endpoint) == ("fine", provider.name)
    assert completion.requests == row.requests * len(failing) + 1
    assert [len(server.requests) for server, _ in failing] == [row.requests] * len(failing)
    assert len(completion.warnings) == len(failing)
    for (_, failed), warning in zip(failing, completion.warnings, strict=True):
        assert warning.startswith(f"{failed.name} ({failed.base_url}) ")
        assert row.says in warning
        assert warning.endswith(f". Used {provider.name} ({provider.base_url}) instead.")
    messages = [event.message for event in asker.events if isinstance(event, Notice) and "instead" in event.message]
    assert [row.says in message for message in messages] == [True] * len(failing)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("row", SERVING, ids=lambda row: row.name)
async def test_an_endpoint_that_sent_text_is_not_replaced(
    row: Row, count: int, endpoints: Endpoints, pool: Callable
) -> None:
    (first, provider), *others = endpoints(count)
    first.replies(row.script)
    completion = await pool(row.asked(provider), *(other for _, other in others)).ask()
    assert (completion.endpoint, completion.requests) == ("first", row.requests)
    assert row.says in " ".join(completion.warnings)
    assert bool(completion.warnings) == bool(row.says)
    assert [len(server.requests) for server, _ in others] == [0] * len(others)


async def test_a_refused_connection_moves_on_to_the_next_endpoint(endpoints: Endpoints, pool: Callable) -> None:
    ((server, provider),) = endpoints(1)
    server.default = GOOD
    with dead_endpoint() as base_url:
        completion = await pool(_provider("dead", base_url), provider).ask()
        assert completion.endpoint == "first"
        assert "connection refused" in completion.warnings[0]
        with pytest.raises(NoModelError, match=r"dead .*refused.*other .*refused"):
            await pool(_provider("dead", base_url), _provider("other", base_url)).ask()


async def test_a_hanging_first_endpoint_leaves_time_for_the_others(endpoints: Endpoints, pool: Callable) -> None:
    """However patient its own limit is."""
    made = endpoints(3)
    for server, _ in made[:2]:
        server.default = Reply("never", first_delay=60)
    made[2][0].default = GOOD
    completion = await pool(*(provider for _, provider in made)).ask(deadline=9)
    assert completion.endpoint == "third"


async def test_a_single_endpoint_has_all_the_time(scripted: ScriptedModel, pool: Callable, provider: Provider) -> None:
    scripted.reply("fine", first_delay=5)
    assert (await pool(provider).ask(deadline=9)).text == "fine"


async def test_an_endpoint_that_has_begun_may_use_the_time_of_the_others(endpoints: Endpoints, pool: Callable) -> None:
    made = endpoints(2)
    made[0][0].reply("a " * 12, delay=0.4)
    completion = await pool(*(provider for _, provider in made)).ask(deadline=9)
    assert (completion.endpoint, completion.finish) == ("first", "stop")


@pytest.mark.parametrize("count", [1, 2])
async def test_a_long_retry_after_skips_the_endpoint(count: int, endpoints: Endpoints, pool: Callable) -> None:
    """Neither with the long deadline of an endpoint that no one measured."""
    made = endpoints(count)
    made[0][0].replies([Reply.failure(429, "slow down", retry_after="60")])
    made[-1][0].default = GOOD
    asker, clock = pool(*(provider for _, provider in made)), asyncio.get_running_loop().time
    began = clock()
    if count == 1:
        with pytest.raises(EndpointError, match=r"limits the request rate.*slow down"):
            await asker.ask(deadline=300)
    else:
        assert (await asker.ask(deadline=300)).endpoint == "second"
    assert clock() - began < 60
    assert len(made[0][0].requests) == 1


async def test_a_disabled_endpoint_gets_no_request(endpoints: Endpoints, pool: Callable) -> None:
    made = endpoints(2)
    made[0][0].default = Reply.failure(401, "bad key")
    made[1][0].default = GOOD
    asker = pool(*(provider for _, provider in made))
    for _ in range(7):
        completion = await asker.ask()
        assert completion.endpoint == "second"
        assert "bad key" in completion.warnings[0]
    assert len(made[0][0].requests) == 5
    assert "temporarily disabled" in completion.warnings[0]
    rows = (await asker.models.health())["endpoints"]
    assert [(row["breaker"], row["failures"]) for row in rows] == [("open", 5), ("closed", 0)]
    assert 0 < rows[0]["retry_in"] <= 30


async def test_one_successful_trial_enables_the_endpoint_for_all_calls(
    endpoints: Endpoints, breaking: Callable, pool: Callable
) -> None:
    made = endpoints(2)
    first, gate = made[0][0], threading.Event()
    first.replies([Reply.failure(401)] * 2)
    made[1][0].default = GOOD
    asker = breaking(2, 600, *(provider for _, provider in made))
    for _ in range(2):
        await asker.ask()
    breaker = asker.models._configured[0].breaker
    assert breaker.state is BreakerState.OPEN
    _rested(breaker)
    first.default = Reply("fine", hold=gate)
    trial = asyncio.create_task(asker.ask())
    await asyncio.to_thread(first.wait_request, 3)
    assert (await asker.ask()).endpoint == "second", "only one call tries"
    gate.set()
    assert (await trial).endpoint == "first"
    assert (await asker.ask()).endpoint == "first"


async def test_a_cancelled_trial_does_not_count_as_a_failure(
    scripted: ScriptedModel, breaking: Callable, provider
) -> None:
    asker = breaking(1, 600, provider)
    scripted.replies([Reply.failure(401), Reply("never", hold=threading.Event())])
    with pytest.raises(EndpointError):
        await asker.ask()
    breaker = asker.models._configured[0].breaker
    _rested(breaker)
    task = asyncio.create_task(asker.ask())
    await asyncio.to_thread(scripted.wait_request, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (breaker.state, breaker.failures) == (BreakerState.HALF_OPEN, 1)
    scripted.default = GOOD
    assert (await asker.ask()).text == "fine"


async def test_a_disabled_endpoint_is_skipped_and_the_message_says_for_how_long(
    scripted: ScriptedModel, breaking: Callable, provider: Provider
) -> None:
    asker = breaking(1, 90, provider)
    scripted.replies([Reply.failure(401, "bad key"), GOOD])
    with pytest.raises(EndpointError, match="bad key"):
        await asker.ask()
    with pytest.raises(EndpointError, match=r"bad key; temporarily disabled .*; retrying in [5-9]\d s") as raised:
        await asker.ask()
    assert raised.value.fault is Fault.UNAUTHORIZED
    assert len(scripted.requests) == 1


async def test_a_server_started_after_a_refused_connection_is_used_at_once(breaking: Callable) -> None:
    with dead_endpoint() as base_url:
        asker = breaking(1, 30, _provider("late", base_url))
        for _ in range(2):
            with pytest.raises(NoModelError):
                await asker.ask()
    with ScriptedModel(default=GOOD, port=int(base_url.split(":")[2].removesuffix("/v1"))):
        assert (await asker.ask()).text == "fine"


def _rested(breaker: Breaker) -> None:
    """Its clock runs ahead until its pause is over."""
    clock, pause = breaker._clock, breaker.cooldown_remaining + 1
    breaker._clock = lambda: clock() + pause


@pytest.fixture
def breaking(pool: Callable) -> Callable:
    """Makes pools whose breakers open after so many failures for so many seconds."""

    def make(failures: int, seconds: float, *providers: Provider):
        return pool(*providers, model={"breaker_failures": failures, "breaker_seconds": seconds})

    return make


def test_the_breaker_opens_after_five_failures_for_thirty_seconds() -> None:
    assert (ModelSettings().breaker_failures, ModelSettings().breaker_seconds) == (5, 30)


async def test_one_deadline_applies_to_all_endpoints(endpoints: Endpoints, pool: Callable) -> None:
    made = endpoints(3)
    for server, _ in made:
        server.default = Reply.failure(500)
    with pytest.raises(ModelError):
        await pool(*(provider for _, provider in made)).ask(deadline=1.0)
    assert sum(len(server.requests) for server, _ in made) < 9, "each would be asked three times if it had more time"


async def test_a_prompt_too_long_for_the_second_endpoint_is_not_sent_to_it(
    endpoints: Endpoints, pool: Callable
) -> None:
    """It would be cut without a word."""
    made = endpoints(3)
    made[0][0].default = Reply.failure(401)
    made[2][0].default = GOOD
    small = made[1][1].model_copy(update={"context": 600})
    from stet_ls.engine.api.message import Message

    completion = await pool(made[0][1], small, made[2][1]).ask([Message("user", "word " * 3000)])
    assert completion.endpoint == "third"
    assert "about 3000 tokens, and its context is 600" in completion.warnings[1]
    assert made[1][0].requests == []


@pytest.mark.parametrize("silence", [Reply("a b c", stall_after=2), Reply("never", first_delay=60)], ids=str)
async def test_an_endpoint_that_fell_silent_is_tried_last_and_the_answer_says_so(
    silence: Reply, endpoints: Endpoints, pool: Callable
) -> None:
    (first, silent), (second, other) = endpoints(2)
    first.replies([silence])
    second.default = GOOD
    asker = pool(_hasty(silent, 4.0), other)
    await asker.ask()
    before = len(second.requests)
    completion = await asker.ask()
    assert (completion.endpoint, len(first.requests), len(second.requests)) == ("second", 1, before + 1)
    [warning] = completion.warnings
    assert warning == (
        f"first ({silent.base_url}) did not respond a minute ago; using second ({other.base_url}) first."
    )
    second.default = Reply.failure(401)
    first.default = GOOD
    assert (await asker.ask()).endpoint == "first", "better than no one"
    second.default = GOOD
    completion = await asker.ask()
    assert (completion.endpoint, completion.warnings) == ("first", ()), "it spoke again"


async def test_a_second_silence_costs_less_time_than_the_first(
    scripted: ScriptedModel, pool: Callable, provider: Provider
) -> None:
    """Alone it is asked again, and half of the timeout is more than it gets between two tokens."""
    asker = pool(provider.model_copy(update={"timeout_token": 4.0}))
    scripted.replies([Reply("a b c", stall_after=2), Reply("a b c d e f", delay=2.0)])
    assert (await asker.ask()).fault is Fault.STALLED
    assert (await asker.ask()).fault is Fault.STALLED
