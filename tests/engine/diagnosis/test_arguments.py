"""What a test passes, held against what a unit's parameters state."""

from __future__ import annotations

import ast

import pytest

from stet_ls.engine.diagnosis.arguments import fits


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        ([1, 2], "list[int]", True),
        (["a"], "list[int]", False),
        ((1, 2), "list[int]", False),
        ([1, ...], "List[int]", True),
        ({"a": [1]}, "dict[str, list[int]]", True),
        ({"a": [None]}, "dict[str, list[int]]", False),
        ((1, "a"), "tuple[int, str]", True),
        ((1, 2, 3), "tuple[int, ...]", True),
        ((1, 2, 3), "tuple[int, int]", False),
        (None, "int | None", True),
        (None, "Optional[int]", True),
        (None, "int", False),
        (3, "float", True),
        (3.5, "int", False),
        (True, "int", True),
        ("x", "Path", True),
        ("x", "typing.Iterable[int]", True),
        ([1], "list", True),
    ],
)
def test_a_literal_fits_a_parameter_or_does_not(value: object, annotation: str, expected: bool) -> None:
    assert fits(value, ast.parse(annotation, mode="eval").body) is expected
