"""Arguments that tests pass to the functions of a file, as they were when the call began."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.suites import Check

from stet_ls.engine.runners.report import TestReport

CODE = """\
import asyncio
import functools
import sqlite3


def total(prices, rate=0.5, *more, **named):
    prices.append(0)
    return sum(prices) * rate


@functools.lru_cache
def square(number): return number * number


async def later(number):
    return number


def count(numbers):
    yield from numbers


def every(value):
    def inner(value):
        return value
    return inner(value)


class Cart:
    def __init__(self, items=()):
        self.items = list(items)
        self.password = "hunter2"

    def add(self, item):
        self.items.append(item)

    @classmethod
    def empty(cls, size):
        return cls()

    @property
    def first(self):
        return self.items[0]
"""


def calls(report: TestReport, unit: str) -> list[dict[str, str]]:
    """The captured arguments of a function: texts, and in angle brackets the types of the others."""
    assert report.green, report.detail
    return [
        {**each.texts, **{name: f"<{kind}>" for name, kind in each.held.items()}}
        for each in report.captured["code.py"].calls
        if each.unit == unit
    ]


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
async def test_arguments_are_captured_as_they_were_before_the_call(check: Check, framework: str) -> None:
    tests = {
        "test_a.py": "import unittest\nimport asyncio\nfrom code import *\nclass TestA(unittest.TestCase):\n"
        "  def test_total(self):\n    assert total([1, 2], rate=float('inf')) > 0\n"
        "    assert total([3], 2, 'a', b'c', key={'k': (1,), 'e': set()}) == 6\n"
        "    assert total([1, 2], float('inf'))\n"
        "  def test_square(self): assert square(2) + square(2) == 8\n"
        "  def test_later(self): assert asyncio.run(later(1)) == 1\n"
        "  def test_count(self): assert list(count([1, 2])) == [1, 2]\n"
        "  def test_cart(self):\n    cart = Cart()\n    cart.add(1)\n    cart.add(2)\n    assert cart.first == 1\n"
        "    assert Cart.empty(3).items == []\n"
    }

    report = await check("python", tests, {"code.py": CODE}, captured=("code.py",), framework=framework)

    assert calls(report, "total") == [
        {"prices": "[1, 2]", "rate": "float('inf')", "*more": "()", "**named": "{}"},
        {"prices": "[3]", "rate": "2", "*more": "('a', b'c')", "**named": "{'key': {'k': (1,), 'e': set([])}}"},
    ]
    assert calls(report, "square") == [{"number": "2"}]
    assert calls(report, "later") == [{"number": "1"}]
    assert calls(report, "count") == [{"numbers": "[1, 2]"}]
    assert calls(report, "Cart.add") == [{"item": "1", "self": "<Cart>"}, {"item": "2", "self": "<Cart>"}]
    assert calls(report, "Cart.empty") == [{"size": "3"}]
    assert calls(report, "Cart.first") == [{"self": "<Cart>"}]
    add = next(each for each in report.captured["code.py"].calls if each.unit == "Cart.add")
    assert add.classes == {"Cart"}
    assert report.captured["code.py"].module == "code"
    assert "hunter2" in add.words
    assert "hunter2" not in repr(report), "what is captured may be a secret"


async def test_what_cannot_be_copied_is_counted_by_its_kind(check: Check) -> None:
    tests = {
        "test_a.py": "import io, threading, sqlite3\nfrom unittest.mock import Mock\nfrom code import every\n"
        "def test_a():\n  with open(__file__) as file: every(file)\n  every(i for i in [1])\n"
        "  every(threading.Lock())\n"
        "  every(sqlite3.connect(':memory:'))\n  every('a' * 100_000)\n  every(list(range(100_000)))\n"
        "  every(object)\n  every(Mock())\n  every({1: [lambda: 1]})\n  every(Bad())\n"
        "class Bad:\n  def __reduce__(self): raise RuntimeError('hunter2')\n"
    }

    report = await check("python", tests, {"code.py": CODE}, captured=("code.py",))

    assert report.captured["code.py"].uncaptured == {
        "every": {"open file": 1, "generator": 1, "lock": 1, "database": 1, "too large": 2, "Mock": 1, "Bad": 1}
    }
    assert calls(report, "every") == [{"value": "<type>"}, {"value": "<dict>"}]


async def test_captured_calls_are_distinct_and_few_of_each_test(check: Check) -> None:
    tests = {
        "test_a.py": "import pytest\nfrom code import every\n"
        "def test_many():\n  for number in range(500): every(number)\n  for number in range(500): every(1)\n"
        "def test_others():\n  for number in range(5): every(-number)\n"
        "@pytest.mark.parametrize('n', range(60))\ndef test_each(n): every([n])\n"
    }

    report = await check("python", tests, {"code.py": CODE}, captured=("code.py",))

    values = [call["value"] for call in calls(report, "every")]
    assert len(values) == len(set(values)) == 50
    assert values[:12] == [*map(str, range(10)), "-1", "-2"]


async def test_nothing_is_captured_of_other_files_nor_without_being_asked(check: Check) -> None:
    tests = {"test_a.py": "from code import every\ndef test_a(): assert every(1) == 1\n"}

    assert (await check("python", tests, {"code.py": CODE})).captured == {}
    other = {"code.py": CODE, "other.py": "def every(value): return value\n"}
    assert (await check("python", tests, other, captured=("other.py",))).captured == {}


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.12", "3.13", "3.14"])
def test_every_python_version_captures_calls(version: str, tmp_path: Path) -> None:
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    program = next((str(each) for each in found if each and _works(each)), None)
    if program is None:
        pytest.skip(f"no Python {version} on this machine")
    (tmp_path / "code.py").write_text(CODE)
    inside = Path(__file__).resolve().parents[3] / "engine/runners/inside"
    (tmp_path / "inside").symlink_to(inside)
    (tmp_path / "main.py").write_text(
        "import json\nfrom inside.captured import CallCapture\n\n\nclass Printed:\n"
        "    def say(self, event, **told):\n        print(json.dumps({'event': event, **told}))\n\n\n"
        "captured = CallCapture(Printed(), ['code.py'])\ncaptured.start()\nimport code\n"
        "captured.begin()\ncode.total([1])\nlist(code.count([5]))\ncode.every(lambda: 1)\ncode.every(i for i in '')\n"
        "code.Cart().add(1)\ncaptured.end()\ncode.total([2])\n"
    )

    output = subprocess.run([program, "-B", "main.py"], cwd=tmp_path, capture_output=True, text=True, check=True)

    rows = [json.loads(line) for line in output.stdout.splitlines()]
    assert [(row["unit"], row.get("texts", row.get("why"))) for row in rows] == [
        ("total", {"prices": "[1]", "rate": "0.5", "*more": "()", "**named": "{}"}),
        ("count", {"numbers": "[5]"}),
        ("every", {}),
        ("every", "generator"),
        ("Cart.__init__", {"items": "()"}),
        ("Cart.add", {"item": "1"}),
    ]
    assert b"Cart" in base64.b64decode(rows[-1]["data"])


def _works(program: Path | str) -> bool:
    """pyenv puts programs on the PATH that start nothing."""
    return not subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode
