"""The values that code compares a name with, or looks it up under, are what it is called with."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.compared_values import choices, compared_values
from stet_ls.engine.execution.python.inputs.few_values import few_valued
from stet_ls.engine.execution.python.inputs.subject import Parameter

CODE = """
def apply(self, action, level, kind, other):
    if action == "start":
        return LEVELS[level]
    elif action in ("stop", "pause"):
        return self._NAMES.get(kind)
    match other:
        case "x" | "y":
            return 1
"""


def test_comparisons_tables_and_cases_name_values() -> None:
    tables = {
        "LEVELS": ast.parse("{1: 'a', 2: 'b'}", mode="eval").body,
        "_NAMES": ast.parse("{'k': 0}", mode="eval").body,
    }
    assert choices(ast.parse(CODE), tables) == {
        "action": ("'start'", "'stop'", "'pause'"), "level": ("1", "2"), "kind": ("'k'",), "other": ("'x'", "'y'"),
    }  # fmt: skip


def test_most_values_of_such_a_parameter_are_chosen_from_them() -> None:
    rows = few_valued([{"action": "'?'"}] * 60, [Parameter("action")], 1, {"action": ("'start'", "'stop'")})
    given = [row["action"] for row in rows]
    assert {"'start'", "'stop'"} < {*given}
    assert sum(each in ("'start'", "'stop'") for each in given) > 40


def test_tables_have_few_keys_and_values() -> None:
    (row,) = few_valued([{"store": "{'long name': 'worker 1', 'other': 'worker 2'}"}], [Parameter("store")], 1)
    store = literal(row["store"])
    assert {*store} <= {"a", "b", "c"}
    assert {*store.values()} <= {"a", "b", "c"}


def test_none_is_a_value_where_code_asks_for_it() -> None:
    assert None in compared_values([ast.parse("found is None")])
    assert None not in compared_values([ast.parse("found == 1")])


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("n * 7 == 864199", 123457),
        ("864199 == 7 * n", 123457),
        ("(n + 3) * 7 > 70", 7),
        ("100 - n <= 1", 99),
        ("n % 1000 == 7", 1007),
        ("n // 60 >= 24", 1440),
        ("(n ^ 255) == 1", 254),
        ("self.n ** 2 == 1_000_000", 1000),
    ],
)
def test_the_value_that_a_computation_is_compared_with_is_solved_for(condition: str, value: int) -> None:
    assert value in compared_values([ast.parse(condition)])


@pytest.mark.parametrize("operation", [" % 9", " + 1"])
def test_a_condition_of_many_operations_is_not_solved(operation: str) -> None:
    assert compared_values([ast.parse(f"n{operation * 900} == 8")]) == (8,)


def test_what_has_no_solution_in_whole_numbers_adds_none() -> None:
    assert compared_values([ast.parse("n * 7 == 10; n % 5 == 9; n ** 2 == 8; n * m == 12")]) == (8, 9, 10, 12)


def test_a_method_is_called_as_often_as_a_number_of_the_class() -> None:
    code = "class A:\n    def add(self, x): ...\n    def full(self):\n        return self.n > 40\n"
    assert any("range(40)" in call.body and ".full()" in call.body for call in calls_for(code, "A"))


def setups(code: str, unit: str = "f", after: str = "") -> str:
    return "\n".join(call.setup for call in calls_for(code, unit, after=after))


def test_what_the_code_leaves_open_is_of_the_kind_that_the_new_code_uses() -> None:
    code = "def f(found, key):\n    return found[key]\n"
    assert "found = [" in setups(code)
    assert "found = [" not in setups(code, after="def f(found, key):\n    return found.get(key)\n")


def test_what_the_code_only_compares_stays_open() -> None:
    code = "def f(one, two):\n    return one == two\n"
    assert "one = '" in setups(code, after="def f(one, two):\n    return one - two == 0\n")


def test_texts_are_numbers_between_the_sign_at_which_code_splits_them() -> None:
    made = setups("def f(text: str):\n    return [int(part) for part in text.split('.')]\n")
    assert "text = '1.2.3'" in made
    assert "text = '1.10'" in made
    stated = setups(
        'def f(text: str):\n    """A version, as 1.10."""\n    return [int(part) for part in text.split(".")]\n'
    )
    assert "text = '1.2.3'" not in stated, "the documentation states another form"


def test_a_power_is_a_limit() -> None:
    assert f"size = {1024**3}" in setups("def f(size: int):\n    return size < 1024 ** 3\n")


def test_records_keep_the_keys_that_code_reads() -> None:
    rows = few_valued([{"event": "{'kind': 'x', 'id': 'long'}"}] * 20, [Parameter("event")], 1, {"kind": ("'opened'",)},
                      keys_read={"kind"})  # fmt: skip
    events = [literal(row["event"]) for row in rows]
    assert all(each.keys() == {"kind", "id"} and each["id"] in "abc" for each in events)
    assert sum(each["kind"] == "opened" for each in events) > 10
