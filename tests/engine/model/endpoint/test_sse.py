"""Events come out of bytes the same way however the bytes are cut."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.engine.model.endpoint.sse import EventReader


def read(*pieces: bytes) -> tuple[list[bytes], bytes | None]:
    """The events, and the body if it is no stream."""
    reader = EventReader()
    events = [event for piece in pieces for event in reader.feed(piece)] + list(reader.end())
    return events, None if reader.whole is None else bytes(reader.whole)


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\r\n\r\ndata: b\r\r", [b"a", b"b"]),
        (b": hello\n\ndata: a\n: inside\n\n", [b"a"]),
        (b"event: x\nid: 1\nretry: 5\ndata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data: a", [b"a"]),
        (b"\xef\xbb\xbf\n\ndata: a\n\n", [b"a"]),
        ("data: \u2028é\x85\n\n".encode(), ["\u2028é\x85".encode()]),
        (b"nonsense\n\n\n", []),
        (b"", []),
    ],
)
def test_events_are_parsed(body: bytes, events: list[bytes]) -> None:
    assert read(body) == (events, None)
    assert read(*(bytes([byte]) for byte in body)) == (events, None)


@pytest.mark.parametrize("body", [b'{"a": 1}', b'\r\n {"a":\n\n1}', b"[]", b"<html>\n\ndata: a\n\n</html>"])
def test_a_body_that_is_not_a_stream_is_kept_whole(body: bytes) -> None:
    assert read(body) == ([], body.lstrip())
    assert read(*(bytes([byte]) for byte in body)) == ([], body.lstrip())


@given(
    st.lists(st.sampled_from([b"data: ", b"x", b"\n", b"\r", b"\r\n", b":", b"{", b"\xef\xbb\xbf", b" "]), max_size=40)
)
def test_the_split_of_the_bytes_does_not_change_the_events(pieces: list[bytes]) -> None:
    assert read(*pieces) == read(b"".join(pieces))


def test_parsing_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        began = time.process_time()
        read(*[b"data: x"] * count)
        return time.process_time() - began

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(80_000) for _ in range(3)) < 10 * small + 0.05
