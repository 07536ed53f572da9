"""The project's own tests as a judge: what before and after make of them, and which of them prove a change."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import in_each_box
from support.projects.shop import PRICES, TESTS, Judged

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.api.request import Buffer, Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.validators.source import Source


async def test_tests_that_never_name_the_unit_prove_nothing_about_it(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(TESTS.partition("def test_total")[0].replace(", total", ""))
    evidence = await judged(PRICES.replace("sum(prices)", "max(prices)"), unit="total")
    assert evidence.verdict is Ruling.FAIL, "the test of what calls it does"
    (shop / "tests/test_cart.py").unlink()
    evidence = await judged(PRICES.replace("sum(prices)", "max(prices)"), unit="total")
    assert (evidence.verdict, evidence.trusted) == (Ruling.UNKNOWN, False)
    assert evidence.detail == "1 test passes, but it does not execute `total`"


async def test_equal_code_passes(shop: Path, judged: Judged) -> None:
    evidence = await judged(PRICES.replace("price * (1 - rate)", "price - price * rate"))
    assert (evidence.verdict, evidence.detail, evidence.trusted) == (
        Ruling.PASS, "1 test passes; 1 more do not execute the change", True
    )  # fmt: skip


@in_each_box
async def test_a_test_that_passed_must_still_pass(shop: Path, judged: Judged) -> None:
    evidence = await judged(PRICES.replace("1 - rate", "1 + rate"))
    assert evidence.verdict is Ruling.FAIL
    assert evidence.detail == "test_discount fails: 125.0 == 75 is false (passed before)"
    assert evidence.trusted
    assert (shop / "shop/prices.py").read_text() == PRICES


async def test_the_output_of_a_failure_shows_only_frames_of_the_user(shop: Path, judged: Judged) -> None:
    """Two dozen frames of pytest lie between its start and the test."""
    evidence = await judged(PRICES.replace("1 - rate", "1 + rate"), unit="discount")
    (output,) = evidence.attachments
    assert "tests/test_prices.py:5 in test_discount" in output.text
    assert "pytest" not in output.text, output.text
    assert "runpy" not in output.text


async def test_a_failure_without_a_message_shows_its_line(shop: Path, judged: Judged) -> None:
    """As a plain `assert` where there is no pytest."""
    (shop / "tests/test_prices.py").write_text(
        TESTS.replace("assert total([1, 2]) == 3", "if total([2]) != 2: raise OSError")
    )
    evidence = await judged(PRICES.replace("sum(prices)", "0"))
    assert "test_total fails: OSError: `if total([2]) != 2: raise OSError` (passed before)" in evidence.detail


async def test_a_module_that_no_longer_imports_fails(shop: Path, judged: Judged) -> None:
    evidence = await judged("import nonesuch\n" + PRICES)
    assert evidence.verdict is Ruling.FAIL
    assert "nonesuch" in evidence.detail


@in_each_box
async def test_code_that_exits_the_process_does_not_pass(shop: Path, judged: Judged) -> None:
    evidence = await judged("import os\nos._exit(0)\n" + PRICES)
    assert evidence.verdict is Ruling.FAIL


@in_each_box
async def test_a_fix_must_make_the_failing_test_pass(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    evidence = await judged(PRICES, before=broken, action="debug")
    said = "1 test passes, 1 of them failed before; 1 more do not execute the change"
    assert (evidence.verdict, evidence.detail) == (Ruling.PASS, said)
    still = await judged(broken.replace("rate):", "rate=0):"), before=broken, action="debug")
    assert still.verdict is Ruling.FAIL
    assert still.detail == "test_discount fails: 125.0 == 75 is false (as before)"


async def test_an_old_failure_of_another_function_does_not_count(shop: Path, judged: Judged) -> None:
    """To the one that is fixed, and to one that is written again."""
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    fixed = await judged(
        broken.replace("sum(prices)", "sum(list(prices))"), before=broken, action="debug", unit="total"
    )
    assert (fixed.verdict, fixed.detail) == (Ruling.PASS, "1 test passes; 1 fail as before")
    new = f"{broken}\n\ndef largest(prices):\n    return max(prices)\n"
    written = await judged(new, before=broken, action="generate", unit="")
    assert written.verdict is not Ruling.FAIL, written
    assert "1 fail as before" in written.detail


async def test_a_target_used_through_a_test_helper_is_found(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    (shop / "shop/prices.py").write_text(broken)
    (shop / "tests/conftest.py").write_text(
        "import pytest\nfrom shop.prices import discount\n\n\n@pytest.fixture\ndef cheap():\n"
        "    return discount(100, 0.25)\n"
    )
    (shop / "tests/test_prices.py").write_text(
        f"{TESTS.replace('discount(100, 0.25)', 'cheap').replace('test_discount()', 'test_discount(cheap)')}"
    )
    evidence = await judged(broken.replace("rate):", "rate=0):"), before=broken, action="debug")
    assert evidence.verdict is Ruling.FAIL, evidence


async def test_a_test_that_failed_before_does_not_count_against_a_refactoring(shop: Path, judged: Judged) -> None:
    broken = PRICES.replace("1 - rate", "1 + rate")
    after = broken.replace("price *", "1 * price *").replace("sum(prices)", "sum([*prices])")
    evidence = await judged(after, before=broken)
    assert evidence.verdict is Ruling.UNKNOWN, "what is left runs `total` alone"
    assert evidence.detail == "1 test passes; 1 fail as before, but it does not execute `discount`"


LOST = "\n\ndef largest(prices):\n    return 7\n"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (PRICES + LOST, "2 tests pass, but none of them executes `largest`"),
        (PRICES.replace("sum(prices)", "sum([*prices])") + LOST, "2 tests pass, but none of them executes `largest`"),
        (PRICES + "\n\nclass Till:\n    size = 1\n", "2 tests pass, but none of them executes `Till`"),
        (
            PRICES + "\n\nclass Till:\n    def open(self):\n        return 1\n",
            "2 tests pass, but none of them executes `Till`",
        ),
        (PRICES + "\n\nRATE = 3\n", "2 tests pass, but none of them executes `RATE`"),
        (PRICES + "# a comment\n", "2 tests pass, but the edit changes no executable code"),
    ],
    ids=["a function", "a function next to a change", "fields", "a class", "a constant", "a comment"],
)
@pytest.mark.parametrize("unit", ["", "total"])
async def test_an_uncalled_function_is_not_proven(judged: Judged, text: str, detail: str, unit: str) -> None:
    evidence = await judged(text, unit=unit, action="generate")
    assert (evidence.verdict, evidence.trusted, evidence.count) == (Ruling.UNKNOWN, False, 0)
    assert evidence.detail == detail


USES = {
    "a function": (LOST, "from shop.prices import largest\n\ndef test_new():\n    assert largest([1]) == 7\n"),
    "a class": (
        "\n\nclass Till:\n    def open(self):\n        return 1\n",
        "from shop import prices\n\ndef test_new():\n    assert prices.Till().open() == 1\n",
    ),
    "a constant": ("\n\nRATE = 3\n", "from shop.prices import RATE\n\ndef test_new():\n    assert RATE == 3\n"),
    "at load": (
        LOST, "from shop.prices import largest\n\nFOUND = largest([])\n\ndef test_new():\n    assert FOUND == 7\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "test"), USES.values(), ids=USES)
async def test_a_change_that_a_test_runs_is_proven(shop: Path, judged: Judged, code: str, test: str) -> None:
    """The test was there before the code, or the code would pass whatever is written."""
    (shop / "tests/test_new.py").write_text(test)
    evidence = await judged(PRICES + code, unit="", action="generate")
    assert (evidence.verdict, evidence.trusted, evidence.count) == (Ruling.PASS, True, 1), evidence
    assert evidence.detail.startswith("1 test passes")
    assert evidence.detail.endswith("; 2 more do not execute the change")
    same = await judged(PRICES + code, before=PRICES + re.sub("[137]", "8", code), unit="", action="debug")
    assert same.verdict is Ruling.PASS, same


async def test_code_run_in_another_process_is_proven_by_the_test_it_fixes(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").write_text(
        "import subprocess, sys\nimport shop.prices\n\n\ndef test_total():\n"
        "    run = [sys.executable, '-c', 'from shop.prices import total; print(total([1, 2]))']\n"
        "    assert subprocess.run(run, capture_output=True, text=True).stdout == '3\\n'\n"
    )
    broken = PRICES.replace("sum(prices)", "max(prices)")
    fixed = await judged(PRICES, before=broken, unit="total", action="debug")
    assert (fixed.verdict, fixed.detail) == (Ruling.PASS, "1 test passes, 1 of them failed before"), fixed
    unseen = await judged(PRICES.replace("sum(prices)", "sum([*prices])"), unit="total")
    assert unseen.verdict is Ruling.UNKNOWN


WITH_OTHERS = {
    "what another part of the edit fixes": (
        ("RATE = 1", "RATE = 2\n\n\ndef lost():\n    return 7"),
        "assert prices.RATE == 2",
        "`lost`",
    ),
    "a generator that no one asks": (("RATE = 1", "def lost():\n    yield 7"), "assert prices.lost()", "`lost`"),
    "a lambda that no one calls": (("RATE = 1", "lost = lambda: 7"), "assert prices.lost", "`lost`"),
    "a branch on the line of its condition": (("return 0", "return 7"), "assert prices.half(2) == 1", "`half`"),
    "the other branch of an expression": (("else 0", "else 7"), "assert prices.part(2) == 1", "`part`"),
    "a field, where its class is used": (("wait = 1", "wait = 9"), "assert prices.Till().open()", "`Till.wait`"),
    "a constant that is named in a comment": (("RATE = 1", "RATE = 2"), "pass  # RATE", "`RATE`"),
    "a constant in a branch that does not run": (("SIZE = 1", "SIZE = 9"), "assert prices.SIZE == 3", "`SIZE`"),
    "another import for who does not run": (("import ceil as", "import floor as"), "assert prices.RATE", "`up`"),
}
OTHERS = """import sys
RATE = 1
SIZE = 3
if sys.platform == "nowhere":
    SIZE = 1


