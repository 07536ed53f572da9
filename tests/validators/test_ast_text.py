"""Syntax trees as text, with numbers that Python writes in no other way than in hexadecimals."""

from __future__ import annotations

import ast

import pytest

from stet_ls.validators.ast_text import dump, unparse

LONG = f"0x{'f' * 5_000}"


@pytest.mark.parametrize(
    "text", [f"x = -{LONG}", f"{LONG}.bit_length()", f"match x:\n    case {LONG}:\n        f'{{{LONG}}}'"]
)
def test_long_numbers_are_written_so_that_they_can_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        ast.unparse(ast.parse(text))
    again = unparse(ast.parse(text))
    assert LONG in again
    assert dump(ast.parse(again)) == dump(ast.parse(text)) != dump(ast.parse(text.replace("fff", "ffe")))


def test_others_are_written_as_ever_and_no_tree_is_changed() -> None:
    tree = ast.parse(f"a = 0xff, True, {LONG}")
    assert unparse(tree) == f"a = (255, True, {LONG})"
    assert isinstance(tree.body[0], ast.Assign)
    assert all(isinstance(each, ast.Constant) for each in ast.walk(tree.body[0].value) if hasattr(each, "value"))
