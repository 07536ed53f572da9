"""`stet check --baseline`: only what is new since a revision counts, and nothing of a repository is executed."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.repository import Repository


@pytest.fixture
def repository(folder: Path) -> Repository:
    return Repository.new(folder)


def messages(stet: Stet, *words: str) -> list[tuple[str, int]]:
    """(file, line) of each finding that counts against HEAD."""
    report = json.loads(stet("check", "--json", "--baseline", "HEAD", *words).out)
    return [(file["path"], finding["line"]) for file in report["files"] for finding in file["findings"]]


def test_old_findings_do_not_count_and_are_counted(stet: Stet, repository: Repository) -> None:
    repository.commit({"a.py": "import os\nprint(nam)\n", "b.js": "let x = (\n", "sub/c.py": "def f(:\n  pass\n"})
    repository.write({"a.py": "# new\n\nimport os\nimport re\nprint(nam)\n"})

    ran = stet("check", "--lint", "--baseline", "HEAD", ".")

    assert ran.out == "a.py:4:8: warning: `re` imported but unused [ruff F401]\n"
    assert ran.status == 0
    assert "older findings not shown" in ran.err
    assert stet("check", "--lint", ".").status == 1


def test_a_second_copy_of_an_old_finding_is_reported_as_new(stet: Stet, repository: Repository) -> None:
    repository.commit({"a.py": "print(nam)\n"})
    repository.write({"a.py": "print(nam)\nprint(nam)\n"})

    ran = stet("check", "--lint", "--baseline", "HEAD", "a.py")

    assert (ran.status, len(ran.out.splitlines())) == (1, 1)


@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_file_is_compared_with_its_old_name(stet: Stet, repository: Repository, staged: bool) -> None:
    """Also one that was moved without git, and changed on the way."""
    body = "".join(f"value_{n} = {n}\n" for n in range(20))
    repository.commit({"old.py": f"{body}print(\n", "decoy.py": body.replace("value", "other")})
    (repository.folder / "old.py").unlink()
    (repository.folder / "decoy.py").unlink()
    repository.write({"new/name.py": f"a = 1\n{body}print(\n"})
    if staged:
        repository("add", "--all")

    assert messages(stet, ".") == []


def test_all_findings_of_a_new_file_are_new(stet: Stet, repository: Repository) -> None:
    """Untracked or staged; a file that merely looks like one that is still there is no rename."""
    repository.commit({"a.py": "x = 1\nprint(\n"})
    repository.write({"b.py": "x = 1\nprint(\n", "c.py": "print(\n"})
    repository("add", "c.py")

    assert {file for file, _ in messages(stet, ".")} == {"b.py", "c.py"}


def test_a_baseline_works_from_another_folder_through_links_and_on_standard_input(
    stet: Stet, repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"sub/a.py": "print(\n"})
    (tmp_path / "link").symlink_to(repository.folder / "sub")

    assert messages(stet, str(tmp_path / "link" / "a.py"), "sub/../sub") == []
    ran = stet("check", "--baseline", "HEAD", "--stdin-filename", "sub/a.py", "-", stdin="x = 1\nprint(\n")
    assert (ran.status, ran.out) == (0, "")
    ran = stet("check", "--baseline", "HEAD", "--stdin-filename", "sub/b.py", "-", stdin="print(\n")
    assert (ran.status, ran.out.count("sub/b.py:")) == (1, 1)


def test_file_names_that_git_quotes_have_a_baseline(stet: Stet, repository: Repository) -> None:
    repository.commit(dict.fromkeys(("é.py", "a b.py", "two\nlines.py", "-x.py", ":(top)a.py", "*.py"), "print(\n"))
    assert messages(stet) == []


def test_a_binary_earlier_version_is_not_a_baseline(stet: Stet, repository: Repository) -> None:
    (repository.folder / "a.py").write_bytes(b"print(\n\0\xff")
    repository.commit()
    repository.write({"a.py": "print(\n"})
    assert messages(stet, "a.py")


def test_a_submodule_is_compared_with_its_own_revision(stet: Stet, repository: Repository) -> None:
    Repository.new(repository.folder / "inner").commit({"a.py": "print(\n"})
    repository.commit({"b.py": "print(\n"})
    assert messages(stet) == []


def test_an_empty_repository_and_an_unknown_revision_are_reported(stet: Stet, repository: Repository) -> None:
    repository.write({"a.py": "x = 1\n"})
    for revision in ("HEAD", "nope", "--upload-pack=x", "HEAD:a.py", ""):
        ran = stet("check", f"--baseline={revision}", "a.py")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err == (
            f"error: --baseline: {repository.folder} has no revision `{revision}`; "
            "fetch it first if this is a shallow clone\n"
        )


def test_a_missing_repository_missing_git_and_a_broken_repository_are_reported(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    ran = stet("check", "--baseline", "HEAD", "a.py")
    assert ran.status == 2
    assert ran.err == "error: --baseline: a.py is not in a git repository, so there is nothing to compare with\n"

    Repository.new(folder).commit()
    ran = stet("check", "--baseline", "HEAD", "a.py", PATH=str(folder))
    assert (ran.status, ran.err) == (2, "error: --baseline: git is not installed\n")

    (folder / ".git" / "config").write_text("[core\n")
    ran = stet("check", "--baseline", "HEAD", "a.py")
    assert ran.status == 2
    assert ran.err.startswith("error: --baseline: bad config line 1")


PROGRAM = "#!/bin/sh\ntouch {mark}\nexit 1\n"
"""What an attacker would like to have run: for a monitor, a filter, a transport, a pager it leaves its mark."""


@pytest.fixture
def hostile(folder: Path, tmp_path: Path) -> Iterator[Repository]:
    """A repository that names a program wherever git takes one; it must not have been run at the end."""
    mark, program = tmp_path / "mark", tmp_path / "program"
    program.write_text(PROGRAM.format(mark=mark))
    program.chmod(0o755)
    repository = Repository.new(folder)
    repository.commit({"a.py": "print(\n", "b.py": "x = 1\n", ".gitattributes": "*.py filter=x diff=x merge=x\n"})
    lost = repository("rev-parse", "HEAD:b.py").strip()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (folder / ".git" / "hooks" / hook).write_text(PROGRAM.format(mark=mark))
        (folder / ".git" / "hooks" / hook).chmod(0o755)
    settings = {
        "core.fsmonitor": program, "core.pager": program, "core.editor": program, "core.sshCommand": program,
        "core.alternateRefsCommand": program, "core.gitProxy": program, "core.hooksPath": folder / ".git" / "hooks",
        "filter.x.clean": program, "filter.x.smudge": program, "filter.x.process": program, "filter.x.required": "true",
        "diff.x.textconv": program, "diff.x.command": program, "diff.external": program, "merge.x.driver": program,
        "alias.ls-files": f"!{program}", "alias.cat-file": f"!{program}", "pager.ls-tree": program,
        "interactive.diffFilter": program, "credential.helper": f"!{program}", "gpg.program": program,
        "uploadpack.packObjectsHook": program, "protocol.allow": "always", "protocol.ext.allow": "always",
        # A partial clone fetches what it lacks, by the program that its remote names.
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{program}", "remote.origin.promisor": "true", "remote.origin.uploadpack": program,
    }  # fmt: skip
    for key, value in settings.items():
        repository("config", key, str(value))
    (folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    repository.write({"b.py": "x = (\n", "c.py": "y = (\n"})
    (folder / "git").write_text(PROGRAM.format(mark=mark))
    (folder / "git").chmod(0o755)
    mark.unlink(missing_ok=True)
    yield repository
    assert not mark.exists(), "a program of the repository was run"


def test_nothing_of_a_repository_is_executed(stet: Stet, hostile: Repository, environment: dict[str, str]) -> None:
    path = f".:{hostile.folder}:{environment['PATH']}"
    ran = stet("check", "--lint", "--baseline", "HEAD", "--json", ".", PATH=path)

    report = json.loads(ran.out)
    counted = {file["path"]: bool(file["findings"]) for file in report["files"] if file["language"] == "python"}
    assert counted == {"a.py": False, "b.py": True, "c.py": True}, "and what cannot be had is no past"


def test_an_unprotected_git_runs_the_planted_programs(hostile: Repository, tmp_path: Path) -> None:
    """So that the test above can fail: an ordinary git runs the programs."""
    mark = tmp_path / "mark"
    for words in (("status",), ("cat-file", "-p", "HEAD:b.py")):
        with contextlib.suppress(subprocess.CalledProcessError):
            hostile(*words)
        assert mark.exists(), words
        mark.unlink()
