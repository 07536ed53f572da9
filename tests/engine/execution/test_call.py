"""A call's arguments, read and replaced."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call

CALL = Call(
    "a = [1]\nb = 'x = 2'\ntry: obj.put(3)\nexcept Exception as error: pass", "__out__(f(a, b))", ("a", "b"), "drawn"
)


def test_only_names_of_the_call_are_bound() -> None:
    assert CALL.bindings() == {"a": "[1]", "b": "'x = 2'"}
    assert Call("_files = 1\na = 2", "__out__(f(a))", ("a",)).bindings() == {"a": "2"}


def test_other_lines_stay() -> None:
    made = CALL.with_bindings({"b": "'y'"}, origin="grown")
    assert made.setup == CALL.setup.replace("'x = 2'", "'y'")
    assert (made.origin, made.body, made.names) == ("grown", CALL.body, CALL.names)
    assert CALL.with_bindings({}) == CALL
