"""Changes are read from real repositories, and nothing that a repository names is executed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.repository import Repository

from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery


def _read(folder: Path, **asked: object) -> Change:
    with read_change(ChangeQuery(folder, **asked)) as change:  # type: ignore[arg-type]
        return change


def _files(change: Change) -> dict[str, tuple[bytes | None, bytes | None]]:
    return {each.path: (each.before, each.after) for each in change.files}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "project")
    made.commit({"a.py": "x = 1\n", "b.py": "y = 1\nz = 2\nw = 3\n"})
    return made


def test_the_working_tree_has_untracked_files_and_no_ignored_ones(repository: Repository) -> None:
    repository.write({"a.py": "x = 2\n", "new.py": "n = 1\n", ".gitignore": "skip.py\n", "skip.py": ""})
    change = _read(repository.folder)
    assert _files(change) == {
        ".gitignore": (None, b"skip.py\n"), "a.py": (b"x = 1\n", b"x = 2\n"), "new.py": (None, b"n = 1\n"),
    }  # fmt: skip
    assert (change.base.name, change.head.name, dict(change.new)) == ("HEAD", "working tree", {})
    assert change.old == {"a.py": b"x = 1\n", "new.py": b""}


def test_staged_files_are_read_from_the_index(repository: Repository) -> None:
    repository.write({"a.py": "x = 2\n"})
    repository("add", "a.py")
    repository.write({"a.py": "x = 3\n"})
    change = _read(repository.folder, staged=True)
    assert _files(change) == {"a.py": (b"x = 1\n", b"x = 2\n")}
    assert change.new == {"a.py": b"x = 2\n"}


def test_a_range_has_its_messages_and_leaves_the_disk_alone(repository: Repository) -> None:
    repository.commit({"a.py": "x = 2\n"})
    repository.commit({"a.py": "x = 3\n"})
    change = _read(repository.folder, span="HEAD~1..HEAD")
    assert _files(change) == {"a.py": (b"x = 2\n", b"x = 3\n")}
    assert change.messages == ("a step",)
    assert _files(_read(repository.folder, span="HEAD~2...HEAD~1")) == {"a.py": (b"x = 1\n", b"x = 2\n")}


def test_a_renamed_file_is_one_file(repository: Repository) -> None:
    repository("mv", "b.py", "c.py")
    repository.write({"c.py": "y = 1\nz = 2\nw = 4\n"})
    (file,) = _read(repository.folder).files
    assert (file.was, file.path, file.before) == ("b.py", "c.py", b"y = 1\nz = 2\nw = 3\n")


def test_paths_limit_what_is_judged(repository: Repository) -> None:
    repository.write({"a.py": "x = 2\n", "sub/c.py": "c = 1\n"})
    assert [*_files(_read(repository.folder, paths=(Path("sub"),)))] == ["sub/c.py"]
    with pytest.raises(UsageError, match="outside"):
        _read(repository.folder, paths=(Path("../.."),))
    (repository.folder / "a.py").unlink()
    assert [*_files(_read(repository.folder, paths=(Path("a.py"),)))] == ["a.py"]


@pytest.mark.parametrize("name", ["HEAD", "main", "nowhere.py"])
def test_a_path_that_is_nowhere_is_an_error(repository: Repository, name: str) -> None:
    """A revision in its place would be a verdict on nothing."""
    repository.write({"a.py": "x = 2\n"})
    with pytest.raises(UsageError, match=f"no file or folder `{name}` on either side"):
        _read(repository.folder, paths=(Path(name),))


def test_a_patch_leaves_the_repository_alone(repository: Repository) -> None:
    repository.write({"a.py": "x = 2\n"})
    patch = repository("diff").encode()
    repository("checkout", "--quiet", "a.py")
    objects = sorted((repository.folder / ".git" / "objects").rglob("*"))
    change = _read(repository.folder, patch=patch)
    assert _files(change) == {"a.py": (b"x = 1\n", b"x = 2\n")}
    assert change.new == {"a.py": b"x = 2\n"}
    assert sorted((repository.folder / ".git" / "objects").rglob("*")) == objects
    assert (repository.folder / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("name", ["../escaped.py", ".git/hooks/pre-commit", "/tmp/escaped.py"])
def test_a_patch_cannot_leave_the_repository(repository: Repository, name: str) -> None:
    patch = f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x = 1\n"
    with pytest.raises(UsageError, match="does not apply"):
        _read(repository.folder, patch=patch.encode())
    assert not (repository.folder.parent / "escaped.py").exists()


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    repository = Repository.new(tmp_path / "fresh")
    repository.write({"a.py": "x = 1\n"})
    assert _files(_read(repository.folder)) == {"a.py": (None, b"x = 1\n")}


def test_two_folders_without_git(tmp_path: Path) -> None:
    for name, text in (("old", "x = 1\n"), ("new", "x = 2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    change = _read(tmp_path / "new", base="../old")
    assert _files(change) == {"a.py": (b"x = 1\n", b"x = 2\n")}
    with pytest.raises(UsageError, match="no git repository"):
        _read(tmp_path / "new")


@pytest.mark.parametrize("asked", [{"staged": True}, {"patch": b"--- a\n"}])
def test_a_folder_has_nothing_staged_and_takes_no_patch(repository: Repository, asked: dict[str, object]) -> None:
    """It would be a verdict on something else."""
    (repository.folder.parent / "old").mkdir()
    with pytest.raises(UsageError, match="is a folder; name a revision"):
        _read(repository.folder, base="../old", **asked)


def test_worktrees_submodules_and_shallow_clones(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.py": "x = 5\n"})
    repository("worktree", "add", "--quiet", str(tmp_path / "linked"))
    (tmp_path / "linked" / "a.py").write_text("x = 6\n")
    assert _files(_read(tmp_path / "linked")) == {"a.py": (b"x = 5\n", b"x = 6\n")}
    outer = Repository.new(tmp_path / "outer")
    outer.commit({"o.py": "o = 1\n"})
    outer("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.folder), "inner")
    change = _read(outer.folder)
    assert dict(change.skipped) == {"inner": "a submodule: verify it in its own folder"}
    (outer.folder / "inner" / "a.py").write_text("x = 7\n")
    assert _files(_read(outer.folder / "inner")) == {"a.py": (b"x = 5\n", b"x = 7\n")}
    shallow = Repository(tmp_path / "shallow")
    repository("clone", "--quiet", "--depth=1", f"file://{repository.folder}", str(shallow.folder))
    (shallow.folder / "a.py").write_text("x = 8\n")
    assert _files(_read(shallow.folder)) == {"a.py": (b"x = 5\n", b"x = 8\n")}
    with pytest.raises(UsageError, match="shallow clone"):
        _read(shallow.folder, span="HEAD~1..HEAD")


def test_line_ends_that_git_converts_are_no_change(repository: Repository) -> None:
    (repository.folder / "b.py").write_bytes(b"y = 1\r\nz = 2\r\nw = 3\r\n")
    assert _files(_read(repository.folder)) == {}


def test_an_unknown_base_is_an_error(repository: Repository) -> None:
    with pytest.raises(UsageError, match="unknown revision `nowhere`"):
        _read(repository.folder, base="nowhere")


def test_a_hostile_repository_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.external"):
        repository("config", key, str(program))
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        (repository.folder / ".git" / "hooks" / hook).write_text(program.read_text())
        (repository.folder / ".git" / "hooks" / hook).chmod(0o755)
    repository.write({".gitattributes": "*.py filter=evil diff=evil\n", "a.py": "x = 2\n", "line\nbreak.py": "n = 1\n"})
    os.mkfifo(repository.folder / "pipe.py")
    (repository.folder / "passwd.py").symlink_to("/etc/passwd")
    (repository.folder / "etc").symlink_to("/etc")
    mark.unlink(missing_ok=True)
    change = _read(repository.folder)
    assert not mark.exists()
    assert [*_files(change)] == [".gitattributes", "a.py", "line\nbreak.py"]
    assert {why for _, why in change.skipped} == {"a symbolic link"}
    patch = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 9\n"
    assert _files(_read(repository.folder, patch=patch)) == {"a.py": (b"x = 1\n", b"x = 9\n")}
    assert not mark.exists()


def test_a_folder_replaced_by_a_link_is_not_followed(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"sub/c.py": "c = 1\n"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.py").write_text("secret = 1\n")
    (repository.folder / "sub" / "c.py").unlink()
    (repository.folder / "sub").rmdir()
    (repository.folder / "sub").symlink_to(tmp_path / "elsewhere")
    assert _files(_read(repository.folder))["sub/c.py"] == (b"c = 1\n", None)
