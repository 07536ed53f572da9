"""Values as text: functions that an input wrote down, and items that are written all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from stet_ls.engine.execution.python.inside.values.encode import Encoder, from_input

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


@pytest.mark.parametrize(
    "items",
    [[1, True, None, "a", b"b", 2j], [1.0, -0.0, float("nan"), 2, 1e300], ["\x01", "'"], [10**5000, 1]],
    ids=["kinds", "floats", "texts", "thousands of digits"],
)
def test_items_are_written_as_each_of_them_alone(items: list[Any]) -> None:
    texts = [Encoder(private=True).text(item) for item in items]
    encoder = Encoder(private=True)
    assert encoder.text(items) == f"[{', '.join(texts)}]"
    assert encoder.nodes == 1 + len(items)
    pairs = ", ".join(f"{number}: {text}" for number, text in enumerate(texts))
    assert Encoder(private=True).text(dict(enumerate(items))) == "{" + pairs + "}"


def test_items_of_a_class_of_their_own_are_not_asked_how_they_are_written() -> None:
    class Sly(int):
        def __repr__(self) -> str:
            return "1"

    assert Encoder(private=True).text([Sly(2), 1]) != Encoder(private=True).text([1, 1])


class _EqualToAll(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class _Forged(metaclass=_EqualToAll):
    def __repr__(self) -> str:
        return "5"


def test_a_class_that_claims_to_be_another_is_written_as_what_it_is() -> None:
    assert Encoder(private=True).text(_Forged()) == "_Forged()"
    assert Encoder(private=True).text([_Forged(), _Forged()]) == "[_Forged(), _Forged()]"
    assert Encoder(private=True).text({1: _Forged(), 2: _Forged()}) == "{1: _Forged(), 2: _Forged()}"


def test_a_class_with_the_name_of_another_is_written_as_what_it_is() -> None:
    forged = type(
        "date", (), {"__module__": "datetime", "__class__": property(lambda _: date), "__str__": lambda _: "1"}
    )
    assert Encoder(private=True).text(date(2024, 1, 2)) == "date(2024-01-02)"
    assert Encoder(private=True).text(forged()) == "date()"
    assert Encoder(private=True).text(date) == "<class datetime.date>"
    encoder = Encoder(private=True)
    assert encoder.text(type("date", (), {"__module__": "datetime"})) == "<type date>"
    assert encoder.opaque
    assert Encoder(private=True).text([int, type(None)]) == "[<class builtins.int>, <class builtins.NoneType>]"


def test_an_object_that_claims_to_be_a_database_is_not_asked_for_its_contents() -> None:
    forged = type("Fake", (), {"__class__": property(lambda _: sqlite3.Connection), "iterdump": lambda _: iter(())})
    assert Encoder(private=True).text(sqlite3.connect(":memory:")) == Encoder(private=True).text(
        sqlite3.connect(":memory:")
    )
    assert Encoder(private=True).text(forged()) == "Fake()"
