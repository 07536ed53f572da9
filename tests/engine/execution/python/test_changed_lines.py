"""What of a Python text is new, and which statements have to run before anything says something about it."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.changed_lines import parts
from stet_ls.engine.execution.python.changed_part import with_error

TEXT = '''\
import math

RATE = 2


def twice(n):
    """Twice."""
    if n < 0:
        return 0
    return RATE * n


class Box:
    size = 1

    def grow(self):
        self.size += 1

    def show(self):
        return self.size
'''
CASES = {
    "a body": (("RATE * n", "n * RATE"), [("twice", {10})]),
    "a statement that was taken out": (("    if n < 0:\n        return 0\n", ""), [("twice", {8})]),
    "a new argument": (("twice(n)", "twice(n, m=1)"), [("twice", {8, 9, 10})]),
    "a decorator": (("def twice", "@str\ndef twice"), [("twice", {9, 10, 11})]),
    "a method": (("return self.size", "return 1"), [("Box.show", {20})]),
    "a new function": (("class Box", "def lost():\n    return 1\n\n\nclass Box"), [("lost", {14})]),
    "a new class": (
        ("class Box", "class New:\n    a = 1\n\n    def one(self):\n        return 1\n\n\nclass Box"), [("New", {17})]
    ),
    "a constant": (("RATE = 2", "RATE = 3"), [("RATE", {10})]),
    "a field": (("size = 1", "size = 2"), [("Box.size", {17, 20})]),
    "another import of the same name": (
        ("import math", "import cmath as math", "RATE = 2", "RATE = math.e"), [("math", set()), ("RATE", {10})]
    ),
    "a constant that is new": (("RATE = 2", "RATE = 2\nMORE = 3"), [("MORE", set())]),
    "a new constant with what reads it": (
        ("RATE = 2", "RATE = 2\nMORE = 3", "RATE * n", "MORE * n"), [("twice", {11})]
    ),
    "a new import with what uses it": (("import math", "import os, math", "RATE * n", "os.n"), [("twice", {10})]),
    "a comment": (("    return 0", "    return 0  # none"), []),
    "layout": (("RATE * n", "(\n        RATE * n\n    )"), []),
    "a docstring": (("Twice.", "Two times."), []),
    "a function that is gone": (("    def show(self):\n        return self.size\n", ""), [("", {8, 9, 10, 17})]),
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), CASES.values(), ids=CASES)
def test_changed_lines_have_to_run(change: tuple[str, ...], expected: list[tuple[str, set[int]]]) -> None:
    after = TEXT
    for old, new in zip(change[::2], change[1::2], strict=True):
        assert after.count(old) == 1
        after = after.replace(old, new)
    found = parts(TEXT, after)
    assert found is not None
    assert [(part.name, set(part.lines)) for part in found] == expected


def test_the_target_has_to_run_if_the_old_text_did_not_parse() -> None:
    found = parts(f"{TEXT}\ndef (:\n", TEXT.replace("return RATE * n", "return n"), "Box") or ()
    assert [(part.name, set(part.lines)) for part in found] == [("twice", {10})], "lines tell what is new"
    found = parts(f"{TEXT}\ndef (:\n", TEXT, "Box") or ()
    assert [(part.name, set(part.lines)) for part in found] == [("Box", {17, 20})]
    assert parts(TEXT, "def (") is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 if a else 2", "1 if a else 3"),
        ("a or b", "a or c"),
        ("a or b", "a or b or c"),
        ("[1 for x in a]", "[2 for x in a]"),
        ("[1 for x in a if 1]", "[1 for x in a if 2]"),
        ("f(lambda: 1)", "f(lambda: 2)"),
        ("a < b < c", "a < b < d"),
        ("f(a and b)", "f(a and c)"),
    ],
)
def test_unevaluated_parts_have_no_line(old: str, new: str) -> None:
    (part,) = parts(f"def f(a):\n    return {old}\n", f"def f(a):\n    return {new}\n") or ()
    assert (part.lines, len(part.lazy), part.is_hidden) == (frozenset(), 1, True)


def test_conditionally_evaluated_parts_have_their_lines() -> None:
    (part,) = parts("def f(a):\n    return a or 1\n", "def f(a):\n    return -a or 2\n") or ()
    assert (part.lines, part.is_hidden) == ({2}, False)


def test_tripwires_replace_unevaluated_parts() -> None:
    (part,) = parts("def f(a):\n    return a or 1\n", "def f(a):\n    return a or 2\n") or ()
    space: dict[str, object] = {}
    exec(with_error("def f(a):\n    return a or 2\n", part, "word") or "", space)
    assert eval("f(1)", space) == 1
    with pytest.raises(SystemExit, match="word"):
        eval("f(0)", space)


def test_tripwires_precede_new_code() -> None:
    after = TEXT.replace("return 0", "return 1")
    (part,) = parts(TEXT, after) or ()
    text = with_error(after, part, "word")
    assert text is not None
    space: dict[str, object] = {}
    exec(text, space)
    assert eval("twice(2)", space) == 4
    with pytest.raises(SystemExit, match="word"):
        eval("twice(-1)", space)
