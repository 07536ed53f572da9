"""Steps on an object are left out of an input by their numbers, in both languages."""

from __future__ import annotations

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.object_steps import without_steps
from stet_ls.engine.execution.javascript.inputs.calls import _quiet as caught_in_javascript
from stet_ls.engine.execution.python.inputs.calls import life_of


def test_steps_of_a_python_object_are_left_out() -> None:
    call = life_of("Stack()", ["push(1)", "pop('a')", "size"], "drawn")
    assert without_steps(call, {1}) == life_of("Stack()", ["push(1)", "size"], "drawn")
    assert without_steps(call, {0, 2}) == life_of("Stack()", ["pop('a')"], "drawn")
    assert without_steps(call, ()) == call


def test_steps_of_a_javascript_object_are_left_out() -> None:
    steps = ["__out__(obj.push(1))", "__out__(obj.pop())"]
    call = Call("", "\n".join(["const obj = new Stack()", *caught_in_javascript(steps)]))
    kept = Call("", "\n".join(["const obj = new Stack()", *caught_in_javascript(steps[:1])]))
    assert without_steps(call, {1}) == kept


def test_an_input_without_steps_stays() -> None:
    call = Call("n = 1", "__out__(f(n))")
    assert without_steps(call, {0}) == call
