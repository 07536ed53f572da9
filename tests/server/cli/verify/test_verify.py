"""`stet verify` on the command line: exit status, formats, and what is an error."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from support.processes.command import Stet
from support.processes.stet import stet_argv
from support.repository import Repository
from support.verifying import SHOP, TESTS

from stet_ls.server.cli.command_table import COMMANDS, build_parser

ROOT = Path(__file__).parents[4]


@pytest.fixture
def repository(folder: Path) -> Repository:
    made = Repository.new(folder)
    made.commit({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    return made


def test_a_refuted_change_exits_with_1(stet: Stet, repository: Repository) -> None:
    repository.write({"shop.py": SHOP.replace("cost += 1", "cost += 2")})
    ran = stet("verify")
    assert ran.status == 1, ran
    first, *_, last = ran.out.splitlines()
    assert first.startswith("tests/test_shop.py:8 test_shipping: tests refuted: passed and fails now: ")
    assert last.startswith("refuted by 1 test: 1 unit")


def test_unproven_fails_only_on_request(stet: Stet, repository: Repository) -> None:
    repository.write({"extra.py": "def unused(path):\n    return open(path)\n"})
    ran = stet("verify", "--json", "--fail-on", "unproven")
    report = json.loads(ran.out)
    assert (ran.status, report["schema"], report["verdict"]) == (1, "stet.verify/1", "unproven")
    assert stet("verify", "extra.py", "--budget", "30s").status == 0


def test_a_patch_from_standard_input(stet: Stet, repository: Repository) -> None:
    repository.write({"shop.py": SHOP.replace("return cost", "return costs")})
    patch = repository("diff")
    repository("checkout", "--quiet", ".")
    ran = stet("verify", "--patch", "-", "--json", stdin=patch)
    assert (ran.status, json.loads(ran.out)["head"]) == (1, "the patch")


def test_changed_settings_of_stet_are_reported(stet: Stet, repository: Repository) -> None:
    """The settings of a project cannot lower the sandbox; that they changed is for the user to know."""
    repository.write({".stet.toml": '[sandbox]\nminimum_level = "none"\n'})
    ran = stet("verify")
    assert "note: .stet.toml is not judged: it holds settings of Stet" in ran.out
    assert '"sandbox.minimum_level"' in ran.err
    assert "only the user may set it" in ran.err


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "junit"])
def test_a_name_that_is_not_utf_8_is_judged(stet: Stet, repository: Repository, form: str) -> None:
    (repository.folder / "bad\udcff.py").write_text("def extra():\n    return missing\n")
    ran = stet("verify", "--format", form)
    assert (ran.status, ran.err) == (1, "")
    assert "Undefined name" in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--base", "nowhere"), "unknown revision `nowhere`"),
        (("HEAD..nowhere",), "unknown revision `nowhere`"),
        (("HEAD..HEAD", "--staged"), "names both sides"),
        (("HEAD",), "no file or folder `HEAD` on either side"),
        (("--budget", "soon"), "expected a time such as 10s"),
        (("../elsewhere.py",), "is outside of"),
    ],
)
def test_usage_errors(stet: Stet, repository: Repository, words: tuple[str, ...], says: str) -> None:
    ran = stet("verify", *words)
    assert ran.status == 2
    assert says in ran.err


def test_outside_of_git_a_folder_is_needed(stet: Stet, folder: Path) -> None:
    ran = stet("verify")
    assert ran.status == 2
    assert "name a folder to compare with: `--base FOLDER`" in ran.err


def test_a_receipt_is_checked_again(stet: Stet, repository: Repository, tmp_path: Path) -> None:
    repository.write({"extra.py": "def extra():\n    return missing\n"})
    receipt = tmp_path / "receipt.json"
    assert stet("verify", "--receipt", receipt).status == 1
    statement = json.loads(receipt.read_text())
    repository("add", ".")
    (subject,) = statement["subject"]
    assert subject["digest"]["gitTree"] == repository("write-tree").strip()
    assert statement["predicate"]["result"] == "FAILED"
    (configuration,) = statement["predicate"]["configuration"]
    assert configuration["annotations"]["seed"] == 0
    assert configuration["annotations"]["settings"]["python_version"].startswith("3.")
    again = stet("verify", "--recheck", receipt)
    assert (again.status, again.err) == (0, "")
    elsewhere = stet("verify", "--staged", "--base", repository("rev-parse", "HEAD").strip(), "--recheck", receipt)
    assert elsewhere.status == 0, "the same trees by other words"
    repository.commit()
    moved = stet("verify", "--recheck", receipt)
    assert (moved.status, len(moved.err.splitlines())) == (1, 1)
    assert "it is about other trees; repeat the range" in moved.err
    assert stet("verify", "HEAD~1..HEAD", "--recheck", receipt).status == 0
    repository("reset", "--soft", "HEAD~1")
    statement["predicate"]["result"] = "PASSED"
    receipt.write_text(json.dumps(statement))
    forged = stet("verify", "--recheck", receipt)
    assert forged.status == 1
    assert "`result` was PASSED, is FAILED" in forged.err
    receipt.write_text("{}")
    assert stet("verify", "--recheck", receipt).status == 2


def test_checking_a_receipt_runs_everything_again(stet: Stet, repository: Repository, tmp_path: Path) -> None:
    repository.commit({".gitignore": "limit.txt\n"})
    test = "from pathlib import Path\n\n\ndef test_limit():\n    assert Path('limit.txt').read_text() == '2'\n"
    repository.write({"tests/test_limit.py": test, "limit.txt": "2"})
    receipt = tmp_path / "receipt.json"
    ran = stet("verify", "--receipt", receipt)
    said = json.loads(receipt.read_text())["predicate"]
    if not any("test_limit" in each for each in said["passedTests"]):
        pytest.skip(f"code cannot run here: {ran}")
    repository.write({"limit.txt": "3"})
    again = stet("verify", "--recheck", receipt)
    assert again.status == 1
    assert "test_limit" in again.err, "the cache does not know what git ignores"


def test_a_verdict_is_kept_for_the_next_process_whatever_its_hashes(
    stet: Stet, repository: Repository, stet_home: Path
) -> None:
    names = ", ".join(f'"tool{number}"' for number in range(9))
    (stet_home / "config.toml").write_text(f"[checks]\ndisabled_tools = [{names}]\n")
    repository.write({"shop.py": SHOP.replace("sum(prices)", "sum(prices) + 0")})
    first = stet("verify", "--json", PYTHONHASHSEED="1")
    known = {path.name for path in (stet_home / "cache").rglob("*.json")}
    again = stet("verify", "--json", PYTHONHASHSEED="2")
    assert json.loads(again.out)["verdict"] == json.loads(first.out)["verdict"]
    assert {path.name for path in (stet_home / "cache").rglob("*.json")} == known


def test_parts_of_a_change_make_up_the_whole(stet: Stet, repository: Repository, tmp_path: Path) -> None:
    changed = SHOP.replace("cost += 1", "cost += 2").replace("sum(prices)", "sum(prices) + 0")
    repository.write({"shop.py": changed, "extra.py": "def extra():\n    return missing\n", "notes.json": "{,"})
    for number in (1, 2):
        ran = stet("verify", "--shard", f"{number}/2", "--json")
        (tmp_path / f"{number}.json").write_text(ran.out)
    own = [{each["name"] for each in json.loads((tmp_path / f"{n}.json").read_text())["units"]} for n in (1, 2)]
    assert own == [{"", "extra", "total"}, {"shipping"}], "the file without units belongs to the first"

    files = [tmp_path / "2.json", tmp_path / "1.json"]
    ran, whole = stet("verify", "--json", "--merge", *files), stet("verify", "--json")
    merged, expected = json.loads(ran.out), json.loads(whole.out)
    assert ran.status == whole.status == 1
    assert _timeless(merged) == _timeless(expected)
    assert stet("verify", "--merge", files[0]).status == 2, "a part is missing"
    repository.write({"extra.py": ""})
    assert "is about another change" in stet("verify", "--merge", *files).err


@pytest.fixture
def run_action(
    repository: Repository, tmp_path: Path, environment: Mapping[str, str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the action's own script, with the `stet` of the tests where its first step would have installed one."""
    step = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"][1]
    (tmp_path / "stet/bin").mkdir(parents=True)
    (tmp_path / "stet/bin/stet").write_text(f'#!/bin/sh\nexec {shlex.join(stet_argv())} "$@"\n')
    (tmp_path / "stet/bin/stet").chmod(0o755)
    repository.commit({"extra.py": "def extra():\n    return missing\n"})

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        given = dict.fromkeys(step["env"], "") | {"BUDGET": "1m", "FAIL_ON": "refuted"} | inputs
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=repository.folder, capture_output=True, text=True,
            env={**environment, "RUNNER_TEMP": str(tmp_path), **given}, check=False,
        )  # fmt: skip

    return run


