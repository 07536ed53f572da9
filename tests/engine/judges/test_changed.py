"""What of a Python text is new, and which statements have to run before anything says something about it."""

from __future__ import annotations

import pytest

from stet_ls.engine.judges.changed import parts, wired

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
def test_what_has_to_run(change: tuple[str, ...], expected: list[tuple[str, set[int]]]) -> None:
    after = TEXT
    for old, new in zip(change[::2], change[1::2], strict=True):
        assert after.count(old) == 1
        after = after.replace(old, new)
    found = parts(TEXT, after)
    assert found is not None
    assert [(part.name, set(part.lines)) for part in found] == expected


def test_a_text_that_did_not_parse_has_to_run_where_the_target_is() -> None:
    found = parts("def twice(:\n", TEXT, "Box")
    assert found is not None
    assert [(part.name, set(part.lines)) for part in found] == [("Box", {17, 20})]
    assert parts(TEXT, "def (") is None


def test_wires_stand_before_what_is_new() -> None:
    after = TEXT.replace("return 0", "return 1")
    (part,) = parts(TEXT, after) or ()
    text = wired(after, part, "word")
    assert text is not None
    space: dict[str, object] = {}
    exec(text, space)
    assert eval("twice(2)", space) == 4
    with pytest.raises(SystemExit, match="word"):
        eval("twice(-1)", space)
