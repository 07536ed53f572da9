"""Functions that an input wrote down are the same for both texts, and differ if their text does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stet_ls.engine.execution.python.inside.values.encode import from_input

_FAILING = "lambda *given: (_ for _ in ()).throw(OSError('failed'))"


def _written(text: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(f"made = {text}", space)
    return space["made"]  # type: ignore[no-any-return]


def test_functions_of_equal_text_are_the_same_with_functions_in_them() -> None:
    one, other = _written(_FAILING), _written(_FAILING)
    assert from_input(one) == from_input(other) != ""
    assert "0x" not in from_input(one)


def test_functions_that_read_other_names_differ() -> None:
    assert from_input(_written("lambda a: a.left")) != from_input(_written("lambda a: a.right"))
    assert from_input(_written("lambda: (_ for _ in (1,))")) == from_input(_written("lambda: (_ for _ in (1,))"))
    assert from_input(_written("lambda: [each + 1 for each in (1,)]")) != from_input(
        _written("lambda: [each + 2 for each in (1,)]")
    )


def test_a_function_of_the_judged_module_is_unknown() -> None:
    assert from_input(_written) == ""
