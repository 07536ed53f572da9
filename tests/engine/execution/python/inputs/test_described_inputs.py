"""Inputs of the shapes that a docstring and names in the plural describe, and databases for code that runs SQL."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.module_state import with_neighbor_calls
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.untyped_params import meant_kinds

_BEST = """def best(bids):
    \"\"\"The bidder of the highest bid. A bid is (name, price).\"\"\"
    top = None
    for name, price in bids:
        if top is None or price > top[1]:
            top = (name, price)
    return top
"""


def test_items_are_drawn_as_the_docstring_describes_them() -> None:
    given = [ast.literal_eval(call.setup.removeprefix("bids = ").replace("float('inf')", "9e9").replace(
        "float('nan')", "0.0").replace("float('-inf')", "-9e9")) for call in calls_for(_BEST, "best")]  # fmt: skip
    assert len(given) > 200
    assert all(isinstance(name, str) and isinstance(price, int | float) for bids in given for name, price in bids)


@pytest.mark.parametrize(
    ("name", "body", "kinds"),
    [
        ("results", "return [each for each in results if each]", {"List"}),
        ("results", "return results.upper()", None),
        ("letters", "return [each for each in letters if each]", None),
        ("status", "return [each for each in status if each]", None),
    ],
)
def test_a_name_in_the_plural_says_that_a_list_is_meant(name: str, body: str, kinds: set[str] | None) -> None:
    module = known_module(f"def f({name}):\n    {body}\n")
    subject = subject_of(module, "f") if module else None
    assert subject
    assert meant_kinds(subject).get(name) == kinds


def test_a_dictionary_without_hints_of_its_contents_is_a_record_with_the_keys_in_the_code() -> None:
    text = "def f(posts: list[dict]) -> list:\n    return [each['title'] for each in posts if each['date'] > 3]\n"
    given = [ast.literal_eval(call.setup.removeprefix("posts = ")) for call in calls_for(text, "f")]
    records = [each for posts in given for each in posts]
    assert sum(each.keys() == {"title", "date"} for each in records) > len(records) / 2


def test_forms_that_a_docstring_shows_are_tried() -> None:
    text = 'def f(text):\n    """Two dates as 2024-01-01..2024-02-01."""\n    return text.split("..")\n'
    assert sum(".." in call.setup and "-" in call.setup for call in calls_for(text, "f")) > 5


def test_a_unit_that_keeps_state_is_called_after_another_call() -> None:
    text = "_kept = {}\n\n\ndef f(name: str):\n    _kept[name] = len(_kept)\n    return dict(_kept)\n"
    calls = with_neighbor_calls(calls_for(text, "f"), text, "f")
    assert any(call.setup.count("name = ") == 2 and "(f(name))" in call.setup for call in calls)
