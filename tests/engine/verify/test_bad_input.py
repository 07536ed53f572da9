"""Changes that no one wants to verify, and that come all the same."""

from __future__ import annotations

import subprocess
from collections.abc import Awaitable, Callable

import pytest
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.render import summary
from stet_ls.engine.verify.report import Conclusion, Report
from stet_ls.engine.verify.verify import VerifyOptions, verify

Verify = Callable[..., Awaitable[Report]]


async def _static(repository: Repository, runtimes: RuntimeProvider, span: str = "") -> Report:
    """What is found without running anything."""
    with read_change(ChangeQuery(repository.folder, span)) as change:
        return await verify(change, runtimes, VerifyOptions(runs_code=False))


async def test_binary_and_broken_files_are_named_and_not_judged(
    repository: Repository, runtimes: RuntimeProvider
) -> None:
    for name, data in {"logo.png": b"\x89PNG\0\0", "latin.py": b"x = '\xe9'\n", "big.py": b"x = 1\n" * 200_000}.items():
        (repository.folder / name).write_bytes(data)
    repository.write({"shop.py": f"# A note.\n{SHOP}"})
    report = await _static(repository, runtimes)
    assert [each.conclusion for each in report.units] == [Conclusion.OK]
    assert report.conclusion is Conclusion.UNPROVEN
    assert set(report.unjudged) == {"big.py", "latin.py", "logo.png"}
    assert "; 3 files not judged; " in summary(report)
    assert set(report.notes) == {
        "big.py is not judged: larger than 1 MB", "latin.py is not judged: not UTF-8 text",
        "logo.png is not judged: not UTF-8 text",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("README.md", Conclusion.OK), ("docs/use.rst", Conclusion.OK), ("LICENSE.txt", Conclusion.OK),
        ("tests/data/prices.csv", Conclusion.OK), ("prices.csv", Conclusion.UNPROVEN),
        ("prices.txt", Conclusion.UNPROVEN),
        ("requirements.txt", Conclusion.UNPROVEN), ("Dockerfile", Conclusion.UNPROVEN),
        (".stet.toml", Conclusion.UNPROVEN),
    ],
)  # fmt: skip
async def test_what_no_judge_can_judge_is_not_ok_unless_it_is_prose(
    repository: Repository, runtimes: RuntimeProvider, path: str, verdict: Conclusion
) -> None:
    repository.write({"shop.py": f"# A note.\n{SHOP}", path: "\n"})
    report = await _static(repository, runtimes)
    assert [each.conclusion for each in report.units] == [Conclusion.OK]
    assert (report.conclusion, any(path in each for each in report.notes)) == (verdict, True)


async def test_a_mode_alone_is_a_change(repository: Repository, runtimes: RuntimeProvider) -> None:
    (repository.folder / "shop.py").chmod(0o755)
    report = await _static(repository, runtimes)
    assert report.conclusion is Conclusion.UNPROVEN
    assert report.notes == ("shop.py is not judged: only its mode changed, to 100755",)
    repository("config", "core.fileMode", "false")
    assert not (await _static(repository, runtimes)).notes, "a disk that does not keep modes"


async def test_marks_of_a_conflict_are_refuted_at_their_line(repository: Repository, runtimes: RuntimeProvider) -> None:
    repository("checkout", "--quiet", "-b", "topic")
    repository.commit({"shop.py": SHOP.replace("cost += 1", "cost += 2"), "notes.md": "two\n"})
    repository("checkout", "--quiet", "main")
    repository.commit({"shop.py": SHOP.replace("cost += 1", "cost += 3"), "notes.md": "three\n"})
    with pytest.raises(subprocess.CalledProcessError):
        repository("merge", "topic")
    report = await _static(repository, runtimes)
    found = {(each.path, each.line, each.detail) for each in report.findings if each.refutes}
    assert found == {("shop.py", 4, "marks of a merge conflict"), ("notes.md", 1, "marks of a merge conflict")}


async def test_a_merge_is_judged_against_each_side(repository: Repository, runtimes: RuntimeProvider) -> None:
    repository("checkout", "--quiet", "-b", "topic")
    repository.commit({"topic.py": "def topic():\n    return missing\n"})
    repository("checkout", "--quiet", "main")
    repository.commit({"main.py": "def other():\n    return absent\n"})
    repository("merge", "--quiet", "--no-edit", "topic")
    for side, path in (("HEAD^1", "topic.py"), ("HEAD^2", "main.py")):
        report = await _static(repository, runtimes, f"{side}..HEAD")
        assert [each.path for each in report.findings if each.refutes] == [path]


async def test_a_flaky_test_refutes_nothing(repository: Repository, verified: Verify) -> None:
    """It fails in the first of three runs, by the seed of each."""
    flaky = 'import os\n\n\ndef is_there():\n    return os.environ["PYTHONHASHSEED"] != "0"\n'
    test = "from flaky import is_there\n\n\ndef test_it():\n    assert is_there()\n"
    repository.commit({"flaky.py": "def is_there():\n    return True\n", "tests/test_flaky.py": test})
    repository.write({"flaky.py": flaky})
    report = await verified()
    assert not [each for each in report.tests if each.refutes]
    assert "1 flaky test ignored: test_it" in report.notes, report.notes


async def test_a_test_that_needs_a_service_proves_and_refutes_nothing(repository: Repository, verified: Verify) -> None:
    test = (
        "import socket\nfrom shop import total\n\n\ndef test_stored():\n"
        "    socket.create_connection(('127.0.0.1', 5432), 1)\n    assert total([]) == 0\n"
    )
    repository.commit({"tests/test_shop.py": test})
    repository.write({"shop.py": SHOP.replace("sum(prices)", "sum(prices, 1)")})
    report = await verified()
    assert report.conclusion is Conclusion.UNPROVEN
    (tests,) = (each for each in report.units[0].checks if each.check == "tests")
    reported = "no test of shop.py passes: tests/test_shop.py::test_stored: "
    assert tests.detail.startswith(reported), "its user knows what to start"
    assert "Error" in tests.detail


async def test_tests_that_fail_on_both_sides_are_named_next_to_those_that_pass(
    repository: Repository, verified: Verify
) -> None:
    needy = f"{TESTS}\n\ndef test_stored():\n    import os\n\n    assert os.environ['SHOP_KEY']\n"
    repository.commit({"tests/test_shop.py": needy})
    repository.write({"shop.py": SHOP.replace("sum(prices)", "sum(prices) + 0")})
    report = await verified()
    assert report.conclusion is Conclusion.OK, report
    (note,) = report.notes
    assert note == "1 test fails on both sides: test_stored: KeyError: 'SHOP_KEY'"


async def test_broken_data_of_tests_is_a_note(repository: Repository, runtimes: RuntimeProvider) -> None:
    """Tests of parsers hold such files on purpose, and files of newer formats than a grammar knows."""
    repository.write({"tests/data/time.toml": "at = 07:32\n", "settings.toml": "at = \n"})
    report = await _static(repository, runtimes)
    assert [(each.path, each.check, each.refutes) for each in report.findings] == [
        ("settings.toml", "syntax", True), ("tests/data/time.toml", "syntax", False),
    ]  # fmt: skip
