"""What TypeScript's compiler refuses is no input."""

from __future__ import annotations

from typing import Any

import pytest

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.javascript.inputs.contract import of_declared_kinds, within_contract
from stet_ls.engine.execution.javascript.inputs.values.declared_kinds import is_of
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import BOOLEAN, NUMBER, STRING, ValueKind, union

CODE = """
type Step = { type: 'add'; item: string } | { type: 'clear' };
export function f(step: Step, count: number) {
  return step.type === 'add' ? step.item : count;
}
"""
LITERAL = ValueKind("literal", text="'add'")
OBJECT = ValueKind("object", fields=(("a", NUMBER, False), ("b", STRING, True)))


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        (1, NUMBER, True), ("1", NUMBER, False), (True, NUMBER, False), (True, BOOLEAN, True), (None, STRING, False),
        ("add", LITERAL, True), ("clear", LITERAL, False), ({"a": 1}, OBJECT, True), ({"b": "x"}, OBJECT, False),
        ({"a": 1, "b": 2}, OBJECT, False), ([1, 2], ValueKind("array", (NUMBER,)), True),
        ([1, "2"], ValueKind("array", (NUMBER,)), False), ([1], ValueKind("tuple", (NUMBER, STRING)), False),
        ("x", union((NUMBER, STRING)), True), ("x", ValueKind("class", text="A"), True),
    ],
)  # fmt: skip
def test_a_value_is_of_a_kind_or_not(value: Any, kind: ValueKind, fits: bool) -> None:
    assert is_of(value, kind) is fits


def test_calls_with_arguments_of_other_kinds_are_left_out() -> None:
    def call(step: str, count: str) -> Call:
        return Call(
            f"const step = {step}\nconst count = {count}", "__out__(f(step, count))", ("step", "count"), "drawn"
        )

    good = (call('{type: "add", item: "a"}', "1"), call('{type: "clear"}', "2"), call("made()", "3"))
    bad = (call('{type: "add"}', "1"), call('{type: "clear"}', '"2"'))
    assert of_declared_kinds((*good, *bad), CODE, "typescript", "f") == good
    assert of_declared_kinds((*good, *bad), CODE, "javascript", "f") == (*good, *bad)


def test_numbers_from_zero_are_not_negative() -> None:
    code = "/** A time of whole seconds from 0. */\nexport function f(seconds) {\n  return seconds;\n}\n"
    calls = tuple(Call(f"const seconds = {each}", "__out__(f(seconds))", ("seconds",), "drawn") for each in ("3", "-3"))
    assert within_contract(calls, code, "javascript", "f") == calls[:1]
