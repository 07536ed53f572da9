"""A span of a snapshot is found again in the text as it is now, or known to be touched."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet_ls.server.documents.line_diff import minimal
from stet_ls.server.documents.position_tracking import MOST_PIECES, Anchors, PositionTracker
from stet_ls.validators.source import Source, Span, Splice

TEXT = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"


class Typist:
    """A track, and someone who changes what it follows."""

    def __init__(self, text: str) -> None:
        self.first = Source(text)
        self.live = self.first
        self.version = 1
        self.disk: Source | None = None
        self.track = PositionTracker(self.first, self.version, lambda: self.disk)

    def replace(self, start: int, end: int, text: str) -> None:
        splice = Splice(Span(start, end), text)
        self.live = self.live.splice([splice])
        self.version += 1
        self.track.changed(splice, self.live, self.version)

    def type(self, old: str, new: str) -> None:
        assert self.live.text.count(old) == 1
        at = len(self.live.text[: self.live.text.index(old)].encode())
        self.replace(at, at + len(old.encode()), new)

    def reload(self, text: str) -> None:
        self.live = Source(text)
        self.version += 1
        self.track.opened(self.live, self.version)

    def span(self, text: str) -> Span:
        at = self.first.data.index(text.encode())
        return Span(at, at + len(text.encode()))

    def found(self, text: str) -> str | None:
        """The live text at the place of a part of the snapshot; None if it was touched."""
        place = self.track.rebase(self.span(text))
        return None if place is None else self.live.slice(place)


ONE, TWO = "def one():\n    return 1", "def two():\n    return 2"


def test_typing_elsewhere_moves_the_span() -> None:
    typist = Typist(TEXT)
    typist.type("import os\n", "import os\nimport é😀  \n")
    typist.type("return 2", "return 22")
    assert typist.found(ONE) == ONE
    assert typist.track.rebase(typist.span(ONE)) == Span(28, 51)
    assert typist.found(TWO) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1", "return 1 + 1"),
        ("one", "ones"),
        ("    return 1", "return 1"),
        ("def one():\n    return 1\n", ""),
        ("def one", "async def one"),
    ],
)
def test_typing_inside_touches_the_span(old: str, new: str) -> None:
    typist = Typist(TEXT)
    typist.type(old, new)
    assert typist.found(ONE) is None
    assert typist.found(TWO) == TWO


def test_a_change_across_an_end_touches_the_span() -> None:
    typist = Typist(TEXT)
    typist.type("os\n\n\ndef", "os\ndef")
    assert typist.found(ONE) == ONE, "only the empty lines before it went"
    typist.type("return 1\n\n\ndef two", "return\n\n\ndef two")
    assert typist.found(ONE) is None


def test_typing_exactly_at_both_ends_does_not_touch_the_span() -> None:
    typist = Typist("f(abc)")
    typist.replace(2, 2, "<")
    typist.replace(6, 6, ">")
    assert typist.live.text == "f(<abc>)"
    assert typist.track.rebase(Span(2, 5)) == Span(3, 6)


def test_lines_written_directly_above_and_below_do_not_touch_the_span() -> None:
    typist = Typist(TEXT)
    typist.type("def one", "@cache\ndef one")
    typist.type("return 1", "return 1\n\n# next")
    assert typist.found(ONE) == ONE


def test_extending_the_first_or_the_last_line_touches_the_span() -> None:
    for old, new in [("def one", "async def one"), ("return 1", "return 1 + x")]:
        typist = Typist(TEXT)
        typist.type(old, new)
        assert typist.found(ONE) is None
        typist.type(new, old)
        assert typist.found(ONE) == ONE


def test_an_undone_change_leaves_no_trace() -> None:
    """Decided: text that is back between untouched neighbors is the old text in its old place."""
    typist = Typist(TEXT)
    typist.type("return 1", "return 100")
    assert typist.found(ONE) is None
    typist.type("return 100", "return 1")
    assert typist.found(ONE) == ONE
    typist.type(ONE, "")
    assert typist.found(ONE) is None
    typist.replace(12, 12, ONE)
    assert typist.found(ONE) == ONE


def test_deleting_and_restoring_everything_keeps_the_span() -> None:
    typist = Typist(TEXT)
    typist.reload("")
    assert typist.found(ONE) is None
    typist.reload(TEXT)
    assert typist.found(ONE) == ONE


def test_equal_text_in_another_place_is_not_taken_for_the_span() -> None:
    typist = Typist("a\nx\nb\n")
    span = typist.span("x")
    typist.replace(2, 4, "")
    typist.replace(4, 4, "x\n")
    assert typist.live.text == "a\nb\nx\n"
    assert typist.track.rebase(span) is None


def test_a_reload_that_formats_one_unit_does_not_touch_the_other() -> None:
    typist = Typist(TEXT)
    typist.reload("import os\nimport sys\n\n\ndef one():\n    return 1\n\n\ndef two( ):\n        return 2\n")
    assert typist.found(ONE) == ONE
    assert typist.found(TWO) is None


def test_a_formatter_that_replaces_the_whole_document_by_a_range() -> None:
    typist = Typist(TEXT)
    typist.replace(0, len(TEXT), TEXT.replace("import os\n", "import os\n\n").replace("return 2", "return (2)"))
    assert typist.found(ONE) == ONE
    assert typist.found(TWO) is None


def test_completing_a_word_by_replacing_it_counts_as_what_it_adds() -> None:
    typist = Typist("foo = 1\n")
    typist.replace(0, 3, "foobar")
    assert typist.track.rebase(Span(3, 5)) == Span(6, 8)
    assert typist.track.rebase(Span(1, 3)) == Span(1, 3)


@pytest.mark.parametrize(
    ("change", "place"),
    [((0, 0, "z"), 3), ((5, 5, "z"), 2), ((2, 2, "z"), None), ((1, 3, ""), None), ((2, 3, ""), None), ((3, 4, ""), 2)],
)
def test_a_position_is_touched_by_a_change_exactly_there(change: tuple[int, int, str], place: int | None) -> None:
    typist = Typist("abcde")
    typist.replace(*change)
    assert typist.track.rebase(Span(2, 2)) == (None if place is None else Span(place, place))


@pytest.mark.parametrize("at", [0, 5])
def test_a_position_at_an_end_of_the_text(at: int) -> None:
    typist = Typist("abcde")
    typist.replace(2, 3, "XX")
    assert typist.track.rebase(Span(at, at)) == Span(at + (at == 5), at + (at == 5))
    typist.replace(0, len(typist.live.data), "")
    assert typist.track.rebase(Span(at, at)) is None


def test_a_position_in_an_empty_text() -> None:
    typist = Typist("")
    assert typist.track.rebase(Span(0, 0)) == Span(0, 0)
    typist.replace(0, 0, "x")
    assert typist.track.rebase(Span(0, 0)) is None


# Closing, reopening, the disk


def test_a_closed_document_has_no_position() -> None:
    typist = Typist(TEXT)
    typist.track.close()
    assert typist.track.closed
    assert typist.found(ONE) is None
    typist.reload("# new\n" + TEXT)
    assert not typist.track.closed
    assert typist.found(ONE) == ONE


def test_a_file_that_was_never_opened_is_followed_on_the_disk() -> None:
    disk: list[Source | None] = [Source(TEXT)]
    track = PositionTracker(Source(TEXT), None, lambda: disk[0])
    span = Span(TEXT.index(ONE), TEXT.index(ONE) + len(ONE))
    assert track.rebase(span) == span
    disk[0] = Source("# new\n" + TEXT)
    assert track.rebase(span) == Span(span.start + 6, span.end + 6)
    disk[0] = None
    assert track.rebase(span) is None
    track.opened(Source("#\n" + TEXT), 1)
    assert track.rebase(span) == Span(span.start + 2, span.end + 2)


def test_a_released_track_has_no_position() -> None:
    typist = Typist(TEXT)
    typist.track.release()
    assert typist.found(ONE) is None


# Waiting


async def test_waiting_ends_with_the_next_version() -> None:
    typist = Typist(TEXT)
    waiting = asyncio.create_task(typist.track.wait_change(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    typist.type("import os", "import sys")
    await waiting
    await typist.track.wait_change(1)


async def test_waiting_ends_when_the_document_is_closed() -> None:
    typist = Typist(TEXT)
    waiting = asyncio.create_task(typist.track.wait_change(1))
    await asyncio.sleep(0)
    typist.track.close()
    await waiting


async def test_waiting_can_be_cancelled() -> None:
    typist = Typist(TEXT)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(typist.track.wait_change(1), 0.01)
    typist.type("import os", "import sys")


# Any changes at all

WORDS = st.text(st.sampled_from("ab\n\r é😀"), max_size=6)


def boundaries(source: Source) -> list[int]:
    """Offsets at which a client can cut the text."""
    return [at for at in range(len(source.data) + 1) if at == len(source.data) or source.data[at] & 0xC0 != 0x80]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_span_is_unchanged_at_its_place_or_touched(data: st.DataObject) -> None:
    typist = Typist(data.draw(st.text(st.sampled_from("abc\n\r é😀"), max_size=40)))
    cuts = boundaries(typist.first)
    spans = [Span(*sorted((data.draw(st.sampled_from(cuts)), data.draw(st.sampled_from(cuts))))) for _ in range(3)]
    untouched = {span: span for span in spans}
    for _ in range(data.draw(st.integers(1, 8))):
        if data.draw(st.booleans()) and data.draw(st.booleans()):
            typist.reload(data.draw(st.one_of(WORDS, st.just(typist.first.text))))
            untouched = {}
            continue
        live = boundaries(typist.live)
        start, end = sorted((data.draw(st.sampled_from(live)), data.draw(st.sampled_from(live))))
        new = data.draw(WORDS)
        typist.replace(start, end, new)
        untouched = {span: moved(place, start, end, new) for span, place in untouched.items()}
        untouched = {span: place for span, place in untouched.items() if place is not None}
    for span in spans:
        place = typist.track.rebase(span)
        if place is not None:
            assert typist.live.slice(place) == typist.first.slice(span)
        if span in untouched:
            assert place == untouched[span], "nothing came near it"


def moved(place: Span, start: int, end: int, text: str) -> Span | None:
    """Where a change leaves a place that it does not come near; None if it does."""
    if end < place.start:
        shift = len(text.encode()) - (end - start)
        return Span(place.start + shift, place.end + shift)
    return place if start > place.end else None


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab\n\r é😀"), max_size=60), st.text(st.sampled_from("ab\n\r é😀"), max_size=60))
def test_minimal_splices_make_the_new_text_and_cut_no_character(one: str, other: str) -> None:
    old, new = Source(one), Source(other)
    splices = minimal(old, new)
    assert old.splice(splices).text == other
    assert all(first.span.end < second.span.start for first, second in pairwise(splices))
    for splice in splices:
        for at in (splice.span.start, splice.span.end):
            assert at in boundaries(old)
            assert old.data[max(at - 1, 0) : at + 1] != b"\r\n"


def test_minimal_of_equal_texts_is_nothing() -> None:
    assert minimal(Source(TEXT), Source(TEXT)) == ()


def test_minimal_keeps_whole_lines_apart() -> None:
    new = TEXT.replace("return 1", "return 11").replace("import os\n", "import os\nimport sys\n")
    assert minimal(Source(TEXT), Source(new)) == (Splice(Span(10, 10), "import sys\n"), Splice(Span(35, 35), "1"))


# Size


def test_a_formatter_that_touches_every_other_line_is_followed_quickly() -> None:
    text = "".join(f"line {number}\n" for number in range(40_000))
    now = Source(text)
    splices = [Splice(Span(start, start + 1), "L") for start in now.starts[:-1:2]]
    formatted = now.splice(splices)
    anchors = Anchors(now.data)
    begin = time.process_time()
    anchors.follow(splices, formatted.data)
    assert time.process_time() - begin < 2


def test_many_scattered_changes_are_bounded() -> None:
    text = "".join(f"line {number}\n" for number in range(2 * MOST_PIECES + 200))
    anchors = Anchors(text.encode())
    now = Source(text)
    for line in range(0, now.line_count - 1, 2):
        splice = Splice(Span(now.starts[line], now.starts[line] + 1), "L")
        now = now.splice([splice])
        anchors.follow([splice], now.data)
    assert len(anchors) <= MOST_PIECES


def test_a_reload_of_fifty_thousand_lines_is_quick() -> None:
    """A formatter that indents every line again, with many lines alike: what difflib would take minutes for."""
    lines = [f"    value_{number} = {number % 7}" if number % 3 else "    }" for number in range(50_000)]
    old = Source("\n".join(lines))
    new = Source("\n".join(line.replace("    ", "\t") if index % 5 else line for index, line in enumerate(lines)))
    begin = time.process_time()
    splices = minimal(old, new)
    assert time.process_time() - begin < 3
    assert old.splice(splices).text == new.text
