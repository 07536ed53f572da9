"""Verdicts on changes of real repositories."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.render import COLUMNS, finding_lines, fitted_line, lines
from stet_ls.engine.verify.report import Conclusion, Report, VerifyFinding
from stet_ls.engine.verify.verify import VerifyOptions, verify

Verify = Callable[..., Awaitable[Report]]
_LOOP = SHOP.replace(
    "return sum(prices)", "result = 0\n    for each in prices:\n        result += each\n    return result"
)
_WRONG = SHOP.replace("cost += 1", "cost += 2")


async def test_equal_behavior_is_ok(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": _LOOP})
    report = await verified()
    assert [(each.unit.name, each.conclusion) for each in report.units] == [("total", Conclusion.OK)], report
    assert report.conclusion is Conclusion.OK


async def test_a_difference_is_reported_and_refutes_only_a_stated_claim(
    repository: Repository, verified: Verify
) -> None:
    repository.write({"shop.py": SHOP.replace("weight * 0.5", "weight * 0.5 if weight < 9 else 1.0")})
    reported = await verified()
    assert reported.conclusion is Conclusion.UNPROVEN
    assert [(each.check, each.refutes) for each in reported.findings] == [("differential", False)]
    refuted = await verified("refactor")
    assert refuted.conclusion is Conclusion.REFUTED
    assert [(each.unit, each.refutes) for each in refuted.findings] == [("shipping", True)]
    assert all(len(line) <= COLUMNS for line in lines(refuted))


async def test_a_passing_test_that_fails_now_refutes(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": _WRONG})
    report = await verified()
    assert report.conclusion is Conclusion.REFUTED
    assert [*lines(report)][-1].startswith("refuted by 1 test: 1 unit (1 unproven); intent unknown;")
    (test,) = (each for each in report.tests if each.refutes)
    assert (test.id, test.edit, test.old_on_old, test.new_on_new) == (
        "tests/test_shop.py::test_shipping", "unchanged", "passed", "failed",
    )  # fmt: skip


async def test_an_edited_test_hides_nothing(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": _WRONG, "tests/test_shop.py": TESTS.replace("== 2.0", "== 3.0")})
    report = await verified("refactor")
    (test,) = (each for each in report.tests if each.refutes)
    assert (test.edit, test.old_on_new, test.new_on_new) == ("edited", "failed", "passed")
    assert (await verified("fix")).conclusion is not Conclusion.REFUTED


async def test_a_skipped_test_that_would_fail_refutes(repository: Repository, verified: Verify) -> None:
    skipped = TESTS.replace("def test_shipping", "@pytest.mark.skip\ndef test_shipping")
    repository.write({"shop.py": _WRONG, "tests/test_shop.py": f"import pytest\n{skipped}"})
    report = await verified()
    assert report.conclusion is Conclusion.REFUTED
    assert re.search("is skipped now; as it was, it fails", report.findings[0].detail)


@pytest.mark.parametrize(
    ("text", "check"),
    [(SHOP.replace("return cost", "return costs"), "names"), (SHOP.replace("return cost", "return (cost"), "syntax")],
)
async def test_code_that_cannot_work_is_refuted(
    repository: Repository, verified: Verify, text: str, check: str
) -> None:  # fmt: skip
    repository.write({"shop.py": text})
    report = await verified()
    assert report.conclusion is Conclusion.REFUTED
    assert report.findings[0].check in (check, "tests")
    (found,) = (each for each in report.units[0].checks if each.refutes)
    assert (found.check, found.line) == (check, 5 if check == "names" else 8)


async def test_comments_alone_are_ok(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": SHOP.replace("    return cost", "    # all of it\n    return cost")})
    report = await verified("docs")
    assert report.conclusion is Conclusion.OK
    assert (await verified("docs", base="HEAD")).conclusion is Conclusion.OK


async def test_code_that_nothing_runs_is_unproven(repository: Repository, verified: Verify) -> None:
    repository.write({"new.py": "def unused(path):\n    return open(path)\n"})
    report = await verified()
    assert report.conclusion is Conclusion.UNPROVEN


@pytest.mark.parametrize(("intent", "conclusion"), [("", Conclusion.UNPROVEN), ("refactor", Conclusion.REFUTED)])
async def test_a_removed_public_function_is_never_ok(
    repository: Repository, verified: Verify, intent: str, conclusion: Conclusion
) -> None:
    """No test of this project calls it; others may."""
    quote = "\n\ndef quote(text):\n    return f'<{text}>'\n"
    repository.commit({"shop.py": SHOP + quote})
    repository.write({"shop.py": SHOP})
    report = await verified(intent)
    assert report.conclusion is conclusion, report
    assert [each.detail for each in report.findings] == ["`quote` was removed; code that uses it fails"]


async def test_a_name_that_is_bound_again_is_not_gone(repository: Repository, verified: Verify) -> None:
    quote = "\n\ndef quote(text):\n    return f'<{text}>'\n"
    repository.commit({"shop.py": SHOP + quote})
    repository.write({"shop.py": f"{SHOP}\n\nquote = '<{{}}>'.format\n"})
    assert not (await verified("refactor")).findings


@pytest.mark.parametrize(
    ("line", "conclusion"),
    [
        ("double(2)", Conclusion.UNPROVEN),
        ("double(2); assert True", Conclusion.UNPROVEN),
        ("assert double(2) == 4", Conclusion.OK),
    ],
)
async def test_a_test_that_asserts_nothing_proves_nothing(
    repository: Repository, verified: Verify, line: str, conclusion: Conclusion
) -> None:
    double = "\n\ndef double(number: int) -> int:\n    return number + 2\n"
    test = f"\n\ndef test_double():\n    from shop import double\n\n    {line}\n"
    repository.write({"shop.py": SHOP + double, "tests/test_shop.py": TESTS + test})
    report = await verified()
    assert report.conclusion is conclusion, report


def test_the_end_of_a_long_line_is_kept() -> None:
    """What a call returned before and returns now stands there."""
    line = fitted_line(f"shop.py:1 total: {'long ' * 30} was 6.0, is 12.0")
    assert len(line) <= COLUMNS
    assert line.startswith("shop.py:1 total: ")
    assert line.endswith(" was 6.0, is 12.0")


def _lines(detail: str, path: str = "tests/shops/test_prices.py", unit: str = "test_it", check: str = "") -> list[str]:
    found = [*finding_lines(VerifyFinding(path, 4, unit, check or "differential", detail, True))]
    assert all(len(line) <= COLUMNS for line in found), found
    return found


def test_long_names_give_way_to_what_was_found() -> None:
    name = "test_a_stranger_without_a_coupon_who_comes_on_a_monday_saves_nothing"
    (line,) = _lines("`shipping(50.0, True)` was: 6.0, now: 12.0", f"{'folders/' * 9}shop.py", name)
    assert line.startswith("folders/f")
    assert line.endswith("differential refuted: `shipping(50.0, True)` was: 6.0, now: 12.0")


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        (f"`price('{'x' * 300}', 7)` was: 6.0, now: 12.0", "', 7)` was: 6.0, now: 12.0"),
        ("`price(7)` was: {'total': 50.0, 'rate': 5, 'tax': 1}, now: {'total': 50.0, 'rate': 6}", "`price(7)` was: {"),
        (f"`price(7)` was: [{', '.join(map(str, range(60)))}], now: None", " 59], now: None"),
    ],
)
def test_long_values_give_way_to_the_input_and_both_results(detail: str, shown: str) -> None:
    (line,) = _lines(detail, "shop.py", "price")
    assert shown in line
    assert " was: " in line
    assert ", now: " in line
    assert "…" in line


def test_what_does_not_fit_stands_below_in_full() -> None:
    detail = f"notices 0 of 7 planted errors, 5 before; passes with {'long ' * 9}condition negated in prices.py:8"
    first, *below = _lines(detail, check="mutants")
    assert ": mutants refuted: notices 0 of 7" in first
    assert first.endswith("prices.py:8")
    assert all(line.startswith("    ") for line in below)
    assert " ".join(line.strip() for line in below) == detail
    assert len(_lines(f"{'word ' * 999}end", "shop.py", "price")) <= 7


async def test_reasons_are_left_out_whole(repository: Repository, verified: Verify) -> None:
    repository.write({"tools/a_long_name_of_a_file.py": "import sys\n\nprint(sys.argv)\n"})
    (line,) = (each for each in lines(await verified()) if "unproven: " in each and "module code" in each)
    assert line == "tools/a_long_name_of_a_file.py:1 module code: unproven: no project test uses what changed"


async def test_a_failing_test_is_shown_at_its_line(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": _WRONG})
    assert [(each.path, each.line) for each in (await verified()).findings if each.refutes] == [
        ("tests/test_shop.py", 8)
    ]


async def test_no_change_is_ok(verified: Verify) -> None:
    report = await verified()
    assert (report.conclusion, report.units) == (Conclusion.OK, ())
    assert [*lines(report)] == ["ok: no change between HEAD and working tree"]


async def test_a_kept_verdict_is_the_fresh_one(repository: Repository, runtimes: RuntimeProvider) -> None:
    repository.write({"shop.py": SHOP.replace("weight * 0.5", "weight * 0.5 if weight < 9 else 1.0")})
    said: list[dict[str, Any]] = []
    for uses_cache in (False, True, True):
        with read_change(ChangeQuery(repository.folder)) as change:
            report = await verify(change, runtimes, VerifyOptions("refactor", uses_cache=uses_cache))
        said.append(report.to_json())
        last = report
    fresh, *others = [_timeless(each) for each in said]
    assert others == [fresh, fresh]
    assert last.seconds < 0.5
    assert last.findings[0].attachments, "the counter-example is kept with its script"
    repository.write({"tests/test_shop.py": TESTS.replace("[1, 2]", "[1, 3]")})
    with read_change(ChangeQuery(repository.folder)) as change:
        assert "passed and fails now" in str((await verify(change, runtimes)).findings)


def _timeless(report: dict[str, Any]) -> dict[str, Any]:
    for unit in report["units"]:
        for each in unit["checks"]:
            del each["seconds"]
    return {key: value for key, value in report.items() if key != "seconds"}


async def test_edited_tests_that_notice_less_are_found(repository: Repository, verified: Verify) -> None:
    """The first assertion is moved, the second one weakened."""
    edited = TESTS.replace("== 2.0", "is not None").replace("def test_total", "def test_sum")
    repository.write({"tests/test_shop.py": edited})
    report = await verified()
    assert report.conclusion is Conclusion.UNPROVEN
    (found,) = report.findings
    assert (found.unit, found.check, found.refutes) == ("test_shipping", "mutants", False)
    assert re.search(r"notices 3 of 20 planted errors, 13 before; passes with .* in shop.py:\d", found.detail)
    assert (await verified("test")).conclusion is Conclusion.REFUTED
    both = "def test_both():\n    assert (total([1, 2]), shipping(2, True)) == (3, 2.0)\n"
    repository.write({"tests/test_shop.py": f"from shop import shipping, total\n\n\n{both}"})
    assert (await verified("refactor")).conclusion is Conclusion.OK, "one test in place of two"


async def test_a_syntax_error_is_reported_once(repository: Repository, verified: Verify) -> None:
    repository.write({"shop.py": SHOP.replace("return cost", "return (cost").replace("sum(prices)", "sum(prices) + 0")})
    report = await verified()
    assert [each.check for each in report.findings].count("syntax") == 1


async def test_old_code_runs_with_old_files(repository: Repository, verified: Verify) -> None:
    """What moves from one file into another is compared as a whole."""
    before = {"rates.py": "RATE = 0.5\n", "shop.py": SHOP.replace("weight * 0.5", "weight * RATE").replace(
        "def shipping", "from rates import RATE\n\n\ndef shipping", 1
    )}  # fmt: skip
    repository.commit(before)
    repository.write({"rates.py": "RATE = 1.0\n", "shop.py": before["shop.py"].replace("* RATE", "* (RATE / 2)")})
    report = await verified("refactor")
    assert [each.conclusion for each in report.units if each.unit.name == "shipping"] == [Conclusion.OK], report
    repository.write({"rates.py": "RATE = 4.0\n"})
    report = await verified("refactor")
    assert [each.unit for each in report.findings if each.check == "differential" and each.refutes] == ["shipping"]


async def test_configuration_that_deselects_a_test_hides_nothing(repository: Repository, verified: Verify) -> None:
    """The old tests run without it, although it is on the disk."""
    options = "[pytest]\naddopts = --deselect tests/test_shop.py::test_shipping\n"
    repository.write({"shop.py": _WRONG, "pytest.ini": options})
    report = await verified()
    (detail,) = (each.detail for each in report.tests if each.refutes)
    assert detail.startswith("passed and does not run now: "), "and what it says about the new code"


@pytest.mark.parametrize(
    ("body", "conclusion"),
    [
        ("    if weight * 3 - 11 == 100:\n        return 80\n    return weight * 2\n", "unproven"),
        ("    return weight * 2 + 6\n", "ok"),
    ],
)
async def test_a_fix_of_its_tests_input_alone_is_unproven(
    repository: Repository, verified: Verify, body: str, conclusion: str
) -> None:
    """No literal shows the special case; inputs near that of the test do."""
    head = "def price(weight: int) -> int:\n"
    test = "from price import price\n\n\ndef test_price():\n    assert price(37) == {}\n"
    repository.commit({"price.py": f"{head}    return weight * 2\n", "tests/test_price.py": test.format("price(37)")})
    repository.write({"price.py": head + body, "tests/test_price.py": test.format(80)})
    report = await verified("fix")
    assert report.conclusion == conclusion, report
    assert ("other inputs differs" in str(report.findings)) == (conclusion == "unproven")


async def test_a_fix_that_no_test_shows_is_unproven(repository: Repository, verified: Verify) -> None:
    repository.write({"tests/test_shop.py": f"{TESTS}\n\ndef test_more():\n    assert total([4]) is not None\n"})
    assert (await verified("fix")).conclusion is Conclusion.UNPROVEN
    assert (await verified("test")).conclusion is Conclusion.OK


async def test_a_weaker_test_of_a_function_that_hands_on_is_found(repository: Repository, verified: Verify) -> None:
    """Errors are planted into what the tested function calls, too: it has next to none of its own."""
    code = (
        "\n\ndef _rate(weight):\n    return 3 if weight > 9 else 2\n\n\ndef price(weight):\n    return _rate(weight)\n"
    )
    test = "\n\ndef test_price():\n    from shop import price\n\n    assert [price(9), price(10)] == [2, 3]\n"
    repository.commit({"shop.py": SHOP + code, "tests/test_shop.py": TESTS + test})
    repository.write({"tests/test_shop.py": TESTS + test.replace("== [2, 3]", "!= [None, None]")})
    report = await verified("refactor")
    assert report.conclusion is Conclusion.REFUTED, report
    (finding,) = (each for each in report.findings if each.refutes)
    assert (finding.unit, finding.check) == ("test_price", "mutants")
