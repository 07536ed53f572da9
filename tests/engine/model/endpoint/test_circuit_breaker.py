"""The three states of a circuit breaker, on a clock that the test sets."""

from __future__ import annotations

import pytest

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.circuit_breaker import LONGEST_REST, Breaker, BreakerState
from stet_ls.engine.model.endpoint.faults import EndpointFailure

BROKEN = EndpointFailure(Fault.SERVER)


class Clock:
    """Seconds, as the test has them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(3, 30, clock=clock)


def fail(breaker: Breaker, times: int = 3, failure: EndpointFailure | None = BROKEN) -> None:
    for _ in range(times):
        admission = breaker.admit()
        assert admission is not None
        breaker.end(admission, failure)


def test_the_breaker_opens_after_consecutive_failures(breaker: Breaker) -> None:
    fail(breaker, 2)
    fail(breaker, 1, None)
    fail(breaker, 2)
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 2)
    fail(breaker, 1)
    assert (breaker.state, breaker.cooldown_remaining) == (BreakerState.OPEN, 30)
    assert breaker.admit() is None


def test_after_the_pause_one_call_is_the_trial(breaker: Breaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 29.9
    assert breaker.admit() is None
    clock.now += 0.1
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit() == "trial"
    assert breaker.admit() is None
    breaker.end("trial", None)
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 0)


def test_a_failed_trial_opens_the_breaker_again(breaker: Breaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 30
    fail(breaker, 1)
    assert (breaker.state, breaker.cooldown_remaining) == (BreakerState.OPEN, 30)


def test_after_a_cancelled_trial_the_next_call_is_the_trial(breaker: Breaker, clock: Clock) -> None:
    fail(breaker)
    clock.now += 30
    assert breaker.admit() == "trial"
    breaker.withdraw("trial")
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit() == "trial"


def test_a_cancelled_call_does_not_change_the_breaker(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.withdraw(breaker.admit() or "call")
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 2)


@pytest.mark.parametrize(
    "failure",
    [
        EndpointFailure(Fault.CONTEXT),
        EndpointFailure(Fault.BAD_REQUEST),
        EndpointFailure(Fault.DEADLINE),
        EndpointFailure(Fault.EMPTY, begun=True),
    ],
    ids=str,
)
def test_errors_not_caused_by_the_endpoint_do_not_count(
    failure: EndpointFailure, breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 9, failure)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    clock.now += 30
    fail(breaker, 1, failure)
    assert breaker.state is BreakerState.CLOSED, "whoever refuses a request is there"


def test_retry_after_applies_to_the_next_calls_too(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 1, EndpointFailure(Fault.RATE_LIMITED, retry_after=12))
    assert (breaker.state, breaker.cooldown_remaining) == (BreakerState.OPEN, 12)
    clock.now += 12
    fail(breaker, 1, None)
    assert breaker.state is BreakerState.CLOSED


def test_an_absurd_retry_after_is_ignored(breaker: Breaker) -> None:
    fail(breaker, 1, EndpointFailure(Fault.RATE_LIMITED, retry_after=1e9))
    assert breaker.cooldown_remaining == LONGEST_REST


def test_late_failures_do_not_prolong_the_pause(breaker: Breaker, clock: Clock) -> None:
    late = [breaker.admit() for _ in range(2)]
    fail(breaker)
    clock.now += 20
    for admission in late:
        breaker.end(admission or "call", BROKEN)
    assert breaker.cooldown_remaining == 10
    breaker.end("call", None)
    assert breaker.state is BreakerState.CLOSED, "one that served all the same is a sign of life"


def test_a_sign_of_life_ends_the_pause(breaker: Breaker) -> None:
    breaker.half_open()
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    breaker.half_open()
    assert breaker.admit() == "trial"


@pytest.mark.parametrize("fault", [Fault.STALLED, Fault.NO_FIRST_TOKEN], ids=str)
def test_a_silence_is_remembered_for_a_minute_or_until_a_complete_reply(
    fault: Fault, breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 1, BROKEN)
    assert not breaker.fell_silent, "it said so at once"
    fail(breaker, 1, None)
    fail(breaker, 1, EndpointFailure(fault))
    assert (breaker.state, breaker.fell_silent) == (BreakerState.CLOSED, True)
    clock.now += 59.9
    assert breaker.fell_silent
    clock.now += 0.1
    assert not breaker.fell_silent
    fail(breaker, 1, EndpointFailure(fault))
    fail(breaker, 1, None)
    assert not breaker.fell_silent
