"""Where runs work when the user's folder cannot be written, or cannot be written any more."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.files import run_folder
from stet_ls.engine.sandbox.files.run_folder import RunFolder
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import BoxError, Overlay, RunSpec, RunStatus

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("in the way")
    return tmp_path / "file" / "sandbox"


def test_a_writable_folder_is_used(tmp_path: Path, temporary: Path) -> None:
    place = RunFolder(tmp_path / "sandbox")

    assert place.open() == tmp_path / "sandbox"
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    assert place.obstacle is None
    assert not list(temporary.iterdir())


def test_the_temporary_folder_is_private_and_removed_with_its_owner(blocked: Path, temporary: Path) -> None:
    place = RunFolder(blocked)

    folder = place.open()

    assert folder.parent == temporary.resolve()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert str(place.obstacle) == f"`{blocked.parent}` is not writable (Not a directory)"
    (folder / "left").write_text("by a run")
    del place
    assert not folder.exists()


def test_a_folder_that_others_can_read_is_not_used(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    place = RunFolder(tmp_path / "open")

    assert place.open().parent == temporary.resolve()
    assert "chmod 700" in str(place.obstacle)
    place.close()


def test_the_folders_of_killed_processes_are_removed_and_no_others(blocked: Path, temporary: Path) -> None:
    left, used = temporary / "stet-runs-left", temporary / "stet-runs-used"
    for each in (left, used):
        (each / "runs").mkdir(parents=True)
    lock = os.open(used, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        place = RunFolder(blocked)
        place.open()
        assert (left.exists(), used.exists()) == (False, True)
        place.close()
    finally:
        os.close(lock)


def test_without_any_writable_folder_the_error_is_one_sentence(blocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))

    with pytest.raises(BoxError) as raised:
        RunFolder(blocked).open()

    assert str(raised.value) == (
        f"`{blocked.parent}` is not writable (Not a directory), and neither can a temporary folder (Not a directory). "
        "Make room or make it writable, or set `STET_HOME` to another folder."
    )


def test_a_full_disk_changes_the_folder_once(tmp_path: Path, temporary: Path) -> None:
    """What a run removed again after its failure may have left some room there: that is not waited for."""
    place = RunFolder(tmp_path / "sandbox")
    first = place.open()

    assert place.leave(first, FULL)
    second = place.folder
    assert place.leave(first, FULL), "of two runs that failed there, both continue"
    assert place.folder == second
    assert not place.leave(second, FULL), "there is no third place"
    place.close()


def test_another_error_does_not_change_the_folder(tmp_path: Path, temporary: Path) -> None:
    place = RunFolder(tmp_path / "sandbox")

    assert not place.leave(place.open(), OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    assert place.obstacle is None


async def test_a_run_continues_in_another_folder_if_its_own_fails(
    tmp_path: Path, probes: Path, temporary: Path
) -> None:
    """A layer over a workspace is written for each run: here after the folder for it became a file."""
    folder, root = tmp_path / "home" / "sandbox", tmp_path / "work"
    folder.parent.mkdir()
    shutil.copytree(probes, folder)
    folder.chmod(0o700)
    root.mkdir()
    sandbox = Sandbox(IsolationLevel.STRONG, folder)
    spec = RunSpec(("cat", "a.txt"), overlay=Overlay(root, {"a.txt": b"unsaved"}))
    try:
        best = await sandbox.best(overlay=True)
        if best is None or best.backend is None or not best.report.level.reaches(IsolationLevel.STRONG):
            pytest.skip("no box on this machine")
        first = await sandbox.run(spec)
        shutil.rmtree(folder)
        folder.write_text("in the way")

        second, third = await asyncio.gather(sandbox.run(spec), sandbox.run(spec))

        assert [each.status for each in (first, second, third)] == [RunStatus.OK] * 3
        assert [each.stdout for each in (first, second, third)] == [b"unsaved"] * 3
        assert str(sandbox.obstacle) == f"`{folder}` is not writable (Not a directory)"
    finally:
        await sandbox.close()
    assert not list(temporary.glob(f"{run_folder._PREFIX}*"))
