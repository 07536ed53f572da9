"""When a request is made again: never for what a repetition cannot fix, and never beyond the time there is."""

from __future__ import annotations

import email.utils
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.engine.errors import Fault
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.endpoint.retry import pause_before_retry, retry_after

ONCE = (Fault.UNAUTHORIZED, Fault.QUOTA, Fault.CONTEXT, Fault.BAD_REQUEST, Fault.NOT_FOUND)


@pytest.mark.parametrize("fault", [Fault.RATE_LIMITED, Fault.SERVER, Fault.UNREACHABLE])
def test_pauses_grow_and_the_third_request_is_the_last(fault: Fault) -> None:
    first, second = (pause_before_retry(EndpointFailure(fault), sent, 60, chance=lambda: 0.5) for sent in (1, 2))
    assert first is not None
    assert second == 2 * first
    assert pause_before_retry(EndpointFailure(fault), 3, 60) is None
    assert pause_before_retry(EndpointFailure(fault), 1, first / 2) is None


@pytest.mark.parametrize("fault", ONCE)
def test_permanent_faults_are_not_retried(fault: Fault) -> None:
    assert pause_before_retry(EndpointFailure(fault, retry_after=0.1), 1, 60) is None


def test_a_request_that_was_never_sent_is_not_retried() -> None:
    assert pause_before_retry(EndpointFailure(Fault.NO_KEY, sent=False), 0, 60) is None


@given(st.floats(0, 1))
def test_pauses_are_spread_by_a_quarter(chance: float) -> None:
    pause = pause_before_retry(EndpointFailure(Fault.SERVER), 1, 60, chance=lambda: chance)
    assert pause is not None
    assert 0.375 <= pause <= 0.625


@given(st.floats(0.01, 1e9), st.floats(0.01, 300), st.floats(0, 1))
def test_a_requested_pause_is_kept_or_the_retry_skipped(named: float, longest: float, chance: float) -> None:
    pause = pause_before_retry(
        EndpointFailure(Fault.RATE_LIMITED, retry_after=named), 1, longest, chance=lambda: chance
    )
    assert (pause is None) == (named >= longest)
    assert pause is None or named <= pause <= longest


def _date(seconds: float) -> str:
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "1e12"}, 1e12),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Wed, 99 Foo 20150 77:28:00 GMT"}, None),
        ({"retry-after": "Wed, 31 Dec 99999 00:00:00 GMT"}, None),
    ],
)
def test_retry_after_headers_are_parsed(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_counted_from_now() -> None:
    seconds = retry_after({"retry-after": _date(40)})
    assert seconds is not None
    assert 37 < seconds <= 40


@given(st.text(max_size=40))
def test_no_header_value_raises(text: str) -> None:
    seconds = retry_after({"retry-after": text, "retry-after-ms": text})
    assert seconds is None or seconds >= 0
