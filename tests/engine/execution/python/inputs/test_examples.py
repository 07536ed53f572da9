"""Examples of docstrings as calls, and what their values say of parameters."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for


def given(text: str) -> list[tuple[str, str]]:
    return [(each.setup, each.body) for each in calls_for(text, "f") if each.origin == "example"]


@pytest.mark.parametrize(
    ("example", "setup", "body"),
    [
        (">>> f(2)  # twice\n    4", "", "__out__(f(2))"),
        (">>> many = [1, 2]\n    >>> f(many)\n    4", "many = [1, 2]", "__out__(f(many))"),
        (">>> for each in f(2):\n    ...     print(each)\n    4", "", "for each in f(2):\n    print(each)"),
        (">>> found = f(2)\n    >>> found\n    4", "", "found = f(2)\n__out__(found)"),
    ],
)
def test_examples_run_as_they_are_written(example: str, setup: str, body: str) -> None:
    """But for a comment behind an expression, which would hide the bracket that closes around it."""
    text = f'def f(n):\n    """Doubles.\n\n    {example}\n    """\n    return [n, n]\n'
    assert (setup, body) in given(text)


def test_three_dots_in_an_example_are_no_value() -> None:
    doc = "Doubles.\n\n    >>> f(-1)\n    Traceback (most recent call last):\n        ...\n    >>> f(...)\n    "
    assert calls_for(f'def f(n):\n    """{doc}"""\n    return n + n\n', "f")


def test_a_parameter_whose_default_is_a_class_gets_classes() -> None:
    calls = calls_for("def f(pairs, factory=dict):\n    return factory(pairs)\n", "f")
    made = {each.bindings()["factory"] for each in calls if "factory" in each.bindings()}
    assert made == {"dict", "__import__('collections').OrderedDict"}


def test_examples_are_also_tried_with_two_arguments_exchanged() -> None:
    text = "def f(a, b, c):\n    '''Sides: f(3, 4, 5) => True'''\n    return a * a + b * b == c * c\n"
    near = [tuple(each.bindings().values()) for each in calls_for(text, "f") if each.origin == "near an example"]
    assert {("4", "3", "5"), ("5", "4", "3"), ("3", "5", "4")} <= set(near)
