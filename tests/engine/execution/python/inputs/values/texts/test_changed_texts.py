"""Texts that a change is about."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs.calls import changed_literals

CASES = {
    "a word more in a set": ("return v in {'a', 'b'}", "return v in {'a', 'b', 'irc'}", "'irc'"),
    "a word less in a set": ("return v in {'a', 'irc'}", "return v in {'a'}", "'irc'"),
    "another value for a key": ("return {'left': 1, 'right': 2}[v]", "return {'left': 3, 'right': 2}[v]", "'left'"),
    "a letter more in a text": ("return v.strip('abcdef')", "return v.strip('abcd#ef')", "'#'"),
    "a text that a pattern matches": (
        "import re; return re.match('^x$', v)", "import re; return re.match('^y$', v)", "'y'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_the_change_decides_on_is_a_text(case: str) -> None:
    before, after, text = CASES[case]
    found = changed_literals(f"def f(v):\n    {before}\n", f"def f(v):\n    {after}\n", "f")
    assert text in found


def test_equal_entries_give_nothing() -> None:
    text = "def f(v):\n    return {'left': 1}[v]\n"
    assert changed_literals(text, text.replace("[v]", ".get(v)"), "f") == ()


def test_constants_of_the_module_count_if_the_unit_uses_them() -> None:
    text = "TABLE = {'left': 1, 'right': 2}\nOTHER = {'up': 1}\n\n\ndef f(v):\n    return TABLE[v]\n"
    found = changed_literals(text, text.replace("'left': 1", "'left': 5").replace("'up': 1", "'up': 6"), "f")
    assert "'left'" in found
    assert "'up'" not in found
