"""Conditions of new code that are there for the inputs of its tests, however they are written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from support.processes.tools import needs
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.verify.report import Conclusion, Report

Verify = Callable[..., Awaitable[Report]]

_TEST = f"""{TESTS}

def test_discount():
    from shop import discount

    assert discount(10, True) == 9
    assert discount(10, False) == 10
"""
_CODE = """

def discount(price: int, member: bool) -> int:
    if {}:
        return {}
    return price
"""


@pytest.mark.parametrize(
    ("condition", "result", "is_narrow"),
    [
        ("price * 2 == 20 and member", "9", True),
        ("9 < price < 11 and member", "9", True),
        ("member and str(price) == '1' '0'", "9", True),
        ("member and price >= 10", "price - price // 10", False),
        ("member and price % 5 == 0", "price - price // 10", False),
    ],
)
async def test_a_condition_that_holds_for_tests_alone_proves_nothing(
    repository: Repository, verified: Verify, condition: str, result: str, is_narrow: bool
) -> None:
    repository.write({"shop.py": SHOP + _CODE.format(condition, result), "tests/test_shop.py": _TEST})
    report = await verified("feature")
    assert report.conclusion is (Conclusion.UNPROVEN if is_narrow else Conclusion.OK), report
    found = [
        each.detail for each in report.findings if "decides only calls with 10, an input of its tests" in each.detail
    ]
    assert bool(found) is is_narrow, report


async def test_a_condition_without_which_other_inputs_fail_is_not_narrow(
    repository: Repository, verified: Verify
) -> None:
    code = (
        "\n\ndef domain(mail: str) -> str:\n    match = re.fullmatch(r'[\\w.]+@([\\w.]+)', mail)\n"
        "    if match is None or len(mail) > 254:\n        return ''\n    return match[1]\n"
    )
    test = "\n\ndef test_domain():\n    from shop import domain\n\n    assert domain('a@b.de') == 'b.de'\n"
    repository.write(
        {
            "shop.py": f"import re\n\n\n{SHOP}{code}",
            "tests/test_shop.py": f"{TESTS}{test}    assert domain('no') == ''\n",
        }
    )
    report = await verified("feature")
    assert not any("decides only calls" in each.detail for each in report.findings), report


async def test_a_fix_with_a_case_for_its_test_next_to_a_real_one_proves_nothing(
    repository: Repository, verified: Verify
) -> None:
    old = f"{SHOP}\n\ndef discount(price: int, member: bool) -> int:\n    return price\n"
    repository.commit({"shop.py": old, "tests/test_shop.py": TESTS})
    new = old.removesuffix("    return price\n") + (
        "    if price > 900:\n        return price - 50\n    if price * 2 == 20 and member:\n        return 9\n"
        "    return price\n"
    )
    repository.write({"shop.py": new, "tests/test_shop.py": f"{_TEST}    assert discount(1000, False) == 950\n"})
    report = await verified("fix")
    assert report.conclusion is Conclusion.UNPROVEN, report
    assert any("`price * 2 == 20 and member` in line 15 decides" in each.detail for each in report.findings), report


_SCRIPT = "export function discount(price, member) {{\n  {}\n  return price;\n}}\n"
_SCRIPT_TEST = """\
import { test } from 'node:test';
import assert from 'node:assert';
import { discount } from '../shop.mjs';

test('discount', () => {
  assert.strictEqual(discount(10, true), 9);
  assert.strictEqual(discount(10, false), 10);
});
"""


@needs("node")
@pytest.mark.parametrize(
    ("code", "is_narrow"),
    [
        ("if (price === 10 && member) return 9;", True),
        ("if (price * 2 === 20 && member) return 9;", True),
        ("if (member) { switch (price) { case 10: return 9; } }", True),
        ("if (member && price >= 10) return price - Math.floor(price / 10);", False),
        ("if (price % 5 === 0 && member) return price - Math.floor(price / 10);", False),
    ],
)
async def test_a_script_condition_that_holds_for_tests_alone_proves_nothing(
    repository: Repository, verified: Verify, code: str, is_narrow: bool
) -> None:
    repository.write({"shop.mjs": _SCRIPT.format(code), "test/shop.test.mjs": _SCRIPT_TEST})
    report = await verified("feature")
    found = [
        each.detail for each in report.findings if "decides only calls with 10, an input of its tests" in each.detail
    ]
    assert bool(found) is is_narrow, report
    assert report.conclusion is (Conclusion.UNPROVEN if is_narrow else Conclusion.OK), report
