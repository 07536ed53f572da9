"""Old against new: a difference is found and told, sameness never alarms, and what cannot be compared is said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase, in_each_box

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.differential.judge import judge

TOTAL = '''
def total(prices, rate=0.5):
    """What they cost.

    >>> total([1.0, 2.0])
    4.5
    """
    whole = 0
    for price in prices:
        whole += price
    return whole * (1 + rate)
'''
INDENT = """
def indent(text, prefix, predicate=None):
    if predicate is None:
        def predicate(line):
            return line.strip()

    return "".join(prefix + line if predicate(line) else line for line in text.splitlines(True))
"""
INDENT_WITHOUT_DEFAULT = """
def indent(text, prefix, predicate=None):
    return "".join(prefix + line if predicate(line) else line for line in text.splitlines(True))
"""
LONG = f"0x{'f' * 5_000}"
"""More digits than Python writes in tens."""
KEYED = f'''
KEY = {LONG}


def keyed(x: int, y: int = {LONG}):
    """
    >>> keyed({LONG}, -{LONG})
    0
    """
    return x + y if x != {LONG} else 0
'''
CASES = {
    "numbers of thousands of digits": (KEYED, KEYED.replace("x + y", "x + y + 1"), "keyed", "0x10000000"),
    "its result varies": (TOTAL, TOTAL.replace("1 + rate", "1 - rate"), "total", "total("),
    "only on empty input": (
        TOTAL, TOTAL.replace("    whole = 0\n", "    whole = 0 if prices else 1\n"), "total", "[]",
    ),
    "another error": (
        "def first(names: list[str]):\n    if not names:\n        raise ValueError('none')\n    return names[0]\n",
        "def first(names: list[str]):\n    return names[0]\n", "first", "IndexError",
    ),
    "an argument changed": (
        "def top(xs: list[int]) -> int:\n    return max(sorted(xs), default=0)\n",
        "def top(xs: list[int]) -> int:\n    xs.sort()\n    return max(xs, default=0)\n", "top", "after",
    ),
    "something printed": (
        "def say(n: int) -> None:\n    print(n)\n", "def say(n: int) -> None:\n    print(n + 1)\n", "say", "prints",
    ),
    "too much output": (
        "def down(n: int) -> int:\n    return max(n, 0)\n",
        "def down(n: int) -> int:\n    while n > 5:\n        pass\n    return max(n, 0)\n", "down", "does not finish",
    ),
    "a process ended": (
        "import os\n\n\ndef f(n: int):\n    return n\n",
        "import os\n\n\ndef f(n: int):\n    if n == 7:\n        os._exit(0)\n    return n\n", "f", "ends the process",
    ),
    "a file written": (
        "def f(n: int) -> int:\n    return n\n",
        "def f(n: int) -> int:\n    open('/tmp/x', 'w').close()\n    return n\n", "f", "writes files",
    ),
    "a name that is not there": (
        "def f(n: int):\n    return n\n", "import nowhere_at_all\n\n\ndef f(n: int):\n    return n\n", "f",
        "nowhere_at_all",
    ),
    "a class by its calls": (
        "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, item: int):\n"
        "        self.items.append(item)\n    def pop(self):\n        return self.items.pop()\n",
        "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, item: int):\n"
        "        self.items.append(item)\n    def pop(self):\n        return self.items.pop(0)\n", "Stack", "pop",
    ),
    "a method on objects": (
        "class Account:\n    def __init__(self, balance: int):\n        self.balance = balance\n"
        "    def pay(self, amount: int):\n        self.balance -= amount\n",
        "class Account:\n    def __init__(self, balance: int):\n        self.balance = balance\n"
        "    def pay(self, amount: int):\n        self.balance -= max(amount, 0)\n", "Account.pay", "balance=",
    ),
    "a variable of the module changed": (
        "SEEN = []\n\n\ndef f(n: int):\n    SEEN.append(n)\n    return n\n",
        "SEEN = []\n\n\ndef f(n: int):\n    SEEN.append(-n)\n    return n\n", "f", "SEEN = [",
    ),
    "a global bound again": (
        "COUNT = 0\n\n\ndef f(n: int):\n    global COUNT\n    COUNT += 1\n    return n\n",
        "COUNT = 0\n\n\ndef f(n: int):\n    global COUNT\n    COUNT += 2\n    return n\n", "f", "COUNT = ",
    ),
    "the order of an OrderedDict": (
        "from collections import OrderedDict\n\n\ndef f(xs: list[int]):\n    return OrderedDict.fromkeys(xs)\n",
        "from collections import OrderedDict\n\n\ndef f(xs: list[int]):\n"
        "    return OrderedDict.fromkeys(sorted(xs))\n", "f", "OrderedDict",
    ),
    "a view": (
        "def f(d: dict[str, int]):\n    return d.values()\n",
        "def f(d: dict[str, int]):\n    return {k: abs(v) for k, v in d.items()}.values()\n", "f", "dict_values",
    ),
    "a generator": (
        "def up(n: int):\n    yield from range(n)\n", "def up(n: int):\n    yield from range(n + 1)\n", "up", "was",
    ),
    "what a generator gives before it raises": (
        "def f(xs: list[int]):\n    yield from xs\n    raise KeyError\n",
        "def f(xs: list[int]):\n    yield from xs[1:]\n    raise KeyError\n", "f", "raises KeyError",
    ),
    "an asynchronous generator": (
        "async def f(xs: list[int]):\n    for x in xs:\n        yield x\n",
        "async def f(xs: list[int]):\n    for x in reversed(xs):\n        yield x\n", "f", "iterator[",
    ),
    "a coroutine": (
        "import asyncio\n\n\nasync def f(n: int):\n    await asyncio.sleep(3600)\n    return n\n",
        "import asyncio\n\n\nasync def f(n: int):\n    await asyncio.sleep(3600)\n    return -n\n", "f", "`f(",
    ),
    "a default that is understood no more": (INDENT, INDENT_WITHOUT_DEFAULT, "indent", "TypeError"),
    "a TypeError for what only is empty": (
        "def f(nums):\n    total = 1\n    for n in nums:\n        total *= n\n    return total\n",
        "from functools import reduce\n\n\ndef f(nums):\n    return reduce(lambda a, b: a * b, nums)\n", "f", "[]",
    ),
    "nothing found, which was looked into": (
        "import re\n\n\ndef f(text):\n    m = re.search('[0-9]', text)\n    return m.group() if m else ''\n",
        "import re\n\n\ndef f(text):\n    return re.search('[0-9]', text).group()\n", "f", "AttributeError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_difference_is_reported(make: MakeCase, name: str) -> None:
    before, after, unit, says = CASES[name]
    evidence = await judge(make(before, after, unit))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence
    assert says in evidence.detail


async def test_a_kind_of_argument_that_is_no_longer_accepted_is_not_refuted(make: MakeCase) -> None:
    """No one says whether texts were meant; a person sees it at once."""
    before = "def f(first, second):\n    return first * 2 if first == second else first\n"
    after = "def f(first, second):\n    return first * 2 if first - second == 0 else first\n"
    evidence = await judge(make(before, after, "f"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, True), evidence
    assert "outside the inferred types" in evidence.detail


SAME = {
    "plain": (TOTAL, "total"),
    "chance and clock": (
        "import random, time, uuid, os\nfrom datetime import datetime\n\n\ndef f(n: int):\n"
        "    time.sleep(n % 3)\n"
        "    return random.random(), time.time(), uuid.uuid4(), os.urandom(4), datetime.now(), n\n", "f",
    ),
    "order of a set": ("def f(words: list[str]):\n    return set(words), {w: 1 for w in words}\n", "f"),
    "an object with a cycle": (
        "class Node:\n    def __init__(self, value: int):\n        self.value = value\n        self.me = self\n\n\n"
        "def f(value: int):\n    return Node(value)\n", "f",
    ),
    "not a number": ("def f(x: float):\n    return x * float('nan')\n", "f"),
    "a cache of its own": (
        "_KNOWN = {}\n\n\ndef f(n: int):\n    return _KNOWN.setdefault(n, n * 2)\n", "f",
    ),
    "state of the module": ("SEEN = []\n\n\ndef f(n: int):\n    SEEN.append(n)\n    return len(SEEN)\n", "f"),
    "a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n    y: int = 0\n\n\n"
        "def f(p: P) -> P:\n    return P(p.y, p.x)\n", "f",
    ),
    "a loop without end on some inputs": ("def f(n: int):\n    while n % 3 == 1:\n        pass\n    return n\n", "f"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
async def test_code_is_equivalent_to_itself(make: MakeCase, name: str) -> None:
    text, unit = SAME[name]
    evidence = await judge(make(text, text, unit))
    assert evidence.verdict is Ruling.PASS, evidence


async def test_arrays_of_numpy_are_compared_item_by_item(make: MakeCase) -> None:
    pytest.importorskip("numpy")
    before = "import numpy as np\n\n\ndef f(xs: list[float]):\n    return np.array(xs) * 1.1, np.array(xs).mean()\n"
    rounded = await judge(make(before, before.replace("* 1.1", "/ (1 / 1.1)"), "f"))
    assert (rounded.verdict, "except for rounding" in rounded.detail) == (Ruling.PASS, True), rounded
    other = await judge(make(before, before.replace("* 1.1", "// 1.1"), "f"))
    assert (other.verdict, "ndarray(float64" in other.detail) == (Ruling.FAIL, True), other


async def test_a_rounding_difference_is_accepted_and_reported(make: MakeCase) -> None:
    before = "def f(xs: list[float]) -> float:\n    return sum(x for x in xs if -9e3 < x < 9e3)\n"
    after = (
        "import math\n\n\ndef f(xs: list[float]) -> float:\n    return math.fsum(x for x in xs if -9e3 < x < 9e3) + 0\n"
    )
    evidence = await judge(make(before, after, "f"))
    assert evidence.verdict is Ruling.FAIL or "rounding" in evidence.detail
    alike = await judge(make(before, before.replace("sum(x for", "sum(x * 1.0000000000000002 for"), "f"))
    assert alike.verdict is Ruling.PASS, alike
    assert "except for rounding" in alike.detail


async def test_a_truncated_iterator_is_reported(make: MakeCase) -> None:
    before = "from itertools import count\n\n\ndef f(n: int):\n    return count(n)\n"
    endless = await judge(make(before, before.replace("count(n)", "count(n, 1)"), "f"))
    assert endless.verdict is Ruling.PASS, endless
    assert endless.detail.endswith(", for iterators the first 1,000 items")
    before = "def f(n: int):\n    yield n\n"
    assert "first" not in (await judge(make(before, before.replace("yield n", "yield n + 0"), "f"))).detail


async def test_an_asynchronous_generator_is_compared_as_far_as_other_iterators(make: MakeCase) -> None:
    before = "async def f(n: int):\n    for each in range(5_000):\n        yield each + n\n"
    after = before.replace("yield each + n", "yield each + n if each < 3_000 else 0")
    evidence = await judge(make(before, after, "f"))
    assert (evidence.verdict, evidence.trusted) == (Ruling.FAIL, True), evidence


async def test_a_different_order_of_keys_is_reported(make: MakeCase) -> None:
    before = "def f(xs: list[str]):\n    return {x: len(x) for x in xs}\n"
    evidence = await judge(make(before, before.replace("in xs}", "in sorted(xs)}"), "f"))
    assert (evidence.verdict, "except for the order of keys" in evidence.detail) == (Ruling.PASS, True), evidence


NOT_COMPARABLE = {
    "files": ("def f(n: int):\n    return open('/tmp/a', 'w')\n", "writes files"),
    "network": ("import socket\n\n\ndef f(n: int):\n    return socket.create_connection(('h', n))\n", "network"),
    "processes": ("import subprocess\n\n\ndef f(n: int):\n    return subprocess.run(['ls'])\n", "processes"),
    "the terminal": ("def f(n: int):\n    return input()\n", "terminal"),
    "no rest": ("import os\n\n\ndef f(n: int):\n    return os.getpid(), n\n", "its result varies between runs"),
    "no end": ("def f(n: int):\n    while True:\n        pass\n", "does not finish"),
    "a missing package": (
        "import nowhere_at_all\n\n\ndef f(n: int):\n    return nowhere_at_all.g(n)\n",
        "nowhere_at_all",
    ),
    "functions": ("def f(n: int):\n    return lambda: n\n", "cannot be compared"),
    "a thread's lock": ("import threading\n\n\ndef f(n: int):\n    return threading.Lock()\n", "cannot be compared"),
}


@pytest.mark.parametrize("name", NOT_COMPARABLE)
async def test_code_that_cannot_be_compared_is_reported_with_the_reason(make: MakeCase, name: str) -> None:
    text, says = NOT_COMPARABLE[name]
    evidence = await judge(make(text, text, "f"))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert says in evidence.detail


async def test_the_check_is_skipped_where_no_code_runs(make: MakeCase) -> None:
    case = make("def f(n: int):\n    return n\n", "def f(n: int):\n    return 1\n", "f")
    assert (await judge(replace(case, runtime=None))).verdict is Ruling.SKIPPED
    assert (await judge(replace(case, language="cobol"))).verdict is Ruling.SKIPPED
    late = replace(case, runtime=replace(case.runtime, until=0.0))
    assert "out of time" in (await judge(late)).detail


async def test_a_function_that_does_not_use_a_broken_import_is_compared(make: MakeCase) -> None:
    text = "import nowhere_at_all\n\nSTEP = 2\n\n\ndef f(n: int):\n    return n + STEP\n"
    alike = await judge(make(text, text, "f"))
    assert alike.verdict is Ruling.PASS, alike
    assert "without the rest of its file" in alike.detail
    assert (await judge(make(text, text.replace("n + STEP", "n - STEP"), "f"))).verdict is Ruling.FAIL


@in_each_box
async def test_a_module_of_a_package_imports_unsaved_buffers(make: MakeCase, tmp_path: Path) -> None:
    before = (
        "from .rates import RATE\nfrom shop import base\n\n\ndef gross(net: int):\n    return net * RATE + base.FEE\n"
    )
    files = {"shop/__init__.py": "", "shop/rates.py": "RATE = 'on the disk'\n", "shop/base.py": "FEE = 1\n"}
    buffers = {"shop/rates.py": "RATE = 3\n"}
    same = await judge(make(before, before, "gross", root=tmp_path, path="shop/tax.py", files=files, buffers=buffers))
    assert same.verdict is Ruling.PASS, same
    after = before.replace("+ base", "- base")
    other = await judge(make(before, after, "gross", root=tmp_path, path="shop/tax.py", files=files, buffers=buffers))
    assert other.verdict is Ruling.FAIL
    shown = re.fullmatch(r"`gross\((\S+)\)` was: (\S+), now: (\S+)", other.detail)
    assert shown, other
    net, was, now = map(int, shown.groups())
    assert (was, now) == (net * 3 + 1, net * 3 - 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop"]


@in_each_box
async def test_inputs_are_taken_from_tests_of_the_project(make: MakeCase, tmp_path: Path) -> None:
    before = "def decode(code):\n    return code == 'X-4711'\n"
    tests = "from a import decode\n\n\ndef test_decode():\n    assert decode('X-4712') is False\n"
    after = before.replace("code == 'X-4711'", "code in ('X-4711', 'X-4712')")
    evidence = await judge(make(before, after, "decode", root=tmp_path, files={"tests/test_a.py": tests}))
    assert evidence.verdict is Ruling.FAIL, evidence


async def test_a_document_without_a_target_is_judged_by_its_changed_units(make: MakeCase) -> None:
    before = "def a(n: int):\n    return n\n\n\ndef b(n: int):\n    return n\n"
    evidence = await judge(
        make(before, before.replace("def b(n: int):\n    return n", "def b(n: int):\n    return -n"), "")
    )
    assert evidence.verdict is Ruling.FAIL
    assert evidence.detail.startswith("`b("), evidence


@in_each_box
async def test_a_forged_report_is_rejected(make: MakeCase) -> None:
    forge = (
        "import os\n\n\ndef f(n: int):\n    for fd in range(3, 64):\n        try:\n"
        '            os.write(fd, b\'{"nonce": "x", "texts": [], "left_out": []}\\n\')\n'
        "        except OSError:\n            pass\n    return n\n"
    )
    case = make("def f(n: int):\n    return n\n", forge, "f")
    assert (await judge(case)).verdict is not Ruling.PASS


async def test_a_repeated_input_counts_once(make: MakeCase) -> None:
    evidence = await judge(make("def f():\n    return [1]\n", "def f():\n    return [0 + 1]\n", "f"))
    assert (evidence.verdict, evidence.count) == (Ruling.PASS, 1), evidence
    assert "same behavior on 1 input" in evidence.detail


async def test_a_unit_is_compared_although_its_package_cannot_be_imported(make: MakeCase, tmp_path: Path) -> None:
    """A clone lacks files that a build writes, such as the one with the version."""
    before = '"""Lists."""\n\n\ndef joined(items: list[str]) -> str:\n    return ", ".join(items) or "none"\n'
    path = tmp_path / "shop" / "lists.py"
    path.parent.mkdir()
    path.write_text(before)
    (path.parent / "__init__.py").write_text("from shop._version import version\n")
    alike = await judge(make(before, before.replace('", "', "', '"), "joined", path=path, root=tmp_path))
    assert alike.verdict is Ruling.PASS, alike
    assert "without the rest of its file" in alike.detail
    wrong = await judge(make(before, before.replace(' or "none"', ""), "joined", path=path, root=tmp_path))
    assert wrong.verdict is Ruling.FAIL, wrong
