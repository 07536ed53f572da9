"""`stet run task` with a rename: all files at once, a patch that git applies, and chosen parts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.processes.command import Stet

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": "from .tax import RATE\n\n\ndef total(prices):\n    return sum(prices) * RATE\n",
    "shop/tax.py": "RATE = 2\n",
    "shop/cart.py": "from .prices import total\n\n\ndef pay(cart):\n    return total(cart)\n",
}


@pytest.fixture
def shop(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_rename_is_written_to_all_files(stet: Stet, shop: Path) -> None:
    ran = stet("run", "task", "shop/prices.py", "--instruction", "rename total to sum_of", "--apply")
    assert ran.status == 0, ran.err
    assert (shop / "shop/prices.py").read_text() == FILES["shop/prices.py"].replace("total", "sum_of")
    assert (shop / "shop/cart.py").read_text() == FILES["shop/cart.py"].replace("total", "sum_of")
    assert "Renamed `total` to `sum_of` in 2 files" in ran.err


def test_a_name_that_a_package_passes_on_is_renamed_there(stet: Stet, shop: Path) -> None:
    (shop / "shop/__init__.py").write_text("from .prices import total as total\nfrom .tax import RATE as rate\n")
    (shop / "bill.py").write_text("from shop import total\n\nTOTALS = [total([1])]\n")
    ran = stet("run", "task", "shop/prices.py", "--instruction", "rename total to sum_of", "--apply")
    assert ran.status == 0, ran.err
    passed_on = "from .prices import sum_of as sum_of\nfrom .tax import RATE as rate\n"
    assert (shop / "shop/__init__.py").read_text() == passed_on
    assert (shop / "bill.py").read_text() == "from shop import sum_of\n\nTOTALS = [sum_of([1])]\n"
    assert "still says" not in ran.err


def test_a_moved_module_is_a_patch_that_git_applies(stet: Stet, shop: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=shop, check=True)
    subprocess.run(["git", "add", "."], cwd=shop, check=True)
    ran = stet("run", "task", "shop/prices.py", "--instruction", "move shop/prices.py to shop/money/sums.py", "--diff")
    assert ran.status == 0, ran.err
    assert "rename from shop/prices.py\nrename to shop/money/sums.py\n" in ran.out
    subprocess.run(["git", "apply"], input=ran.out.encode(), cwd=shop, check=True)
    assert (shop / "shop/money/sums.py").read_text().startswith("from shop.tax import RATE\n")
    assert (shop / "shop/cart.py").read_text().startswith("from .money.sums import total\n")
    assert not (shop / "shop/prices.py").exists()


def test_a_file_that_the_edit_does_not_change_cannot_be_chosen(stet: Stet, shop: Path) -> None:
    asked = ("run", "task", "shop/prices.py", "--instruction", "rename total to sum_of", "--apply")
    ran = stet(*asked, "--only", "shop/tax.py")
    assert ran.status == 2
    assert "the edit does not change shop/tax.py; it changes" in ran.err
    assert (shop / "shop/cart.py").read_text() == FILES["shop/cart.py"]

    ran = stet(*asked, "--only", "cart.py", "--accept-risk", "not-run")
    assert "a part: " in ran.err, ran.err
    assert (shop / "shop/prices.py").read_text() == FILES["shop/prices.py"]
