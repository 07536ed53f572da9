"""What is read of a reply with example calls: calls of the unit, with data for arguments, and nothing else."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.inputs.rows import GUESSED, SUGGESTED
from stet_ls.engine.execution.javascript.inputs.known_calls.suggested import suggested_calls as script_calls
from stet_ls.engine.execution.python.inputs.known_calls.suggested import MOST, near, suggested_calls

TEXT = """
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    AIR = 1


@dataclass
class Box:
    kilos: int
    kind: Kind = Kind.AIR


def weight(boxes, day=None):
    return 0


def total(first, *more, **named):
    return 0


class Shelf:
    def __init__(self, size):
        self.size = size

    @staticmethod
    def least(boxes):
        return min(boxes)

    @property
    def room(self):
        return self.size

    def put(self, box, at=0):
        return box

    def take(self, at):
        return at
"""
SCRIPT = """
export function weight(boxes, limit = 3) {
  return boxes.length;
}

export class Shelf {
  put(box) {
    return box;
  }
}
"""


def read(reply: str, unit: str = "weight") -> list[str]:
    return [call.expression for call in suggested_calls(reply, TEXT, unit)]


READ = {
    "literals": ("weight([1, -2.5, {'a': (None, {3})}])", ["weight([1, -2.5, {'a': (None, {3})}])"]),
    "by name": ("weight([], day='mon')", ["weight([], 'mon')"]),
    "a class of the file": ("weight([Box(3, kind=Kind.AIR)])", ["weight([Box(3, kind=Kind.AIR)])"]),
    "a class of the library": (
        "weight([], date(2024, 1, 31))\nweight([], datetime.date(2024, 2, 1))\nweight([Decimal('1.5')])",
        [
            "weight([], __import__('datetime').date(2024, 1, 31))",
            "weight([], __import__('datetime').date(2024, 2, 1))",
            "weight([__import__('decimal').Decimal('1.5')])",
        ],
    ),
    "built-in containers": ("weight(set([1]), float('inf'))", ["weight(set([1]), float('inf'))"]),
    "a list with fences and numbers": (
        "Here are some:\n```python\n1. weight([1])\n2. `weight([2])`\n>>> weight([3])\n```\nThat is all.",
        ["weight([1])", "weight([2])", "weight([3])"],
    ),
    "expected results, which are not read": (
        "weight([1]) == 7\nweight([2]) -> 8\nassert weight([3]) == 9\nprint(weight([4]))\nx = weight([5])  # ten",
        ["weight([1])", "weight([2])", "weight([3])", "weight([4])", "weight([5])"],
    ),
    "what is entered or repeated": (
        "with weight([1]) as w:\n    print(w)\nfor each in weight([2]):\n    pass\nlist(weight([3]))",
        ["weight([1])", "weight([2])", "weight([3])"],
    ),
    "a call of several lines": ("weight(\n    [1],\n)\n", ["weight([1])"]),
    "the same call twice": ("weight([1])\nweight( [1] )", ["weight([1])"]),
}
DROPPED = {
    "nothing": "",
    "prose": "I would call it with a list, and then (perhaps) without one.",
    "half a call": "weight([1, 2",
    "another function": "other([1])\nmin([1])\nself.weight([1])",
    "an argument that runs": "weight(__import__('os').system('touch /tmp/gone'))",
    "what is around it runs": "__import__('os').system(weight([1]))\nexec('weight([1])')",
    "an open file": "weight(open('/etc/passwd'))\nweight([Path.home()])",
    "an attribute of a class": "weight(Box.__init__)\nweight(Box.__subclasses__())\nweight(Kind.__members__)",
    "a function": "weight(lambda: 1)\nweight(print)\nweight([x for x in range(9)])",
    "a name": "weight(boxes)\nweight(*[1])\nweight(**{'boxes': 1})",
    "an f-string": "weight(f'{1}')",
    "a definition": "def weight(boxes): return 1\nclass Box: pass\nimport os",
    "too few arguments": "weight()",
}


@pytest.mark.parametrize("case", READ)
def test_calls_with_data_are_read(case: str) -> None:
    reply, calls = READ[case]
    assert read(reply) == calls


@pytest.mark.parametrize("case", DROPPED)
def test_all_else_is_dropped(case: str) -> None:
    assert read(DROPPED[case]) == []


def test_any_number_of_arguments_is_read() -> None:
    assert read("total(1, 2, 3, by='sea')", "total") == ["total(1, *[2, 3], **{'by': 'sea'})"]


def test_a_reply_is_not_read_to_its_end() -> None:
    assert len(read("\n".join(f"weight([{n}])" for n in range(50)))) == MOST


@pytest.mark.parametrize(
    ("unit", "reply", "lines"),
    [
        ("Shelf.least", "Shelf.least([1])\nleast([2])", ["Shelf.least([1])"]),
        ("Shelf.put", "Shelf(3).put(1)", ["obj = Shelf(3)", "obj.put(1)"]),
        ("Shelf.put", "s = Shelf(3)\ns.take(1)\ns.put(1, at=2)", ["obj = Shelf(3)", "obj.take(1)", "obj.put(box, at)"]),
        ("Shelf.room", "Shelf(3).room\nShelf(3).room()", ["obj = Shelf(3)", "obj.room"]),
        ("Shelf", "s = Shelf(3)\ns.put(1)\ns.room\ns.gone(1)", ["obj = Shelf(3)", "obj.put(1)", "obj.room"]),
        ("Shelf.put", "put(1)\nBox(3).put(1)\nShelf(open('a')).put(1)\nshelf.put(1)", []),
    ],
)
def test_a_method_needs_an_object_that_the_reply_creates(unit: str, reply: str, lines: list[str]) -> None:
    calls = suggested_calls(reply, TEXT, unit)
    assert len(calls) == bool(lines)
    written = "\n".join(f"{call.setup}\n{call.snippet}" for call in calls)
    assert all(line in written for line in lines), written


def test_every_call_is_known_as_a_suggestion_and_near_misses_as_guesses() -> None:
    calls = suggested_calls("weight([1, 2])\nweight({'a': 5})", TEXT, "weight")
    assert {call.origin for call in calls} == {SUGGESTED}
    others = near(calls, TEXT, "weight")
    assert len(others) > 10
    assert {call.origin for call in others} == {GUESSED}


def test_an_apparent_secret_is_not_shown() -> None:
    token = "ghp_" + "x9K2mQ7vB4nL8wR1tY6uP3sD5fG0hJ2kZ7cV"
    (call,) = suggested_calls(f"weight(['{token}'])", TEXT, "weight")
    assert call.is_secret
    assert token not in call.snippet


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ("1. weight([{\"kilos\": 2, by: 'air'}], 4) // 8", ['weight([{kilos: 2, by: "air"}], 4)']),
        ("weight([1]);\nweight([true, null])", ["weight([1])", "weight([true, null])"]),
        ("weight(process.exit(1))\nweight([...new Set([1])])\nweight(() => 1)\nother([1])\nweight([1", []),
        ("new Shelf().put(1)", []),
    ],
)
def test_of_javascript_calls_with_literals_are_read(reply: str, calls: list[str]) -> None:
    found = script_calls(reply, SCRIPT, "javascript", "weight")
    assert [call.expression.removesuffix(";") for call in found] == calls
    assert {call.origin for call in found} <= {SUGGESTED}


def test_of_javascript_no_methods_are_read() -> None:
    assert script_calls("new Shelf().put(1)", SCRIPT, "javascript", "Shelf.put") == ()