def test_the_action_for_github_annotates_and_writes_sarif(
    run_action: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    ran = run_action(RANGE="HEAD~1...HEAD", SARIF=str(tmp_path / "x.sarif"))
    assert ran.returncode == 1, ran
    assert "::error title=stet names%3A extra,file=extra.py,line=2::" in ran.stdout
    assert json.loads((tmp_path / "x.sarif").read_text())["runs"][0]["results"]


@pytest.mark.parametrize("before", ["0" * 40, ""], ids=["the first push of a branch", "a run by hand"])
def test_the_action_compares_with_the_default_branch_where_it_knows_no_commit_before(
    run_action: Callable[..., subprocess.CompletedProcess[str]], repository: Repository, before: str
) -> None:
    repository("update-ref", "refs/remotes/origin/main", "HEAD~1")
    ran = run_action(RANGE=f"{before}...HEAD", DEFAULT="main")
    assert (ran.returncode, "file=extra.py,line=2::" in ran.stdout) == (1, True), ran


def test_a_part_of_a_matrix_does_not_fail_for_its_verdict(
    run_action: Callable[..., subprocess.CompletedProcess[str]], repository: Repository
) -> None:
    ran = run_action(RANGE="HEAD~1...HEAD", SHARD="1/1")
    assert ran.returncode == 0, ran
    assert json.loads((repository.folder / "stet-part-1.json").read_text())["verdict"] == "refuted"
    assert run_action(RANGE="nowhere...HEAD", SHARD="1/1").returncode == 2


def test_the_commands_of_the_manual_are_understood() -> None:
    manual = (ROOT / "docs" / "verify.md").read_text()
    parser = build_parser(chosen=COMMANDS)
    lines = [line.split(" #")[0].split(">")[0] for line in re.findall(r"\bstet (verify .*)", manual) if "`" not in line]
    assert len(lines) > 8
    for line in lines:
        parser.parse_args(shlex.split(line))


def _timeless(report: Any) -> Any:
    if isinstance(report, dict):
        return {key: _timeless(value) for key, value in report.items() if key != "seconds"}
    return [_timeless(each) for each in report] if isinstance(report, list) else report


def test_formats_for_services_point_at_edited_lines(stet: Stet, repository: Repository) -> None:
    repository.write({"extra.py": "def extra():\n    return missing\n"})
    plain = stet("verify", "--format", "github", "--intent", "refactor").out
    assert "::error title=stet names%3A extra,file=extra.py,line=2::" in plain
    results = json.loads(stet("verify", "--format", "sarif").out)["runs"][0]["results"]
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert {(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in places} == {("extra.py", 2)}
    repository.write({"extra.py": "A = 1\n\n\ndef extra():\n    return missing\n"})
    moved = json.loads(stet("verify", "--format", "sarif").out)["runs"][0]["results"]
    assert [each["locations"][0]["physicalLocation"]["region"]["startLine"] for each in moved] == [5]
    assert [each["partialFingerprints"] for each in moved] == [each["partialFingerprints"] for each in results]
    suite = ElementTree.fromstring(stet("verify", "--format", "junit").out)
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert {"names: extra", "extra"} <= failed


def test_a_kept_verdict_needs_no_heavy_import(stet: Stet, repository: Repository) -> None:
    """Importing them takes longer than all the rest of such a run, which has 0.2 s."""
    repository.write({"shop.py": f"# A note.\n{SHOP}"})
    first = stet("verify", "--json")
    argv = [sys.executable, "-X", "importtime", "-m", "stet_ls.server", "verify", "--json"]
    ran = subprocess.run(argv, cwd=stet.folder, env=stet.environment, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == {**json.loads(first.out), "seconds": json.loads(ran.stdout)["seconds"]}
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "stet_ls.engine.verify.stored.known_answers" in imported
    heavy = {"pydantic", "asyncio", "rich", "tree_sitter", "stet_ls.engine.settings", "stet_ls.engine.sandbox.sandbox"}
    assert not imported & heavy
