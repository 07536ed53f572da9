"""Edited tests of a module with many branches: errors are planted where the tests go, and enough of them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.repository import Repository
from support.verifying import TESTS

from stet_ls.engine.actions.generated_tests.mutants import mutants_of
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.project_tests.mutant_runs import LEAST_SECONDS
from stet_ls.engine.verify.report import Conclusion
from stet_ls.engine.verify.verify import VerifyOptions, verify

_TEST = """\
import unittest

from wrapping import wrap


class WrapTest(unittest.TestCase):
    def test_words(self):
        {}
"""
_OLD = 'self.assertEqual(wrap("Hello there", 7), ["Hello", "there"])'


@pytest.mark.parametrize(
    ("new", "conclusion"),
    [
        ('self.assertIn("Hello", wrap("Hello there", 7))', Conclusion.UNPROVEN),
        ('self.assertListEqual(["Hello", "there"], wrap("Hello there", width=7))', Conclusion.OK),
    ],
)
async def test_a_weaker_assertion_about_a_large_module_is_found(
    repository: Repository, runtimes: RuntimeProvider, new: str, conclusion: Conclusion
) -> None:
    """Of errors planted anywhere in `textwrap`, one in ten is where this test goes, and `assertIn` notices those."""
    module = Path(textwrap.__file__).read_text()
    repository.commit({"wrapping.py": module, "tests/test_wrapping.py": _TEST.format(_OLD)})
    repository.write({"tests/test_wrapping.py": _TEST.format(new)})
    with read_change(ChangeQuery(repository.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions(budget=180.0))
    assert report.conclusion is conclusion, report
    found = [each.detail for each in report.findings if each.check == "mutants"]
    assert bool(found) is (conclusion is Conclusion.UNPROVEN), report


@pytest.mark.parametrize("seconds", [3.0, 3.5, 4.0, LEAST_SECONDS])
async def test_an_edited_test_that_there_was_no_time_to_try_proves_nothing(
    repository: Repository, runtimes: RuntimeProvider, seconds: float
) -> None:
    repository.write({"tests/test_shop.py": TESTS.replace("== 2.0", "is not None")})
    with read_change(ChangeQuery(repository.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions(budget=seconds))
    assert (report.conclusion, report.partial) == (Conclusion.UNPROVEN, True), report


def test_errors_are_spread_over_the_lines_that_are_asked_for() -> None:
    text = "def f(a, b):\n    c = a + b * 2 - 3 * a\n    d = c + 1\n    return a and d\n"
    found = [each for each in mutants_of(text, "f", 30, {2, 3, 4}) if "result" not in each.change]
    assert sorted(each.line for each in found[:3]) == [2, 3, 4]
    assert {each.line for each in mutants_of(text, "f", 30, {3})} == {3}


def test_results_are_wrong_in_every_way_that_an_assertion_may_miss() -> None:
    text = "def f(it):\n    def g():\n        return 0, 1\n\n    return (  # both\n        it\n    )\n"
    wrong = [each for each in mutants_of(text, "f", 30, {5, 6}) if "a result" in each.change]
    found: set[str] = set()
    for each in wrong:
        names: dict[str, Any] = {}
        exec(each.text, names)
        found |= {repr(names["f"](value)) for value in ([1, 2], {"a": 1, "b": 2}, "ab", 3, True, None)}
    assert found == {
        "[1]", "[2]", "[1, 2, 2]", "[1, 2]", "{'a': 1}", "{'b': 2}", "{'a': 1, 'b': 2}", "'a'", "'b'", "'abb'", "'ab'",
        "3", "4", "True", "False", "None",
    }  # fmt: skip
