"""`stet check`: which files are met in a folder, and what becomes of those that cannot be read."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from support.processes.command import Ran, Stet
from support.processes.stet import stet_argv
from support.repository import Repository

from stet_ls.engine.workspace import git
from stet_ls.server.cli.check.file_discovery import collect

BROKEN = "(\n"


def listed(stet: Stet, *words: str | Path) -> list[str]:
    """The Python files that a check looked at. What else it judges depends on which grammars are installed."""
    files = json.loads(stet("check", "--json", *words).out)["files"]
    return [file["path"] for file in files if file["path"].endswith(".py")]


def test_git_decides_which_files_are_ignored(stet: Stet, folder: Path) -> None:
    """Its own rules: nested files, negations, what is tracked all the same, and the user's own excludes."""
    repository = Repository.new(folder)
    (folder / ".gitignore").write_text("*.gen.py\n!kept.gen.py\nout/\n")
    repository.write({"build/tracked.py": "", "out/forced.py": "", "sub/.gitignore": "/local.py\n"})
    repository("add", "--force", "--all")
    repository.write(
        dict.fromkeys(("a.py", "a.gen.py", "kept.gen.py", "out/b.py", "sub/local.py", "sub/c.py", "dist/d.py"), "")
    )
    (folder / ".git" / "info" / "exclude").write_text("mine.py\n")
    repository.write({"mine.py": ""})

    assert listed(stet, ".") == ["a.py", "build/tracked.py", "kept.gen.py", "out/forced.py", "sub/c.py"]
    assert listed(stet, "sub") == ["sub/c.py"]


@pytest.mark.parametrize("repository", [True, False])
def test_a_shebang_sets_the_language_of_a_name_without_suffix(
    stet: Stet, folder: Path, repository: bool
) -> None:  # fmt: skip
    texts = {"tool": f"#!/usr/bin/env python3\n{BROKEN}", "notes": f"#\n{BROKEN}", "run.txt": f"#!/bin/sh\n{BROKEN}"}
    if repository:
        Repository.new(folder).write(texts)
    for name, text in texts.items():
        (folder / name).write_text(text)

    for words in ([], ["tool"]):
        ran = stet("check", "--json", *words)
        output = [(file["path"], file["language"], file["verdict"]) for file in json.loads(ran.out)["files"]]
        assert output == [("tool", "python", "error")]
        assert ran.status == 1


def test_an_ignored_folder_named_as_an_argument_is_checked(stet: Stet, folder: Path) -> None:
    Repository.new(folder).write({".gitignore": "out/\n", "out/a.py": "", "out/deep/b.py": ""})

    assert listed(stet, "out") == ["out/a.py", "out/deep/b.py"]
    assert listed(stet, "out/deep/") == ["out/deep/b.py"]


def test_repositories_in_repositories_keep_their_own_rules(stet: Stet, folder: Path) -> None:
    Repository.new(folder).write({"a.py": ""})
    Repository.new(folder / "inner").write({".gitignore": "no.py\n", "no.py": "", "yes.py": ""})
    assert listed(stet) == ["a.py", "inner/yes.py"]


def test_repositories_below_a_plain_folder_keep_their_rules_too(stet: Stet, folder: Path) -> None:
    Repository.new(folder / "inner").write({".gitignore": "no.py\n", "no.py": "", "yes.py": ""})
    assert listed(stet, ".") == ["inner/yes.py"]


@pytest.mark.parametrize("repository", [False, True])
def test_having_nothing_to_check_is_reported(stet: Stet, folder: Path, repository: bool) -> None:
    if repository:
        Repository.new(folder)
    (folder / "sub").mkdir()
    (folder / "notes.txt").write_text("x")
    none = "in a supported language"

    ran = stet("check")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"warning: nothing was checked: the working folder has no file {none}\n"
    assert stet("check", "sub").err == f"warning: nothing was checked: sub has no file {none}\n"
    (folder / "a.py").write_text("x = 1\n")
    excluded = stet("check", "a.py", "--exclude", "a.py")
    assert excluded.err == f"warning: nothing was checked: a.py has no file {none}, or all of it is excluded\n"
    assert stet("check").err == ""


