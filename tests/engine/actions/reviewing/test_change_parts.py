"""A change is shown to a reviewer in as few parts as fit into a prompt."""

from __future__ import annotations

import pytest

from stet_ls.engine.actions.reviewing.change_parts import change_parts
from stet_ls.validators.source import Source, Span

BEFORE = "".join(f"line {number}\n" for number in range(40))


TWO = BEFORE.replace("line 3\n", "three\n").replace("line 30\n", "thirty\n")
LONG = BEFORE.replace("line 9\n", "".join(f"new {number}\n" for number in range(12)))


@pytest.mark.parametrize(
    ("after", "most", "parts"),
    [
        (TWO, 300, [("three", "thirty")]),
        (TWO, 60, [("three", "three"), ("thirty", "thirty")]),
        (BEFORE.replace("line 39\n", ""), 60, [("line 38", "line 38")]),
        (LONG, 40, [("new 0", "new 5"), ("new 6", "new 11")]),
        (BEFORE, 60, []),
    ],
)
def test_parts_hold_what_fits_and_nothing_is_left_out(after: str, most: int, parts: list[tuple[str, str]]) -> None:
    source = Source(after)

    def fits(span: Span) -> bool:
        return len(source.slice(span)) <= most

    found = [source.slice(each.span(source)).splitlines() for each in change_parts(Source(BEFORE), source, fits)]
    assert [(lines[0], lines[-1]) for lines in found] == parts


def test_a_part_has_what_its_lines_were_before() -> None:
    after = Source(TWO)
    first, second = change_parts(Source(BEFORE), after, lambda span: len(after.slice(span)) < 60)
    assert (first.before, second.before) == ("line 3", "line 30")
