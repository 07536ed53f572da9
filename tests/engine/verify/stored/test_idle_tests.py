"""Test files that executed nothing of what changes are not run again, unless anything else changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.judges.project_tests.discovery import project_files
from stet_ls.engine.runners.report import CaseOutcome, CaseResult, SuiteOutcome, TestReport, TracedLines
from stet_ls.engine.verify.changes.reached_files import ReachedFiles
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import Conclusion, Report
from stet_ls.engine.verify.stored.idle_tests import IdleTests
from stet_ls.engine.verify.stored.kept_runs import KeptRuns
from stet_ls.engine.verify.stored.result_cache import VerifyCache

Verify = Callable[..., Awaitable[Report]]
MAIL = "def hello(name: str) -> str:\n    return f'hello {name}'\n"
IDLE = "import mail\nimport shop\n\n\ndef test_hello():\n    assert mail.hello('a') == 'hello a'\n    assert shop\n"
LATER = IDLE.replace("test_hello", "test_later")
SAID = "test file left out: an earlier run executed nothing that changed"

pytestmark = pytest.mark.usefixtures("stet_home")  # no results of other tests


@pytest.fixture
def project(repository: Repository) -> Repository:
    repository.commit({"mail.py": MAIL, "tests/test_a_mail.py": IDLE, "tests/test_z_mail.py": LATER})
    return repository


def _edited(number: int) -> str:
    return SHOP.replace("weight * 0.5", f"weight * 0.5 + {number} - {number}")


OTHERS = {
    "outside of functions": {"shop.py": f"LIMIT = 3\n{_edited(2)}"},
    "what it calls": {"mail.py": MAIL.replace("hello {", "hi {")},
    "a test": {"tests/test_shop.py": f"# a note\n{TESTS}"},
    "data": {"data.json": "[]"},
}
"""What changes besides the function, by what it is."""


async def test_what_executed_nothing_of_it_does_not_run_again(project: Repository, verified: Verify) -> None:
    project.write({"shop.py": _edited(1)})
    first = await verified()
    assert not _said(first)
    project.write({"shop.py": _edited(2)})
    second = await verified()
    assert _said(second) == [f"1 {SAID}"], "the other ran after tests of the change, which may have left something"
    assert second.conclusion is first.conclusion is Conclusion.OK
    for what, files in OTHERS.items():
        project.write(files)
        assert not _said(await verified()), what
        project("checkout", "--quiet", "--", "mail.py", "tests")
        project.write({"shop.py": _edited(2)})


FIRST, SECOND = "tests/test_a_mail.py", "tests/test_shop.py"
RAN = TestReport(
    "pytest", SuiteOutcome.GREEN,
    cases=(CaseResult(f"{FIRST}::test_hello", CaseOutcome.PASSED), CaseResult(f"{SECOND}::test", CaseOutcome.PASSED)),
    traced={"shop.py": TracedLines({f"{SECOND}::test": frozenset({2})})},
)  # fmt: skip


def _idle(project: Repository, cache: Path, learned: TestReport) -> frozenset[str]:
    """Which test files need not run after a run with this report."""
    project.write({"shop.py": _edited(1)})
    with read_change(ChangeQuery(project.folder)) as change:
        source = project_files(change.root, "python", {})
        kept = KeptRuns(VerifyCache(cache), "environment", ReachedFiles(change, source, change.files))
        known = IdleTests(kept, "python", change.files)
        known.learn(learned)
        kept.cache.write()
        return known.among((FIRST, SECOND), {each.path: each.text for each in source})


@pytest.mark.parametrize(
    ("report", "idle"),
    [
        (RAN, {FIRST}),
        (replace(RAN, cases=RAN.cases[::-1]), set()),
        (replace(RAN, traced={"shop.py": TracedLines({"": frozenset({2})})}), set()),
        (replace(RAN, traced={}), set()),
        (replace(RAN, missing=(f"{FIRST}::test_more",)), set()),
        (replace(RAN, running=(f"{FIRST}::test_hello",)), set()),
        (replace(RAN, signs=frozenset({"it patched pytest"})), set()),
        (replace(RAN, outcome=SuiteOutcome.ERROR), set()),
    ],
    ids=["before", "after", "outside of tests", "not measured", "not run", "not ended", "forged", "no result"],
)
def test_only_a_whole_run_before_other_tests_tells(
    project: Repository, tmp_path: Path, report: TestReport, idle: set[str]
) -> None:
    assert _idle(project, tmp_path / "cache", report) == idle


@pytest.mark.parametrize(
    "files",
    [
        {"mail.py": f"import subprocess\n\n\n{MAIL}"},
        {FIRST: f"import inspect\n{IDLE}"},
        {FIRST: f"{IDLE}    assert open('shop.py').read()\n"},
    ],
    ids=["it starts processes", "it inspects", "it reads files"],
)
def test_tests_that_reach_code_in_other_ways_always_run(
    project: Repository, tmp_path: Path, files: dict[str, str]
) -> None:
    project.commit(files)
    assert not _idle(project, tmp_path / "cache", RAN)


def _said(report: Report) -> list[str]:
    return [each for each in report.notes if SAID in each]
