"""What the project's tests call the code with is what old and new are compared on first."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.judge import judge
from stet_ls.engine.judges.project_tests.judge import judge as run_tests
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files.mounts import interpreter as binds
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

Compared = Callable[..., Awaitable[Evidence]]


@pytest.fixture
async def compared(tmp_path: Path, probes: Path, backend: str) -> AsyncIterator[Compared]:
    """Compares two texts of `code.py` after the tests in `test_code.py` ran on the first."""
    sandbox = Sandbox(IsolationLevel.STRONG, probes, backend=backend)
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    python = Interpreter(Path(sys.executable), sys.version_info[:3], binds(), bare, modules=frozenset({"pytest"}))
    root = tmp_path / "project"

    async def ask(before: str, after: str, unit: str, test: str, **files: str) -> Evidence:
        for name, text in {"code.py": before, "tests/test_code.py": test, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
        runtime = Runtime(sandbox, bare_environment(python), Workspace((root,)))
        case = Case("refactor", "python", root / "code.py", Source(before), Source(after), unit, runtime=runtime)
        ran = await run_tests(case)
        assert ran.verdict is Ruling.PASS, ran.detail
        return await judge(case)

    yield ask
    await sandbox.close()


RATE = """def rate(order):
    if order["customer"]["kind"] == "premium":
        return {percent}
    return 3
"""


async def test_an_input_that_only_tests_know_refutes(compared: Compared) -> None:
    """Nothing but the test says that an order is a dictionary of dictionaries, and it does not look at the result."""
    test = (
        "import pytest\nfrom code import rate\n\n@pytest.fixture\ndef order():\n"
        "    return {'customer': {'kind': 'premium'}}\n\ndef test_rate(order):\n    assert rate(order) > 0\n"
    )

    evidence = await compared(RATE.format(percent=5), RATE.format(percent=4), "rate", test)

    assert evidence.verdict is Ruling.FAIL
    assert "was: 5, now: 4" in evidence.detail
    assert "'premium'" in evidence.detail


OBJECTS = """class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))
        return len(self.items)

    @property
    def cheapest(self):
        return min(price for _, price in self.items)

    @classmethod
    def of(cls, *prices):
        cart = cls()
        for price in prices:
            cart.add("a", price)
        return cart


def total(cart, key):
    return sum(key(price) for _, price in cart.items)


async def later(cart):
    return len(cart.items)
"""
USES = """import asyncio
from code import Cart, later, total

class Shop:
    def __init__(self, cart):
        self.cart = cart

def test_all():
    cart = Cart()
    cart.add("b", 2)
    cart.add("c", 5)
    assert total(cart, lambda price: price * 2) == 14
    assert cart.cheapest == 2
    assert asyncio.run(later(cart)) == 2
    assert len(Cart.of(7).items) == 1
"""


@pytest.mark.parametrize(
    ("unit", "old", "new", "shown"),
    [
        ("total", "key(price) for _, price in cart.items", "key(p[1]) for p in cart.items[:1]",
         "`total(cart=<Cart>, key=<function>)` (from a test) was: 14, now: 4"),
        ("Cart.add", "return len(self.items)", "return 1",
         "`Cart.add(name='c', price=5)` (from a test) was: 2, now: 1"),
        ("Cart.cheapest", "min(price", "max(price", "`Cart.cheapest` (from a test) was: 2, now: 5"),
        ("later", "len(cart.items)", "len(cart.items) % 2", "`later(cart=<Cart>)` (from a test) was: 2, now: 0"),
        ("Cart.of", 'cart.add("a", price)', 'cart.add("b", price)',
         "`Cart.of(*(7,))` (from a test) was: Cart(items=[('a', 7)]), now"),
    ],
)  # fmt: skip
async def test_objects_functions_and_methods_are_called_as_in_tests(
    compared: Compared, unit: str, old: str, new: str, shown: str
) -> None:
    """The tests only run the code, so that they pass on both."""
    evidence = await compared(OBJECTS, OBJECTS.replace(old, new), unit, USES.replace("    assert ", "    "))

    assert evidence.verdict is Ruling.FAIL
    assert shown in evidence.detail


async def test_objects_of_a_class_that_the_edit_changes_are_not_used(compared: Compared) -> None:
    """Their state belongs to the old class: the new one would fail on it, and be right."""
    field = "    @property\n    def items(self):\n        return self._items\n\n    def add"
    before = OBJECTS.replace("self.items", "self._items").replace("    def add", field)

    evidence = await compared(before, before.replace("_items", "_rows"), "Cart", USES)

    assert evidence.verdict is Ruling.PASS, evidence.detail
    assert "calls of tests not copied: holds an object of the changed `Cart`" in evidence.detail


FAKE = """from code import count

class Store:
    def __init__(self, rows):
        self.rows = rows
    def all(self):
        return iter(self.rows)

def test_count():
    assert count(Store([1, 2, 3])) >= 1
"""


async def test_an_object_of_a_test_files_own_class_is_used(compared: Compared) -> None:
    """pytest alone has the tests' folder on the path."""
    code = "def count(store):\n    return sum(1 for _ in store.all())\n"

    evidence = await compared(code, code.replace("sum(1 for _ in store.all())", "min(2, len([*store.all()]))"), "count",
                              FAKE)  # fmt: skip

    assert (evidence.verdict, evidence.detail) == (
        Ruling.FAIL, "`count(store=<Store>)` (from a test) was: 3, now: 2",
    )  # fmt: skip


async def test_the_evidence_names_what_was_captured_and_what_could_not_be(compared: Compared) -> None:
    code = "def first(lines):\n    for line in lines:\n        return line\n"
    test = """import threading, urllib.request
import pytest
from code import first

def test_file():
    with open(__file__) as file:
        assert first(file)
    assert first(x for x in "ab") == "a"
    assert first(["a"] * 50_000) == "a"

def test_lists():
    assert first([1, 2]) == 1
    assert first(["b"]) == "b"

def test_network():
    with pytest.raises(OSError):
        urllib.request.urlopen("http://127.0.0.1:1/", timeout=1)
    assert first({"net": 1}) == "net"
"""

    evidence = await compared(code, code.replace("line", "each"), "first", test)

    assert evidence.verdict is Ruling.PASS, evidence.detail
    lost = "3 calls of tests not copied: generator, open file, too large"
    assert f"3 captured from tests, {lost})" in evidence.detail


async def test_what_fails_as_before_on_captured_inputs_is_alike(compared: Compared) -> None:
    code = "def half(number):\n    if number < 0:\n        raise ValueError(number)\n    return number / 2\n"
    test = """import pytest
from code import half

@pytest.mark.parametrize("number", [-1, None, "a"])
def test_bad(number):
    with pytest.raises((ValueError, TypeError)):
        half(number)

def test_good():
    assert half(3) == 1.5
"""

    evidence = await compared(code, code.replace("number / 2", "number * 0.5"), "half", test)

    assert evidence.verdict is Ruling.PASS, evidence.detail
    assert "4 captured from tests" in evidence.detail


async def test_without_tests_nothing_is_captured(runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(RATE.format(percent=5))
    placed = replace(runtime, workspace=Workspace((tmp_path,)), captured={})
    text = Source("def f(a: int):\n    return a + 1\n")
    case = Case("refactor", "python", tmp_path / "code.py", text, Source("def f(a: int):\n    return 1 + a\n"), "f",
                runtime=placed)  # fmt: skip

    await run_tests(case)
    evidence = await judge(case)

    assert placed.captured == {}
    assert "captured" not in evidence.detail
