"""`stet check`: standard input, what programs and forges read, and the hooks."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.processes.command import SECONDS, Stet
from support.processes.stet import stet_argv
from support.repository import Repository

ROOT = Path(__file__).resolve().parents[4]


def test_standard_input_takes_a_language_or_a_file_name(stet: Stet, folder: Path) -> None:
    ran = stet("check", "-", "--language", "py", stdin="x = (\n")
    assert (ran.status, ran.out.splitlines()[0].startswith("-:1:5: error: ")) == (1, True)

    (folder / "pyproject.toml").write_text("[project]\nrequires-python = '>=3.8'\n")
    generic = "def f[T](a: T) -> T:\n    return a\n"
    ran = stet("check", "--stdin-filename", "src/new.py", "--json", "-", stdin=generic)
    (file,) = json.loads(ran.out)["files"]
    assert (ran.status, file["path"], file["verdict"]) == (1, "src/new.py", "error"), "the name tells the project"

    assert stet("check", "-", "--language", "toml", stdin=b"\xef\xbb\xbfa = 1\n").status == 0


@pytest.mark.parametrize(
    ("words", "stdin", "complaint"),
    [
        (["-"], b"", "standard input needs --language or --stdin-filename"),
        (["-", "--stdin-filename", "a.odd"], b"", "--stdin-filename a.odd has no known language; add `--language`"),
        (["-", "--language", "pyton"], b"", 'unknown language `pyton`: did you mean "python"?'),
        (["-", "--language", "python"], b"\0", "standard input is a binary file"),
        (["-", "--language", "python"], b"\xff", "standard input is not UTF-8 text (byte 0)"),
    ],
)  # fmt: skip
def test_contradictory_arguments_are_reported(stet: Stet, words: list[str], stdin: bytes, complaint: str) -> None:
    ran = stet("check", *words, stdin=stdin)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {complaint}\n")


def test_a_language_argument_applies_to_the_named_files(stet: Stet, folder: Path) -> None:
    (folder / "tool").write_text("x = (\n")
    assert stet("check", "tool").status == 0
    assert stet("check", "tool", "--language", "python").status == 1


def test_the_outline_lists_the_units(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text('class A:\n    def f(self) -> int:\n        """One."""\n        return 1\n')

    (file,) = json.loads(stet("check", "--outline", "--json", "a.py").out)["files"]

    symbols = [(each["kind"], each["qualified"], each["line"], each["doc"]) for each in file["symbols"]]
    assert symbols == [("class", "A", 1, ""), ("method", "A.f", 2, '"""One."""')]
    assert "symbols" not in json.loads(stet("check", "--json", "a.py").out)["files"][0]
    assert stet("check", "--outline", "a.py").out == "a.py:1:1: class A\na.py:2:1: method A.f\n"


def test_githubs_annotations_cannot_be_forged(stet: Stet, folder: Path) -> None:
    """A line end in a name would end the command, and a colon or a comma its properties."""
    Repository(folder).write({"a,b::c\n::error::forged.py": "import os\nprint(nam)\n"})

    lines = stet("check", "--lint", "--format", "github").out.splitlines()

    name = "a%2Cb%3A%3Ac%0A%3A%3Aerror%3A%3Aforged.py"
    assert lines == [
        f"::warning title=stet (ruff F401),file={name},line=1,col=8,endLine=1,endColumn=10::`os` imported but unused",
        f"::error title=stet (ruff F821),file={name},line=2,col=7,endLine=2,endColumn=10::Undefined name `nam`",
    ]


def test_the_sarif_output_is_valid(stet: Stet, folder: Path) -> None:
    Repository(folder).write({"a b/é%.py": "import os\n", "c.py": "x = '😀' + )\n"})

    ran = stet("check", "--lint", "--format", "sarif")

    (run,) = json.loads(ran.out)["runs"]
    first, *rest = run["results"]
    place = first["locations"][0]["physicalLocation"]
    assert (first["ruleId"], first["level"]) == ("ruff/F401", "warning")
    assert place["artifactLocation"] == {"uri": "a%20b/%C3%A9%25.py"}
    assert place["region"] == {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 10}
    assert run["columnKind"] == "unicodeCodePoints"
    assert rest[0]["locations"][0]["physicalLocation"]["region"]["startColumn"] == 11
    assert {result["ruleId"] for result in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert ran.status == 1


def manifest() -> dict[str, dict[str, object]]:
    """The hooks that this repository ships, by their ids."""
    return {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.mark.parametrize("hook", [each for each in manifest() if each != "stet-verify"])
def test_the_hooks_run_under_pre_commit(hook: str, folder: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """As shipped, but for the environment that pre-commit would build: that of the tests is there."""
    program, *words = shlex.split(str(manifest()[hook]["entry"]))
    assert program == "stet"
    local = {**manifest()[hook], "entry": shlex.join([*stet_argv(), *words]), "language": "system"}
    repository = Repository.new(folder)
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": [local]}]}))
    repository.write({"good.py": "x = 1\n", "sub/also good.toml": "a = 1\n", "notes.txt": "(\n"})
    repository("add", "--all")

    def pre_commit(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", *more],
            cwd=folder, env={**environment, "PRE_COMMIT_HOME": str(tmp_path / "home")},
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip

    assert pre_commit("validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")).returncode == 0
    assert "Passed" in pre_commit("run", hook).stdout
    repository.write({"sub/bad one.py": "def f(:\n    return nam\n"})
    repository("add", "--all")
    failed = pre_commit("run", hook)
    assert failed.returncode == 1
    assert "sub/bad one.py:1:6: error: " in failed.stdout
    assert "notes.txt" not in failed.stdout
