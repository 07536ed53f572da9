"""Renames through a project: the names that a module defines, and modules, with their imports in other files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.engine import Bench, said
from support.servers.scripted import ScriptedModel

from stet_ls.engine.actions.renaming import python_modules, python_names
from stet_ls.engine.actions.renaming.requested import MoveRequest, NameRequest, rename_request
from stet_ls.engine.api.answer import Answer, FileMove
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.validators.source import Splice

PRICES = '''def discount(price, rate):
    return price - rate


def total(prices):
    """The sum.

    >>> total([1, 2])
    3
    """

    def inner(total):
        return total

    return inner(sum(prices))


class Basket:
    total = 3

    def pay(self, start=total):
        return total([self.total, start])
'''
SHOP: Mapping[str, str] = {
    "shop/__init__.py": 'from .prices import discount, total\n\n__all__ = ["discount", "total"]\n',
    "shop/prices.py": PRICES,
    "shop/cart.py": """import shop.prices
import shop.prices as sp
from shop import prices, total as t
from .prices import (
    discount,
    total,
)


def pay(cart):
    é = "é"; return total(cart) + prices.total(cart) + shop.prices.total(cart) + sp.total(cart) + t(cart)


def other(total):
    return [total for total in range(3)], total, discount(3, 1)
""",
    "tests/test_prices.py": """from shop.prices import *
from shop.cart import pay


def test_total():
    assert total([1, 2]) == 3


def test_pay():
    assert pay([1]) == 5
