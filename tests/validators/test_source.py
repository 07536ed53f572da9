"""Positions are where edits go wrong: every unit, line end and odd character that an editor can send."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.validators.source import Encoding, Source, Span, Splice

ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

# Letters of one to four bytes, both line ends, what str.splitlines would also split at, half surrogates, a NUL.
texts = st.text(
    st.sampled_from(
        ["a", "é", "\u4e2d", "\U0001f600", "\n", "\r", "\t", "\f", "\u2028", "\x85", "\ud83d", "\ude00", "\0"]
    )
)


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_lines(text: str) -> list[str]:
    """LSP's lines, the slow and obvious way."""
    return re.split("\r\n|\r|\n", text)


class TestSpan:
    @pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1)])
    def test_refuses_an_invalid_span(self, start: int, end: int) -> None:
        with pytest.raises(ValueError, match="not a span"):
            Span(start, end)

    def test_contains_its_ends(self) -> None:
        assert Span(2, 5).contains(Span(2, 5))
        assert Span(2, 5).contains(Span(5, 5))
        assert not Span(2, 5).contains(Span(4, 6))

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            (Span(0, 3), Span(2, 4), True),
            (Span(0, 3), Span(3, 4), False),
            (Span(0, 3), Span(3, 3), True),
            (Span(0, 3), Span(0, 0), True),
            (Span(0, 3), Span(4, 4), False),
            (Span(2, 2), Span(2, 2), True),
        ],
    )
    def test_overlap_counts_a_position_at_either_end(self, one: Span, other: Span, expected: bool) -> None:
        assert one.overlaps(other) is expected
        assert other.overlaps(one) is expected


