"""Code from a reply at a position, or in place of a comment: blank lines around it, and line ends."""

from __future__ import annotations

import pytest
from support.fitting import check, fitted

# -- insertions and comments


def test_an_insertion_at_top_level_has_two_blank_lines() -> None:
    check(
        "import os\n\nx = 1\n¦\ndef g():\n    pass\n",
        "import re\ndef f():\n    return re\n",
        "import os\nimport re\n\nx = 1\n\n\ndef f():\n    return re\n\n\ndef g():\n    pass\n",
    )


def test_an_insertion_at_the_end_without_a_line_end() -> None:
    assert fitted("x = 1¦", "def f():\n    pass")[0] == "x = 1\n\n\ndef f():\n    pass"
    assert fitted("x = 1\n¦", "def f():\n    pass")[0] == "x = 1\n\n\ndef f():\n    pass\n"
    assert fitted("¦", "def f():\n    pass")[0] == "def f():\n    pass\n"


def test_an_insertion_in_a_block_has_one_blank_line_and_none_at_its_edges() -> None:
    assert fitted("class A {\n¦  a() {}\n}\n", "b() {}", "javascript")[0] == "class A {\n  b() {}\n\n  a() {}\n}\n"
    assert (
        fitted("class A {\n  a() {}\n¦  \n}\n", "b() {}", "javascript")[0] == "class A {\n  a() {}\n\n  b() {}\n  \n}\n"
    )


def test_a_comment_is_replaced_by_what_it_asked_for() -> None:
    check(
        "x = 1\n\n\n¦⟦# stet: a function f⟧\n\n\ny = 2\n",
        "# stet: a function f\ndef f():\n    pass\n",
        "x = 1\n\n\ndef f():\n    pass\n\n\ny = 2\n",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("⟦# stet: faster⟧\n«def f():\n    return 0»\n", "def f():\n    return 1\n"),
        ("«⟦# stet: faster⟧\ndef f():\n    return 0»\n", "def f():\n    return 1\n"),
        ("«def f():\n    ⟦# stet: faster⟧\n    return 0»\n", "def f():\n    return 1\n"),
        ("a = 1\n\n⟦# stet: faster⟧\n\n«def f():\n    return 0»\n", "a = 1\n\ndef f():\n    return 1\n"),
        ("«def f():\n    return 0»\na = 1  ⟦# stet: faster⟧\n", "def f():\n    return 1\na = 1\n"),
        ("«def f():\n    return 0»\n⟦# stet: faster⟧", "def f():\n    return 1\n"),
    ],
    ids=["above", "in front of the unit", "inside", "between blank lines", "behind a statement", "last line"],
)
def test_the_comment_goes_with_its_line(before: str, after: str) -> None:
    assert fitted(before, "def f():\n    # stet: faster\n    return 1", name="f")[0] == after
