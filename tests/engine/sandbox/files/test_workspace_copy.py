"""A copy of the workspace: brought up to date, without secrets, and whole again whatever a run did to it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends.backend_discovery import bwrap_programs
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.backends.landlock_box import LandlockBox
from stet_ls.engine.sandbox.files import workspace_copy
from stet_ls.engine.sandbox.files.overlay import OverlayFolders
from stet_ls.engine.sandbox.files.workspace_copy import WorkspaceCopies
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall, WallState
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.spec import Overlay, RunResult, RunSpec, RunStatus

FILES = {
    "src/a.py": "saved", "src/.env": "KEY=secret", ".git/config": "token", "deploy.pem": "secret",
    ".gitignore": "out/\n*.gen", "out/big": "not needed",
    "src/made.gen": "needed", "node_modules/dep/index.js": "dep", "id_rsa": "secret",
    "__pycache__/a.pyc": "no", "secrets.py": "code",
    "node_modules/@org/pkg/index.js": "pkg", "node_modules/.vite/old": "cached", "packages/own/index.js": "own",
}  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for path in root.rglob("*"):
        os.utime(path, (1, 1))
    (tmp_path / "victim").write_text("precious")
    (root / "outside").symlink_to(tmp_path / "victim")
    (root / "node_modules" / "@org" / "own").symlink_to("../../packages/own")
    return root


def state(root: Path) -> dict[str, object]:
    """All that there is to change in a tree."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        text = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path)] = (text, status.st_mode, status.st_mtime_ns)
    return found


async def copied(mirrors: WorkspaceCopies, root: Path) -> dict[str, str]:
    """The copy's files and links by name."""
    with ExitStack() as stack:
        copy = (await mirrors.borrow(root, stack)).folder
        files = {str(path.relative_to(copy)): path for path in copy.rglob("*") if path.is_symlink() or path.is_file()}
        return {name: str(path.readlink()) if path.is_symlink() else path.read_text() for name, path in files.items()}


async def test_only_visible_files_are_copied(workspace: Path, folder: Path) -> None:
    found = await copied(WorkspaceCopies(folder), workspace)

    assert found == {
        "src/a.py": "saved",
        "src/made.gen": "needed",
        "secrets.py": "code",
        ".gitignore": FILES[".gitignore"],
        "node_modules/dep": str(workspace / "node_modules" / "dep"),
        "node_modules/@org/pkg": str(workspace / "node_modules" / "@org" / "pkg"),
        "node_modules/@org/own": "../../packages/own",
        "packages/own/index.js": "own",
        "outside": str(workspace.parent / "victim"),
    }


async def test_only_what_changed_is_copied_again(workspace: Path, folder: Path) -> None:
    mirrors = WorkspaceCopies(folder)
    with ExitStack() as stack:
        copy = (await mirrors.borrow(workspace, stack)).folder
        first = (copy / "src" / "made.gen").stat().st_ctime_ns
    (workspace / "src" / "a.py").write_text("later")
    (workspace / "secrets.py").rename(workspace / "moved.py")

    again = await copied(mirrors, workspace)

    assert (again["src/a.py"], again["moved.py"]) == ("later", "code")
    assert "secrets.py" not in again
    await copied(mirrors, workspace)  # what changed this very moment is copied once more
    os.utime(workspace / "src" / "a.py", (5, 5))
    await copied(mirrors, workspace)
    settled = (copy / "src" / "a.py").stat().st_ctime_ns
    await copied(mirrors, workspace)
    assert (copy / "src" / "a.py").stat().st_ctime_ns == settled
    assert (copy / "src" / "made.gen").stat().st_ctime_ns == first