def test_a_submodule_that_was_not_fetched_is_empty(stet: Stet, folder: Path) -> None:
    Repository.new(folder / "other").commit({"a.py": ""})
    repository = Repository.new(folder / "mine")
    repository("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder / "other"), "sub")
    repository.commit({"b.py": ""})
    assert listed(stet, "mine") == ["mine/b.py", "mine/sub/a.py"]
    repository("submodule", "--quiet", "deinit", "--force", "sub")
    assert listed(stet, "mine") == ["mine/b.py"]


def test_without_git_the_folder_is_walked_with_a_warning(stet: Stet, folder: Path) -> None:
    Repository.new(folder).write({".gitignore": "a.py\n", "a.py": "", "build/b.py": ""})

    ran = stet("check", "--json", ".", PATH=str(folder))

    assert "a.py" in [file["path"] for file in json.loads(ran.out)["files"]]
    assert ran.err == "warning: .: .gitignore is ignored: git is not installed\n"


def test_a_repository_that_git_refuses_is_walked_with_a_warning(stet: Stet, folder: Path) -> None:
    Repository.new(folder).write({"a.py": ""})
    (folder / ".git" / "config").write_text("[core\n")

    ran = stet("check", "--json", ".")

    assert [file["path"] for file in json.loads(ran.out)["files"]] == ["a.py"]
    assert ran.err.startswith("warning: .: .gitignore is ignored: bad config line 1")


@pytest.mark.parametrize("repository", [False, True])
def test_links_pipes_and_devices_are_skipped(stet: Stet, folder: Path, tmp_path: Path, repository: bool) -> None:
    """A loop would never end, a pipe would wait for ever, and what lies outside was not named."""
    if repository:
        Repository.new(folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(BROKEN)
    (folder / "a.py").write_text("x = 1\n")
    (folder / "loop").symlink_to(folder)
    (folder / "away").symlink_to(outside)
    (folder / "b.py").symlink_to(outside / "secret.py")
    (folder / "c.py").symlink_to("/dev/zero")
    (folder / "d.py").symlink_to("d.py")
    os.mkfifo(folder / "e.py")

    assert listed(stet, ".") == ["a.py"]
    assert listed(stet, "b.py", "away") == ["b.py", "away/secret.py"], "but a link that is named is meant"
    ran = stet("check", "c.py", "d.py", "e.py")
    assert ran.status == 2
    assert ran.err == (
        "error: c.py is not a regular file\n"
        "error: cannot read d.py: Too many levels of symbolic links\n"
        "error: e.py is not a regular file\n"
    )


def test_a_tracked_folder_that_became_a_link_is_not_followed(stet: Stet, folder: Path, tmp_path: Path) -> None:
    repository = Repository.new(folder)
    repository.commit({"sub/a.py": "", "b.py": ""})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text(BROKEN)
    (folder / "sub" / "a.py").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(tmp_path / "outside")

    assert listed(stet, ".") == ["b.py"]


def test_exclude_applies_to_names_and_paths_but_not_to_named_files(stet: Stet, folder: Path) -> None:
    Repository(folder).write(dict.fromkeys(("a.py", "gen/a.py", "src/gen/b.py", "src/c_pb2.py", "src/d.py"), ""))

    assert listed(stet, ".", "--exclude", "gen") == ["a.py", "src/c_pb2.py", "src/d.py"]
    assert listed(stet, ".", "--exclude", "src/gen/", "--exclude", "*_pb2.py") == ["a.py", "gen/a.py", "src/d.py"]
    assert listed(stet, ".", "--exclude", "./src/*") == ["a.py", "gen/a.py"]
    assert listed(stet, "src/c_pb2.py", "a.py", "--exclude", "*_pb2.py") == ["a.py"], "a hook names every file"


def test_each_file_is_checked_once_in_the_order_of_the_arguments(stet: Stet, folder: Path) -> None:
    Repository(folder).write({"b/z.py": "", "b/a.py": "", "a.py": ""})

    assert listed(stet, "b/z.py", ".", "b", "./a.py") == ["b/z.py", "a.py", "b/a.py"]


def test_unusual_file_names_are_checked(stet: Stet, folder: Path) -> None:
    names = ["-c.py", "a b.py", "é.py", "two\nlines.py", "::error.py"]
    Repository(folder).write(dict.fromkeys(names, BROKEN))
    (folder / os.fsdecode(b"\xff.py")).write_text(BROKEN)

    assert listed(stet, "--", "-c.py") == ["-c.py"]
    assert listed(stet) == [*sorted(names), "\udcff.py"], "bytes that are no UTF-8, as JSON can spell them"
    lines = stet("check").out.splitlines()
    assert all(line.count(": error: ") == 1 for line in lines), "one line for each finding"
    assert {line.partition(".py:")[0] for line in lines} == {"-c", "a b", "é", "two␊lines", "::error", "\\xff"}


def test_files_of_a_folder_that_are_not_text_are_counted(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_bytes(b"\0")
    (folder / "b.py").write_bytes("é".encode("latin-1"))
    (folder / "c.py").write_text("x = 1\n")
    with (folder / "d.py").open("wb") as file:
        file.truncate(30_000_000)

    ran = stet("check", ".")

    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "warning: 3 files were not read; the first: a.py is a binary file\n"
    ran = stet("check", "d.py", "b.py")
    assert ran.status == 2
    large, encoded = ran.err.splitlines()
    assert large == "error: d.py is larger than 20 MB"
    assert encoded.startswith("error: b.py is not UTF-8 text (byte 0); declare its encoding in the first line")


def unprivileged(stet: Stet, *words: str) -> Ran:
    """The command without root's right to read everything, should the tests be run by root."""
    if os.geteuid() != 0:
        return stet(*words)
    rights = "-dac_override,-dac_read_search"
    argv = ["setpriv", "--inh-caps", rights, "--bounding-set", rights, *stet_argv(*words)]
    done = subprocess.run(argv, capture_output=True, cwd=stet.folder, env=stet.environment, text=True)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("repository", [False, True])
def test_a_folder_without_read_permission_is_reported(stet: Stet, folder: Path, repository: bool) -> None:
    if repository:
        Repository.new(folder)
    (folder / "a.py").write_text("x = 1\n")
    (folder / "locked").mkdir()
    (folder / "locked" / "b.py").write_text("x = 1\n")
    (folder / "locked").chmod(0)
    try:
        met, named = unprivileged(stet, "check", "."), unprivileged(stet, "check", "locked")
    finally:
        (folder / "locked").chmod(0o700)
    assert met.status == 0
    assert "locked" in met.err
    assert "Permission denied" in met.err
    assert (named.status, named.err) == (2, "error: cannot list locked: Permission denied\n")


def test_files_of_a_language_with_only_a_user_tool_are_found(
    stet: Stet, folder: Path, stet_home: Path, tmp_path: Path
) -> None:
    tool = tmp_path / "refuse"
    tool.write_text("#!/bin/sh\ncat >/dev/null\necho '1: not like that'\nexit 1\n")
    tool.chmod(0o755)
    (folder / "notes.txt").write_text("hello\n")
    assert stet("check", ".").out == ""
    (stet_home / "config.toml").write_text(
        f"[[checkers]]\nname = 'refuse'\nlanguage = 'plaintext'\nkind = 'syntax'\nargv = ['{tool}']\n"
        "pattern = '(?P<line>\\d+): (?P<message>.+)'\n"
    )
    assert stet("check", ".").out == "notes.txt:1:1: error: not like that [refuse]\n"


@pytest.mark.parametrize("trap", ["sub/.gitignore", ".git/commondir", "named by the configuration"])
def test_git_blocked_on_a_pipe_does_not_block_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setattr(git, "_SOON", 0.3)
    repository = Repository.new(tmp_path)
    repository.write({"a.py": "", "sub/b.py": ""})
    if "/" not in trap:
        trap = "lists"
        with (tmp_path / ".git" / "config").open("a") as file:
            file.write("[include]\n\tpath = ../lists\n")
    os.mkfifo(tmp_path / trap)
    began = time.monotonic()
    walk = collect([tmp_path], ())
    assert time.monotonic() - began < 8
    assert {file.path.name for file in walk.files} >= {"a.py", "b.py"}
    assert walk.problems == [
        f"{tmp_path}: .gitignore is ignored: {tmp_path / trap} is not a regular file, and git would wait for it"
    ]


def test_an_endless_git_reference_is_not_read_into_memory(stet: Stet, folder: Path) -> None:
    Repository.new(folder).write({"a.py": ""})
    (folder / ".git" / "refs" / "heads" / "endless").symlink_to("/dev/zero")
    ran = stet("check", "--baseline", "endless", "a.py")
    assert ran.status == 2
    assert ran.err.startswith("error: --baseline: ")