class TestLines:
    @pytest.mark.parametrize(
        ("text", "starts"),
        [
            ("", (0,)),
            ("a", (0,)),
            ("a\n", (0, 2)),
            ("\n\n", (0, 1, 2)),
            ("a\r\nb\rc\nd", (0, 3, 5, 7)),
            ("\r\r\n\n\r", (0, 1, 3, 4, 5)),
            ("a\fb\u2028c\x85d\x0be", (0,)),
        ],
    )
    def test_end_at_line_feed_and_carriage_return_and_nowhere_else(self, text: str, starts: tuple[int, ...]) -> None:
        assert Source(text).starts == starts
        assert Source(text).line_count == len(starts)

    def test_spans_leave_the_line_end_out_unless_asked(self) -> None:
        source = Source("ab\r\ncd")
        assert source.line_span(0) == Span(0, 2)
        assert source.line_span(0, with_end=True) == Span(0, 4)
        assert source.line_span(1) == source.line_span(1, with_end=True) == Span(4, 6)
        assert source.line_span(7) == Span(6, 6)
        assert source.line_text(0) == "ab"

    @pytest.mark.parametrize(
        ("text", "line_end"),
        [("", "\n"), ("a", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\rc\r\n", "\r"), ("a\nb\r\n\n", "\n")],
    )
    def test_the_commonest_end_is_the_documents_own(self, text: str, line_end: str) -> None:
        assert Source(text).line_end == line_end

    @given(texts)
    def test_are_those_of_the_definition(self, text: str) -> None:
        source = Source(text)
        assert [source.line_text(line) for line in range(source.line_count)] == split_lines(text)

    @given(texts)
    def test_every_byte_is_in_the_line_reported_for_it(self, text: str) -> None:
        source = Source(text)
        for offset in range(len(source.data)):
            span = source.line_span(source.line_of(offset), with_end=True)
            assert span.start <= offset < span.end


class TestPositions:
    @pytest.mark.parametrize(("encoding", "column"), [("utf-8", len("é中😀".encode())), ("utf-16", 4), ("utf-32", 3)])
    def test_count_in_the_units_of_the_encoding(self, encoding: Encoding, column: int) -> None:
        source = Source("x\né中😀y")
        offset = source.data.index(b"y")
        assert source.position(offset, encoding) == (1, column)
        assert source.offset(1, column, encoding) == offset

    def test_a_column_inside_a_surrogate_pair_is_its_start(self) -> None:
        assert Source("😀y").offset(0, 1, "utf-16") == 0

    def test_a_byte_inside_a_character_is_its_start(self) -> None:
        assert Source("é").offset(0, 1, "utf-8") == 0

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_are_clamped(self, encoding: Encoding) -> None:
        source = Source("ab\r\ncé")
        assert source.offset(0, 99, encoding) == 2, "past a line's end is its end, before the line end's characters"
        assert source.offset(99, 0, encoding) == len(source.data)
        assert source.offset(-1, 5, encoding) == 0
        assert source.offset(1, -3, encoding) == 4
        assert source.position(999, encoding)[0] == 1
        assert source.position(-5, encoding) == (0, 0)

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_of_an_empty_text(self, encoding: Encoding) -> None:
        assert Source("").position(0, encoding) == (0, 0)
        assert Source("").offset(0, 0, encoding) == 0

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @given(text=texts)
    def test_round_trip_from_every_character(self, encoding: Encoding, text: str) -> None:
        source = Source(text)
        offset = 0
        for character in text:
            line, column = source.position(offset, encoding)
            # Between "\r" and "\n" there is no position of its own: it is clamped to the end of the line.
            if offset <= source.line_span(line).end:
                assert source.offset(line, column, encoding) == offset
            offset += len(character.encode("utf-8", "surrogatepass"))
        assert source.offset(*source.position(offset, encoding), encoding) == offset

    @given(text=texts, line=st.integers(0, 6), column=st.integers(0, 12))
    def test_columns_are_those_of_the_definition(self, text: str, line: int, column: int) -> None:
        source = Source(text)
        lines = split_lines(text)
        if line >= len(lines) or column > len(lines[line]):
            return
        before = lines[line][:column]
        offset = source.starts[line] + len(before.encode("utf-8", "surrogatepass"))
        assert source.position(offset, "utf-32") == (line, column)
        assert source.position(offset, "utf-16") == (line, utf16(before))
        assert source.position(offset, "utf-8") == (line, offset - source.starts[line])

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @given(text=texts, line=st.integers(-2, 9), column=st.integers(-2, 30))
    def test_any_position_gives_the_start_of_a_character(
        self, encoding: Encoding, text: str, line: int, column: int
    ) -> None:
        source = Source(text)
        offset = source.offset(line, column, encoding)
        assert (
            source.data[:offset].decode("utf-8", "surrogatepass")
            + source.data[offset:].decode("utf-8", "surrogatepass")
            == text
        )


class TestSlices:
    def test_keep_half_surrogates(self) -> None:
        source = Source("a\ud83db")
        assert source.slice(source.whole) == "a\ud83db"

    def test_drop_a_character_that_is_cut(self) -> None:
        source = Source("aéb")
        assert source.slice(Span(0, 2)) == "a"
        assert source.slice(Span(2, 4)) == "b"

    @given(texts)
    def test_of_everything_are_the_text(self, text: str) -> None:
        assert Source(text).slice(Source(text).whole) == text


class TestSplice:
    def test_all_edits_refer_to_the_old_text(self) -> None:
        source = Source("one two three")
        new = source.splice([Splice(Span(8, 13), "3"), Splice(Span(0, 3), "1"), Splice(Span(4, 4), "and ")])
        assert new.text == "1 and two 3"

    def test_refuses_overlaps(self) -> None:
        with pytest.raises(ValueError, match="overlap"):
            Source("abcdef").splice([Splice(Span(0, 3), "x"), Splice(Span(2, 4), "y")])

    def test_two_spans_that_touch_do_not_overlap(self) -> None:
        assert Source("abcd").splice([Splice(Span(0, 2), "x"), Splice(Span(2, 4), "y")]).text == "xy"

    def test_of_nothing_changes_nothing(self) -> None:
        assert Source("a\ud83d\r\n").splice([]) == Source("a\ud83d\r\n")

    @given(texts, st.data())
    def test_is_what_slicing_would_do(self, text: str, data: st.DataObject) -> None:
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        new = data.draw(texts)
        at = [len(text[:index].encode("utf-8", "surrogatepass")) for index in (start, end)]
        assert Source(text).splice([Splice(Span(*at), new)]).text == text[:start] + new + text[end:]

    @given(texts, st.lists(st.tuples(st.integers(0, 1), texts), max_size=8))
    def test_hands_its_bytes_and_lines_on(self, text: str, pieces: list[tuple[int, str]]) -> None:
        """They are carried from version to version, not counted again; several splices at once, of any line ends."""
        source = Source(text)
        at = [len(text[:index].encode("utf-8", "surrogatepass")) for index in range(len(text) + 1)]
        splices = [
            Splice(Span(at[n], at[min(n + keep, len(text))]), new) for n, (keep, new) in enumerate(pieces[: len(text)])
        ]
        assert source.starts
        after = source.splice(splices)
        fresh = Source(after.text)
        assert (after.data, after.starts) == (fresh.data, fresh.starts)

    @pytest.mark.parametrize(
        ("text", "at", "new"),
        [
            ("a\rb", 2, "\n"),
            ("a\r\nb", 1, "x"),
            ("a\r\nb", 2, "x"),
            ("a\rb\nc", 2, ""),
            ("a\r\r\nb", 2, "\n"),
            ("", 0, "\r"),
        ],
    )
    def test_knows_line_ends_that_an_edit_joins_or_parts(self, text: str, at: int, new: str) -> None:
        source = Source(text)
        assert source.starts
        after = source.splice([Splice(Span(at, min(at + (not new), len(text))), new)])
        assert after.starts == Source(after.text).starts

    @pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "é\r\n", "\r\n\r"])
    def test_lines_of_a_large_text_are_those_of_a_small_one(self, end: str) -> None:
        """Line ends are looked for in slices; one may lie across the border of two."""
        one = Source(f"x{end}")
        large = Source(one.text * 60_000)
        assert large.starts[:-1] == tuple(n * len(one.data) + start for n in range(60_000) for start in one.starts[:-1])
