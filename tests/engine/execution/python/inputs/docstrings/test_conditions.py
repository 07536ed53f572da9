"""What a docstring says of the result is no condition on the arguments."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.contract import within_contract


@pytest.mark.parametrize(
    ("doc", "are_sorted"),
    [
        ("Sort a list in ascending order.\n\n    Returns:\n        A sorted list.\n", False),
        ("Sort numbers.\n\n    :return: the sorted list\n", False),
        ("Sort numbers.\n\n    Returns\n    -------\n    list\n        The sorted list.\n", False),
        ("Returns a new sorted list.", False),
        ("Turns the numbers into one sorted list.", False),
        ("The place of the first number above ten in a sorted list.", True),
        ("The median.\n\n    Args:\n        numbers: A sorted list.\n\n    Returns:\n        The middle.\n", True),
    ],
)
def test_only_what_is_said_of_the_arguments_bounds_them(doc: str, are_sorted: bool) -> None:
    text = f'def f(numbers: list[int]):\n    """{doc}    """\n    return sorted(numbers)\n'
    calls = within_contract(calls_for(text, "f"), text, "f")
    given = [ast.literal_eval(each.bindings()["numbers"]) for each in calls if each.origin == "drawn"]
    assert len(given) > 20
    assert all(each == sorted(each) for each in given) is are_sorted


@pytest.mark.parametrize(("more", "are_sorted"), [("", True), ("def g(a):\n    return a\n", False)])
def test_a_file_with_one_unit_may_say_what_it_is_called_with(more: str, are_sorted: bool) -> None:
    text = f'"""Numbers are sorted."""\n\ndef f(numbers: list[int]):\n    return max(numbers)\n\n\n{more}'
    calls = within_contract(calls_for(text, "f"), text, "f")
    given = [ast.literal_eval(each.bindings()["numbers"]) for each in calls if each.origin == "drawn"]
    assert all(each == sorted(each) for each in given) is are_sorted