""",
}


def test_a_name_is_renamed_where_it_means_that_name() -> None:
    after = python_names.rename(SHOP, "shop/prices.py", "total", "sum_of")
    assert set(after) == set(SHOP)
    assert after["shop/__init__.py"] == 'from .prices import discount, sum_of\n\n__all__ = ["discount", "sum_of"]\n'
    assert after["shop/cart.py"] == SHOP["shop/cart.py"].replace("total as t", "sum_of as t").replace(
        "    total,\n", "    sum_of,\n"
    ).replace("return total(cart)", "return sum_of(cart)").replace(".total(cart)", ".sum_of(cart)")
    prices = after["shop/prices.py"]
    assert "def sum_of(prices):" in prices
    assert ">>> sum_of([1, 2])" in prices
    assert "def inner(total):\n        return total\n" in prices, "a parameter of that name is another"
    assert "    total = 3\n\n    def pay(self, start=total):\n        return sum_of([self.total, start])" in prices
    assert "assert sum_of([1, 2]) == 3" in after["tests/test_prices.py"], "a star import brings the name"


@pytest.mark.parametrize(
    ("new", "why"), [("discount", "uses the name `discount` already"), ("in", "not a name"), ("a-b", "not a name")]
)
def test_a_name_that_is_taken_is_refused(new: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        python_names.rename(SHOP, "shop/prices.py", "total", new)


def test_a_name_that_a_local_one_would_hide_is_refused() -> None:
    texts = {"a.py": "def f():\n    return 1\n\n\ndef g(h):\n    return f() + h\n"}
    with pytest.raises(ValueError, match="uses the name `h` already"):
        python_names.rename(texts, "a.py", "f", "h")


def test_a_module_is_renamed_and_its_imports_are_updated() -> None:
    after = python_modules.move(SHOP, "shop/prices.py", "shop/money.py")
    assert "shop/prices.py" not in after, "its own text stays"
    assert after["shop/__init__.py"].startswith("from .money import discount, total\n")
    assert after["shop/cart.py"].startswith(
        "import shop.money\nimport shop.money as sp\nfrom shop import money, total as t\nfrom .money import (\n"
    )
    assert "total(cart) + money.total(cart) + shop.money.total(cart) + sp.total(cart)" in after["shop/cart.py"]
    assert after["tests/test_prices.py"].startswith("from shop.money import *\n")


def test_a_module_that_moves_keeps_its_own_relative_imports() -> None:
    texts = {
        "shop/__init__.py": "X = 1\n",
        "shop/a.py": "from .b import f\nfrom . import c\n\n\ndef g():\n    return f() + c.h()\n",
        "shop/b.py": "def f():\n    return 1\n",
        "shop/c.py": "def h():\n    return 1\n",
        "use.py": "from shop.a import g\nimport shop.a\n\nprint(g(), shop.a.g())\n",
    }
    after = python_modules.move(texts, "shop/a.py", "shop/inner/a.py")
    assert after["shop/a.py"].startswith("from shop.b import f\nfrom shop import c\n")
    assert after["use.py"] == "from shop.inner.a import g\nimport shop.inner.a\n\nprint(g(), shop.inner.a.g())\n"


@pytest.mark.parametrize(
    ("goal", "asked"),
    [
        ("rename total to sum_of", NameRequest("total", "sum_of")),
        ("Rename the function `total` in shop/prices.py to `sum_of` everywhere.",
         NameRequest("total", "sum_of", "shop/prices.py")),
        ("rename `total` to `sum_of` through the package", NameRequest("total", "sum_of")),
        ("move shop/prices.py to shop/money.py", MoveRequest("shop/prices.py", "shop/money.py")),
        ("rename the module prices.py to money.py and mend the imports", MoveRequest("prices.py", "money.py")),
        ("move shop/prices.py to bank/", MoveRequest("shop/prices.py", "bank/prices.py")),
        ("rename total to sum_of and make it faster", None),
        ("make total faster", None),
    ],
)  # fmt: skip
def test_a_rename_is_read_from_a_sentence(goal: str, asked: object) -> None:
    assert rename_request(goal) == asked


@pytest.fixture
def shop(tmp_path: Path, stet_home: Path) -> Path:
    root = tmp_path / "work"
    for name, text in SHOP.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


async def run(scripted: ScriptedModel, root: Path, instruction: str) -> Answer:
    async with Bench(scripted) as bench:
        return await bench.run("task", "$0" + PRICES, path=root / "shop/prices.py", workspace=Workspace((root,)),
                               instruction=instruction)  # fmt: skip


async def test_a_rename_is_proven_by_the_tests_before_and_after(scripted: ScriptedModel, shop: Path) -> None:
    answer = await run(scripted, shop, "rename total to sum_of")
    assert answer.success, answer.message
    assert answer.summary.did == "Renamed `total` to `sum_of` in 4 files"
    tests = said(answer, Check.TESTS)
    if tests.verdict is Ruling.UNKNOWN:
        pytest.skip(f"code cannot run here: {tests.detail}")
    assert tests.detail == "2 tests pass before and after the whole change"
    assert tests.trusted
    assert not scripted.requests, "no model is asked"
    assert "shop/prices.py still says `total` 5×" in answer.summary.notes
    own = [edit for edit in answer.edits if edit.path == shop / "shop/__init__.py"]
    assert "sum_of" in own[0].base.splice(Splice(edit.span, edit.new_text) for edit in own).text


async def test_a_module_is_moved_with_its_file(scripted: ScriptedModel, shop: Path) -> None:
    answer = await run(scripted, shop, "rename the module shop/prices.py to shop/money.py")
    assert answer.success, answer.message
    assert answer.moves == (FileMove(shop / "shop/prices.py", shop / "shop/money.py"),)
    assert {edit.path.name for edit in answer.edits if edit.path} == {"__init__.py", "cart.py", "test_prices.py"}
    tests = said(answer, Check.TESTS)
    assert tests.verdict is Ruling.UNKNOWN or tests.detail == "2 tests pass before and after the whole change"


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("rename total to discount", "Rename: shop/prices.py uses the name `discount` already."),
        ("move shop/prices.py to shop/cart.py", "Rename: shop/cart.py exists already."),
        ("move shop/prices.py to ../elsewhere.py", "Rename: ../elsewhere.py is outside of the project."),
    ],
)
async def test_a_rename_that_is_not_possible_says_why(
    scripted: ScriptedModel, shop: Path, instruction: str, why: str
) -> None:
    answer = await run(scripted, shop, instruction)
    assert not answer.success
    assert answer.message == why