async def test_changes_made_by_a_run_are_undone(workspace: Path, folder: Path) -> None:
    mirrors = WorkspaceCopies(folder)
    before = await copied(mirrors, workspace)
    with ExitStack() as stack:
        copy = (await mirrors.borrow(workspace, stack)).folder
        poisoned = copy / "src" / "a.py"
        date = poisoned.stat().st_mtime_ns
        poisoned.write_text("EVIL!")  # of the same size and, below, the same date
        os.utime(poisoned, ns=(date, date))
        (copy / "secrets.py").unlink()
        (copy / "secrets.py").symlink_to(workspace.parent / "victim")
        (copy / "added" / "deep").mkdir(parents=True)
        (copy / "added" / "deep").chmod(0)
        (copy / "outside").unlink()
        (copy / ".gitignore").unlink()
        os.link(copy / "src" / "made.gen", copy / "linked")
        (copy / "out").symlink_to(workspace)

    assert await copied(mirrors, workspace) == before
    with ExitStack() as stack:
        copy = (await mirrors.borrow(workspace, stack)).folder
        (copy / "src").rename(copy / "gone")
        (copy / "src").symlink_to(workspace / "src")
    assert await copied(mirrors, workspace) == before
    assert (workspace.parent / "victim").read_text() == "precious"


async def test_concurrent_runs_have_separate_copies(workspace: Path, folder: Path) -> None:
    mirrors = WorkspaceCopies(folder)
    with ExitStack() as stack:
        one, two = await mirrors.borrow(workspace, stack), await mirrors.borrow(workspace, stack)
        assert one.folder != two.folder
        assert mirrors.sweep() == 0
    for lock in folder.glob("*.lock"):
        os.utime(lock, (1, 1))
    assert mirrors.sweep() == 2
    assert list(folder.iterdir()) == []


async def test_a_workspace_that_is_too_large_is_refused(
    workspace: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_copy, "_MOST_FILES", 2)

    with ExitStack() as stack, pytest.raises(ValueError, match=r"more than 2 files .*\.gitignore"):
        await WorkspaceCopies(folder).borrow(workspace, stack)


def boxes(folder: Path) -> dict[str, Bwrap | LandlockBox]:
    unproven = IsolationReport("", "", IsolationLevel.NONE, dict.fromkeys(Wall, WallState.YES))
    found: dict[str, Bwrap | LandlockBox] = {}
    if program := next(bwrap_programs(), None):
        # Any bwrap, without the option that the older ones lack.
        found["bwrap"] = Bwrap(
            program, "", False, unproven, OverlayFolders(folder / "layers"), WorkspaceCopies(folder / "mirrors")
        )
    if version := landlock.abi():
        found["landlock"] = LandlockBox(version, folder, unproven)
    return found


@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_a_run_changes_the_copy_and_not_the_workspace(name: str, workspace: Path, folder: Path) -> None:
    box = boxes(folder).get(name)
    if box is None:
        pytest.skip(f"there is no {name} here")
    before = state(workspace)
    script = (
        'cat src/a.py test.py "$1" node_modules/dep/index.js\n'
        "cat src/.env .git/config outside deploy.pem 2>&-\n"
        "echo new > src/a.py; rm -rf node_modules/dep/index.js src secrets.py 2>&-; echo evil > outside 2>&-\n"
        "echo x > added\n"
        "chmod 777 node_modules/dep/index.js 2>&-; true"
    )
    spec = RunSpec(
        ("sh", "-c", script, "sh", f"{workspace}/test.py"),
        files={"test.py": b" test"},
        overlay=Overlay(workspace, {"src/a.py": b"unsaved", "src/.env": b"no", "outside": b" buffer"}),
        artifacts=("added",),
    )

    for _ in range(2):
        result: RunResult = await box.run(spec)

        expected = b"unsaved test testdep buffer"
        assert (result.stdout, result.status) == (expected, RunStatus.OK), result.stderr
        assert result.artifacts == {"added": b"x\n"}
        assert state(workspace) == before
        assert (workspace.parent / "victim").read_text() == "precious"
    assert result.isolation.enforced[Wall.DISK] is (WallState.PARTIAL if name == "bwrap" else WallState.YES)
