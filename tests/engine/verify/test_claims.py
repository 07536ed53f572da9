"""What a change claims to be, judged by running it: faster, tests alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.verify.report import Conclusion, Report

Verify = Callable[..., Awaitable[Report]]
_SLOW = """\
def distinct(numbers: list[int]) -> int:
    seen = []
    for number in numbers:
        if number not in seen:
            seen.append(number)
    return len(seen)
"""
_FAST = "def distinct(numbers: list[int]) -> int:\n    return len({*numbers})\n"
_TEST = "from words import distinct\n\n\ndef test_distinct():\n    assert distinct([*range(40)] * 3) == 40\n"


@pytest.mark.parametrize(
    ("code", "conclusion"), [(_FAST, Conclusion.OK), (_SLOW.replace("seen", "known"), Conclusion.REFUTED)]
)
async def test_a_claim_to_be_faster_is_measured(
    repository: Repository, verified: Verify, code: str, conclusion: Conclusion
) -> None:
    repository.commit({"words.py": _SLOW, "tests/test_words.py": _TEST})
    repository.write({"words.py": code})
    report = await verified("perf")
    assert report.conclusion is conclusion, report
    (timed,) = (each for each in report.units[0].checks if each.check == "timing")
    assert timed.refutes is (conclusion is Conclusion.REFUTED), timed
    assert not any(each.check == "timing" for each in (await verified("refactor")).units[0].checks)


async def test_a_change_of_tests_leaves_the_product_alone(repository: Repository, verified: Verify) -> None:
    test = f"{TESTS}\n\ndef test_none():\n    assert total([]) == 0\n"
    repository.write({"tests/test_shop.py": test})
    assert (await verified("test")).conclusion is not Conclusion.REFUTED
    repository.write({"shop.py": SHOP.replace("sum(prices)", "sum(prices, 0)")})
    report = await verified("test")
    assert [each.detail for each in report.findings if each.refutes] == ["a change of tests edits product code"]
    repository("checkout", "--", "shop.py")
    repository.write({"more.py": "def more():\n    return 1\n"})
    report = await verified("test")
    assert [each.detail for each in report.findings if each.refutes] == ["a change of tests adds product code"]


@pytest.mark.parametrize(("line", "is_weak"), [("is not None", True), ("== 6", False)])
async def test_a_new_test_that_notices_next_to_nothing_proves_nothing(
    repository: Repository, verified: Verify, line: str, is_weak: bool
) -> None:
    """A weak assertion is found whatever it looks like, by errors planted into what it tests."""
    code = "\n\ndef area(width: int, height: int) -> int:\n    return width * height if width > 0 else 0\n"
    test = f"\n\ndef test_area():\n    from shop import area\n\n    assert area(2, 3) {line}\n"
    repository.write({"shop.py": SHOP + code, "tests/test_shop.py": TESTS + test})
    report = await verified()
    assert report.conclusion is (Conclusion.UNPROVEN if is_weak else Conclusion.OK), report
    reported = {(each.unit, each.check) for each in report.findings}
    assert reported == ({("test_area", "mutants")} if is_weak else set())
    assert not is_weak or "planted errors in `area`; they pass with" in report.findings[0].detail


async def test_types_and_lint_are_notes(repository: Repository, verified: Verify) -> None:
    """They refute nothing: what runs may be right all the same."""
    repository.write({"shop.py": f"import os\n\n{SHOP}"})
    report = await verified()
    assert any(each.check == "lint" and "F401" in each.detail for each in report.findings), report
    assert not any(each.refutes for each in report.findings)
    assert any(each.check == "types" for each in report.units[0].checks)


@pytest.mark.parametrize(("edit", "is_shown"), [("cost += 1 + (weight > 99)", False), ("cost += 2 - 1", True)])
async def test_a_fix_leaves_all_other_code_equal(
    repository: Repository, verified: Verify, edit: str, is_shown: bool
) -> None:
    """Tests that pass before and after say nothing about a difference that none of them meets."""
    fixed = SHOP.replace("sum(prices)", "sum(prices) if prices else 1").replace("cost += 1", edit)
    test = f"{TESTS}\n\ndef test_none():\n    assert total([]) == 1\n"
    repository.write({"shop.py": fixed, "tests/test_shop.py": test})
    report = await verified("fix")
    assert {each.unit.name: each.conclusion for each in report.units} == {
        "shipping": Conclusion.OK if is_shown else Conclusion.UNPROVEN,
        "total": Conclusion.OK, "test_none": Conclusion.OK,
    }  # fmt: skip
    said = [each.unit for each in report.findings if "no test that the fix makes pass" in each.detail]
    assert said == ([] if is_shown else ["shipping"])