from math import ceil as up


def half(n):
    if n < 0: return 0
    return up(n / 2)


def part(n):
    return 1 if n else 0


class Till:
    wait = 1

    def open(self):
        return True

    def shut(self):
        return self.wait
"""


@pytest.mark.parametrize(("change", "test", "missed"), WITH_OTHERS.values(), ids=WITH_OTHERS)
async def test_a_test_that_does_not_run_the_change_proves_nothing(
    shop: Path, judged: Judged, change: tuple[str, str], test: str, missed: str
) -> None:
    (shop / "tests/test_prices.py").write_text(f"from shop import prices\n\n\ndef test_it():\n    {test}\n")
    evidence = await judged(OTHERS.replace(*change), before=OTHERS, unit="", action="generate")
    assert (evidence.verdict, evidence.count) == (Ruling.UNKNOWN, 0), evidence
    assert evidence.detail.endswith(f"but it does not execute {missed}")


@pytest.mark.parametrize(
    ("change", "test"),
    [(("return 0", "return 7"), "assert prices.half(-2) == 7"), (("else 0", "else 7"), "assert prices.part(0) == 7")],
    ids=["a branch on the line of its condition", "the other branch of an expression"],
)
async def test_a_change_without_own_lines_is_proven_if_tests_detect_a_planted_error(
    shop: Path, judged: Judged, change: tuple[str, str], test: str
) -> None:
    (shop / "tests/test_prices.py").write_text(f"from shop import prices\n\n\ndef test_it():\n    {test}\n")
    evidence = await judged(OTHERS.replace(*change), before=OTHERS, unit="", action="debug")
    assert (evidence.verdict, evidence.count) == (Ruling.PASS, 1), evidence


async def test_tests_in_the_file_that_the_edit_changes_prove_nothing(runtime: Runtime, shop: Path) -> None:
    old = "from shop.prices import total\n\n\ndef test_total():\n    assert total([1]) == 2\n"
    path = shop / "tests/test_prices.py"
    path.write_text(old)
    here = replace(runtime, workspace=Workspace((shop,)))
    new = Source(old.replace("total([1]) == 2", "True"))
    evidence = await judge(Case("debug", "python", path, Source(old), new, "test_total", runtime=here))
    assert evidence.verdict is Ruling.UNKNOWN, evidence
    assert evidence.detail.endswith("but it stands in the file that the edit changes")


async def test_parts_of_the_change_that_did_not_run_are_reported(judged: Judged) -> None:
    after = PRICES.replace("    return price", "    if rate > 1:\n        raise ValueError(rate)\n    return price")
    evidence = await judged(after)
    assert evidence.verdict is Ruling.PASS
    assert "; no test runs line 3: `raise ValueError(rate)`" in evidence.detail


@in_each_box
async def test_unsaved_buffers_are_tested(shop: Path, judged: Judged) -> None:
    cart = Buffer(
        shop / "shop/cart.py", 3, "from shop.prices import total\n\n\ndef pay(cart):\n    return total(cart) + 1\n"
    )
    (shop / "tests/test_prices.py").unlink()
    evidence = await judged(PRICES + "\n", unit="total", buffers=(cart,))
    assert evidence.verdict is Ruling.UNKNOWN
    assert "no test passed before or after" in evidence.detail


async def test_tests_that_could_not_run_are_reported(shop: Path, judged: Judged) -> None:
    (shop / "tests/test_prices.py").unlink()
    (shop / "tests/test_cart.py").unlink()
    nothing = await judged(PRICES + "\n")
    assert (nothing.verdict, nothing.detail) == (Ruling.SKIPPED, "no project test uses `discount`")
    unsaved = Case("refactor", "python", None, Source(PRICES), Source(PRICES + "\n"), "discount")
    assert "save the document to run its project's tests" in (await judge(unsaved)).detail
