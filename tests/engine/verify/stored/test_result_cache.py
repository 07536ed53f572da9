"""Kept results: found by all that they depend on, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.repository import Repository
from support.verifying import SHOP

from stet_ls.engine.api.evidence import Attachment, Ruling
from stet_ls.engine.judges.project_tests.discovery import project_files
from stet_ls.engine.runners.captured_calls import CapturedCall, CapturedCalls
from stet_ls.engine.runners.report import CaseOutcome, CaseResult, SuiteOutcome, TestReport
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.reached_files import ReachedFiles
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import CheckResult
from stet_ls.engine.verify.stored.kept_runs import KeptRuns
from stet_ls.engine.verify.stored.records import key_of
from stet_ls.engine.verify.stored.result_cache import VerifyCache

_RESULT = CheckResult(
    "differential", Ruling.FAIL, "was 1, is 2", True, attachments=(Attachment("a.py", "python", "x"),)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def _kept(folder: Path, result: CheckResult = _RESULT) -> str:
    cache, key = VerifyCache(folder), key_of("a")
    cache.put(CheckResult, key, result)
    cache.write()
    return key


def test_a_result_is_the_same_when_it_is_read_again(folder: Path) -> None:
    key = _kept(folder)
    assert VerifyCache(folder).get(CheckResult, key) == _RESULT
    assert VerifyCache(folder).get(CheckResult, key_of("b")) is None
    assert VerifyCache(folder, is_on=False).get(CheckResult, key) is None
    assert folder.stat().st_mode & 0o077 == 0


def test_a_changed_record_is_a_miss(folder: Path) -> None:
    key = _kept(folder)
    record = folder / f"{key}.json"
    text = record.read_text()
    for changed in (text.replace("is 2", "is 1"), text[:-10], "", "{}", "\n", "null\nnull"):
        record.write_text(changed)
        assert VerifyCache(folder).get(CheckResult, key) is None
    record.write_text(text)
    assert VerifyCache(folder).get(CheckResult, key) == _RESULT
    (folder / f"{key_of('other')}.json").write_text(text)
    assert VerifyCache(folder).get(CheckResult, key_of("other")) is None, "a record of another key"
    record.chmod(0o644)
    assert VerifyCache(folder).get(CheckResult, key) is None, "others could read it, so others may have made it"


async def test_a_run_that_shows_a_secret_is_not_kept(repository: Repository, folder: Path) -> None:
    key = "AKIA" + "IOSFODNN7QZDKWPB"
    call = CapturedCall("f", {"key": repr(key)})
    for report, kept in (
        (TestReport("pytest", SuiteOutcome.GREEN), 1),
        (TestReport("pytest", SuiteOutcome.GREEN, cases=(CaseResult("a", CaseOutcome.PASSED, stdout=key),)), 0),
        (TestReport("pytest", SuiteOutcome.GREEN, captured={"a.py": CapturedCalls((call,))}), 0),
        (TestReport("pytest", SuiteOutcome.TIMEOUT), 0),
    ):
        change = _change(repository)
        runs = KeptRuns(VerifyCache(folder), "an environment", ReachedFiles(change, (), ()))

        async def run(report: TestReport = report) -> TestReport:
            return report

        assert await runs.tests(kept, ["a.py"], run, is_old=True) == report
        runs.cache.write()
        assert len([*folder.glob("*.json")]) == kept
        for each in folder.glob("*.json"):
            each.unlink()


def _change(repository: Repository) -> Change:
    with read_change(ChangeQuery(repository.folder)) as change:
        return change


def _reached(repository: Repository) -> tuple[str, str]:
    change = _change(repository)
    found = ReachedFiles(change, project_files(change.root, "python", {}), change.files)
    return found.old(("shop.py",)), found.new(("shop.py",))


def test_what_a_file_can_reach_is_part_of_its_key(repository: Repository) -> None:
    repository.commit({
        "shop.py": f"from rates import RATE\n{SHOP}",
        "rates.py": "import importlib\nRATE = importlib.import_module('deep').R\n",
        "deep.py": "R = 1\n", "other.py": "x = 1\n", "data.csv": "1\n",
    })  # fmt: skip
    repository.write({"shop.py": f"from rates import RATE\n{SHOP}\n# more\n"})
    old, new = _reached(repository)
    repository.write({"other.py": "x = 2\n"})
    assert _reached(repository) == (old, new), "nothing reaches it"
    seen = {new}
    for path, text in (("deep.py", "R = 2\n"), ("data.csv", "2\n"), ("tests/test_shop.py", ""), ("conftest.py", "")):
        repository.write({path: text})
        again, now = _reached(repository)
        assert now not in seen, path
        assert again == old or path == "conftest.py"
        seen.add(now)
