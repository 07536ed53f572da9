"""Inputs are what a docstring says of the parameters, and deep and repeated enough to show depth and kept state."""

from __future__ import annotations

import re

import pytest

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.python.inputs.contract import within_contract
from stet_ls.engine.execution.python.inputs.generators import with_iterators
from stet_ls.engine.execution.python.inputs.module_state import with_neighbor_calls


def _within(docs: str, head: str, setup: str, body: str = "return 1") -> dict[str, object]:
    """The values of a call of `f` after what its docstring says; {} if there is no such call."""
    names = tuple(line.partition(" = ")[0] for line in setup.splitlines())
    call = Call(setup, f"__out__(f({', '.join(names)}))", names, "guessed")
    calls = within_contract((call,), f'def f({head}):\n    """{docs}"""\n    {body}\n', "f")
    return {name: literal(text) for each in calls for name, _, text in
            (line.partition(" = ") for line in each.setup.splitlines())}  # fmt: skip


@pytest.mark.parametrize(
    ("docs", "value", "low", "high"),
    [
        ("The short name of a month, 1 to 12.", -3, 1, 12),
        ("The ending of a day (1-31), wherever month is 3.", 400, -(10**9), 10**9),
        ("A bar. `month` lies between 0 and 100.", 521, 0, 100),
        ("The grade for 0 to 100 month.", -7, 0, 100),
        ("The month is never negative.", -8, 0, 10**9),
        ("Needs a month, which has to be positive.", -8, 1, 10**9),
        ("The share of a month as a number from 0 to 1.", 9, 9, 9),
    ],
)
def test_a_number_is_moved_into_the_range_that_is_stated_of_it(docs: str, value: int, low: int, high: int) -> None:
    found = _within(docs, "month", f"month = {value}")["month"]
    assert isinstance(found, int)
    assert low <= found <= high


@pytest.mark.parametrize(
    ("docs", "form"),
    [
        ("The check digit of a code that has digits only.", "[0-9]{2}"),
        ("A word; it consists of lowercase letters.", "[a-z]{2}"),
        ("The number that a text of zeros and ones stands for.", "[01]{2}"),
        ("The end of a card, a string of 16 digits.", "[0-9]{16}"),
        ('Minutes of a time such as "07:30".', r"\d\d:\d\d"),
        ('The parts of a colour like "#ff8000".', "#[0-9a-f]{6}"),
        ("The sum of the digits of a text.", "b-"),
        ('A slug such as "a-b", of a title.', "b-"),
    ],
)
def test_a_text_is_spelled_as_stated(docs: str, form: str) -> None:
    assert re.fullmatch(form, str(_within(docs, "s", "s = 'b-'")["s"]))


def test_code_with_a_branch_may_decide_about_a_text_of_another_form() -> None:
    docs = 'Minutes of a time such as "07:30".'
    assert _within(docs, "s", "s = 'b-'", "return 1 if ':' in s else 2") == {"s": "b-"}


def test_lists_get_the_lengths_that_are_stated() -> None:
    found = _within("There are as many years as names.", "names, years", "names = [1, 2, 3]\nyears = [4]")
    assert found == {"names": [1], "years": [4]}
    found = _within("Each value has a weight.", "values, weights", "values = [1]\nweights = [2, 3]")
    assert found == {"values": [1], "weights": [2]}
    found = _within(
        "Each row is as long as the header.", "header, rows", "header = ['a', 'b']\nrows = [[1], [1, 2, 3]]"
    )
    assert found["rows"] == [[1, 0], [1, 2]]
    assert _within("Each row is as long as the header.", "header, rows", "header = ['a']\nrows = [1]") == {}


def test_any_iterable_is_also_given_as_an_iterator() -> None:
    call = Call("v = [1, 2]", "__out__(f(v))", ("v",), "guessed")
    for text in ('def f(v):\n    """Of any iterable."""\n', "def f(v: Iterable[int]):\n    return 1\n"):
        assert "v = iter([1, 2])" in {each.setup for each in with_iterators((call,), text, "f")}
    assert with_iterators((call,), 'def f(v):\n    """Of a list."""\n', "f") == (call,)


def test_a_function_that_uses_the_same_variable_is_called_in_between() -> None:
    text = (
        "_n = 0\n\n\ndef f():\n    global _n\n    _n += 1\n    return _n\n\n\ndef reset():\n    global _n\n    _n = 0\n"
    )
    call = Call("", "__out__(f())", (), "no argument")
    assert [each.body for each in with_neighbor_calls((call,), text, "f")] == [
        call.body,
        "(f())\nreset()\n__out__(f())",
    ]


@pytest.mark.parametrize(
    ("docs", "head", "setup", "is_tried"),
    [
        ("The first words; count >= 0.", "count", "count = -3", False),
        ("Clamped; low <= high.", "low, high", "low = 5\nhigh = 2", False),
        ("Clamped; low <= high.", "low, high", "low = 2\nhigh = 5", True),
        ("Joined; a range is (start, end) with start <= end.", "ranges", "ranges = [(3, 1)]", False),
        ("Joined; a range is (start, end) with start <= end.", "ranges", "ranges = [(1, 3), (2, 2)]", True),
        ("The second largest of at least two numbers.", "numbers", "numbers = [1]", False),
    ],
)
def test_a_call_that_breaks_a_stated_bound_is_not_made(docs: str, head: str, setup: str, is_tried: bool) -> None:
    assert bool(_within(docs, head, setup)) is is_tried


def test_a_range_of_a_plural_is_one_of_the_parameter() -> None:
    found = _within("The days of a month; months are 1 to 12, years 1 to 9999.", "year, month", "year = -4\nmonth = 0")
    assert 1 <= int(str(found["month"])) <= 12
    assert 1 <= int(str(found["year"])) <= 9999


@pytest.mark.parametrize(
    ("body", "is_tried"),
    [
        ("if count < 0:\n        raise ValueError(count)", True),
        ("if count not in TABLE:\n        raise KeyError(count)", False),
        ("assert count >= 0", True),
    ],
)
def test_code_that_refuses_numbers_itself_gets_those_that_the_docstring_excludes(body: str, is_tried: bool) -> None:
    assert bool(_within("The first words; count >= 0.", "count", "count = -3", body)) is is_tried
