"""What the project's tests call the code with is what old and new are compared on first."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
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
from stet_ls.engine.sandbox.isolation import Level
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

Compared = Callable[..., Awaitable[Evidence]]


@pytest.fixture
async def compared(tmp_path: Path, probes: Path, backend: str) -> AsyncIterator[Compared]:
    """Compares two texts of `code.py` after the tests in `test_code.py` ran on the first."""
    sandbox = Sandbox(Level.STRONG, probes, backend=backend)
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
        ("total", "key(price) for _, price in cart.items", "key(p[1]) for p in cart.items[:1]", "total(cart=<Cart>"),
        ("Cart.add", "return len(self.items)", "return 1", "Cart.add(name='c', price=5)"),
        ("Cart.cheapest", "min(price", "max(price", "Cart.cheapest"),
        ("later", "len(cart.items)", "len(cart.items) % 2", "later(cart=<Cart>)"),
        ("Cart.of", 'cart.add("a", price)', 'cart.add("b", price)', "prices = (7,)"),
    ],
)
async def test_objects_functions_and_methods_are_called_as_in_tests(
    compared: Compared, unit: str, old: str, new: str, shown: str
) -> None:
    """The tests pass on both: what they assert was written for the new text."""
    after = OBJECTS.replace(old, new)
    test = USES.replace("    assert ", "    ") if unit != "none" else USES

    evidence = await compared(OBJECTS, after, unit, test)

    assert evidence.verdict is Ruling.FAIL, evidence.detail
    assert shown in evidence.detail or unit in evidence.detail
