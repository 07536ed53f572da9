"""What models write when they are asked for findings, and what of it may be believed."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet_ls.engine.reply.findings_reply import MOST, ModelFinding, place, read_opinions

QUOTE, WHY = "return total / len(items)", "items = [] raises ZeroDivisionError"

FORMS = {
    "as asked": f"- `{QUOTE}` | bug | {WHY}",
    "without a bullet": f"`{QUOTE}` | bug | {WHY}",
    "numbered": f"1. `{QUOTE}` | Bug | {WHY}",
    "with its number": f"12 | `{QUOTE}` | bug | {WHY}",
    "without backticks": f"- {QUOTE} | bug | {WHY}",
    "a table": f"| Line | Kind | Why |\n|---|---|---|\n| `{QUOTE}` | bug | {WHY} |",
    "prose behind the quote": f"- `{QUOTE}`: a bug, {WHY}",
    "bold and numbered": f"1. **Line 12**: `{QUOTE}`\n   - **Kind**: bug\n   - **Why**: {WHY}",
    "three labeled lines": f"CODE: `{QUOTE}`\nKIND: bug\nWHY: {WHY}",
    "labels without backticks": f"LINE: {QUOTE}\nKIND: bug\nWHY: {WHY}",
    "a fence around all": f"```\n- `{QUOTE}` | bug | {WHY}\n```",
    "JSON": json.dumps([{"quote": QUOTE, "kind": "bug", "witness": WHY, "line": 12}]),
    "JSON in a fence": "```json\n" + json.dumps({"findings": [{"code": QUOTE, "type": "Bug", "why": WHY}]}) + "\n```",
    "a preamble": f"Here are the problems:\n\n- `{QUOTE}` | bug | {WHY}\n\nHope it helps!",
    "a fence in its point": f"1. ```python\n   {QUOTE}\n   ```\n   - It is a bug: {WHY}",
    "a fence below its point": f"1. **Bug in line 12**:\n   ```python\n   {QUOTE}\n   ```\n   {WHY}",
    "a fence with the fixed code": f"- `{QUOTE}` | bug | {WHY}\n```python\nreturn 0\n```",
    "a point with points below": f"1. `{QUOTE}`\n   - For `items = []` it is a bug\n   - {WHY}\n2. Else it is fine",
    "within a sentence": f"The line `{QUOTE}` is a bug: {WHY}.",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_of_findings_is_read(form: str) -> None:
    (opinion,) = read_opinions(FORMS[form])
    assert (opinion.quote, opinion.kind) == (QUOTE, "bug")
    assert WHY in opinion.witness


def test_a_line_number_is_read_if_there_is_one() -> None:
    assert [one.line for one in read_opinions(FORMS["with its number"])] == [12]
    assert [one.line for one in read_opinions(FORMS["bold and numbered"])] == [12]
    assert [one.line for one in read_opinions(FORMS["JSON"])] == [12]
    assert [one.line for one in read_opinions(FORMS["as asked"])] == [None]


def test_several_findings_keep_their_order_without_duplicates() -> None:
    text = (
        "- `a = b[0]` | bug | b = [] fails\n- `c = open(d)` | risk | d is missing\n- `a = b[0]` | bug | b = [] fails\n"
    )
    assert [one.kind for one in read_opinions(text)] == ["bug", "risk"]


def test_points_under_headings_are_separate_findings() -> None:
    text = "1. Bugs:\n   - `a = b[0]` fails for b = []\n2. Risks\n   - `c = open(d)` fails where d is missing\n"
    assert [one.quote for one in read_opinions(text)] == ["a = b[0]", "c = open(d)"]


def test_a_bar_in_the_quote_does_not_cut_it() -> None:
    (opinion,) = read_opinions("- `x = a | b` | risk | a = None is no set")
    assert opinion.quote == "x = a | b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "No problems found.",
        "The code is fine.",
        "- bug",
        "```python\ndef f(): ...\n```",
        "[]",
        "{}",
        "[1, 2",
    ],
)
def test_a_reply_without_findings_gives_none(text: str) -> None:
    assert read_opinions(text) == ()


def test_a_repetitive_reply_is_truncated() -> None:
    text = "".join(f"- `value_{n} = {n}` | bug | fails for {n}\n" for n in range(1000))
    assert len(read_opinions(text)) == MOST


@given(st.text(alphabet="`|-*{}[]:\"'\n ab1,bug", max_size=400))
def test_any_text_is_read_without_inventing_quotes(text: str) -> None:
    for opinion in read_opinions(text):
        assert "".join(opinion.quote.split()) in "".join(text.split()).replace("\\", "")


@pytest.mark.parametrize("text", ["`" * 200_000, "- `a|" * 50_000, "[" * 100_000, "| " * 100_000, "a: `b\n" * 50_000])
def test_reading_findings_takes_linear_time(text: str) -> None:
    started = time.process_time()
    read_opinions(text)
    assert time.process_time() - started < 10


LINES = [
    (10, "def mean(items):"),
    (11, "    total = sum(items)"),
    (12, "    it = 0"),
    (13, "    it = 0"),
    (14, "    it = 0"),
]


def opinion(quote: str, line: int | None = None) -> ModelFinding:
    return ModelFinding(quote, "bug", "it fails", line)


@pytest.mark.parametrize(
    ("quote", "named", "line"),
    [
        ("total = sum(items)", None, 11),  # unique: it needs no number
        ("total=sum( items )", None, 11),  # white space does not count
        ("sum(items)", None, 11),  # a part of a line
        ("total = sum(items)", 99, 11),  # a wrong number: moved to where the quote is
        ("it = 0", 14, 13),  # several: the one that was named
        ("it = 0", 4, 13),  # counted from the first line that was shown
        ("it = 0", 16, 14),  # miscounted by one: the nearest
        ("it = 0", None, None),  # several, and nothing tells which
        ("it = 0", 40, None),  # named far from all of them
        ("items", 11, None),  # a word of a line
        ("i", 11, None),  # too short to tell a place
        ("total = max(items)", 12, None),  # a quote that lies
        ("return total / len(items)", None, None),  # the example of the form
    ],
)
def test_a_quote_is_located_in_the_code(quote: str, named: int | None, line: int | None) -> None:
    placed, dropped = place([opinion(quote, named)], LINES)
    assert [one.line for one in placed] == ([] if line is None else [line])
    assert dropped == (line is None)


def test_an_empty_range_has_no_findings() -> None:
    assert place([opinion("total = sum(items)", 1)], []) == ([], 1)
