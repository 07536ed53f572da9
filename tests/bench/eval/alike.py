"""Runs behind an answered document: does its function do what its references do, otherwise written, or faster?

The text of this file is part of the hidden program, so it imports nothing of ours.
"""

from __future__ import annotations

import ast
import copy
import math
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

Function = Callable[..., Any]
_TIMEOUT = 1
"""Seconds of the processor's time after which a reference's input says nothing: no one waits for it."""
_SLACK = 5
"""So many times that is what the code in question gets."""
_ROUNDS = 7
_LEAST_SECONDS = 0.02
"""What one turn of the clock takes at least: below it the clock's own noise is measured."""


def function(text: str, name: str) -> Function:
    """A function out of a text of its own, so that neither sees the other's names."""
    space: dict[str, Any] = {"__name__": "reference"}
    exec(text, space)
    found: Function = space[name]
    return found


def same_result(new: Function, references: Sequence[Function], inputs: Sequence[Sequence[Any]]) -> None:
    """`new` returns what all references return. AssertionError names the input.

    Inputs that a reference fails on, or on which two references differ, say nothing: no one knows what is wanted there.
    """
    for given in inputs:
        wanted = [_outcome(each, given) for each in references]
        if all(each is not None and _equal(each[0], wanted[0][0]) for each in wanted):
            found = _outcome(new, given, _SLACK * _TIMEOUT)
            assert found is not None, given
            assert _equal(found[0], wanted[0][0]), given


def same_behavior(new: Function, old: Function, inputs: Sequence[Sequence[Any]]) -> None:
    """`new` is a rewriting of `old`: the type of the result counts too, and what becomes of the arguments."""
    for given in inputs:
        wanted = _outcome(old, given)
        if wanted is not None:
            found = _outcome(new, given, _SLACK * _TIMEOUT)
            assert found is not None, given
            assert type(found[0]) is type(wanted[0]), given
            assert all(map(_equal, found, wanted)), given


def rewritten(program: str, old: str, name: str) -> None:
    """The function's code is another one: not just its layout, comments or docstring."""
    assert _code(program, name) != _code(old, name), "nothing changed"


def faster(new: Function, old: Function, inputs: Sequence[Sequence[Any]], least: float) -> None:
    """`new` takes 1/`least` of `old`'s time or less over all inputs, which it treats as `old` does."""
    same_behavior(new, old, inputs)
    pairs = [(_seconds(old, inputs), _seconds(new, inputs)) for _ in range(_ROUNDS)]
    ratio = sorted(before / after for before, after in pairs)[_ROUNDS // 2]
    assert ratio >= least, ratio


def _outcome(function: Function, given: Sequence[Any], seconds: float = _TIMEOUT) -> tuple[Any, Sequence[Any]] | None:
    """What comes back, and the arguments afterwards; None if it raises, or takes longer."""
    arguments = copy.deepcopy(given)
    signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        try:
            result = function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # an alarm may still be on its way, and is caught as well
    except Exception:
        return None
    return result, arguments


def _give_up(*_: object) -> None:
    raise TimeoutError


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (one != one and other != other)
    return bool(one == other) or repr(one) == repr(other)


def _code(text: str, name: str) -> list[str]:
    """The parameters and statements of the first function of that name, but for its docstring."""
    found = next(each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef) and each.name == name)
    statements = found.body[ast.get_docstring(found, clean=False) is not None :]
    return [ast.dump(each) for each in (found.args, *statements)]


def _seconds(function: Function, inputs: Sequence[Sequence[Any]]) -> float:
    """The processor's time of one pass over the inputs, as a mean of so many that the clock can tell."""
    count, spent = 0, 0.0
    while spent < _LEAST_SECONDS:
        arguments = copy.deepcopy(inputs)
        started = time.process_time()
        for given in arguments:
            function(*given)
        spent += time.process_time() - started
        count += 1
    return spent / count
