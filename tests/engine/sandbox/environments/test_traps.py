"""A clone can carry links to devices and pipes under every name that Stet looks for; Stet waits for none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stet_ls.engine.execution.javascript.inputs import examples as script_examples
from stet_ls.engine.execution.python.inputs import examples
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.sandbox.environments.installation import UnfitError, installation
from stet_ls.engine.sandbox.environments.interpreter_candidates import candidates
from stet_ls.engine.sandbox.environments.requirements import dependencies
from stet_ls.engine.sandbox.files import mounts, overlay
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.server.documents.open_documents import Documents
from stet_ls.validators import go_undefined_names
from stet_ls.validators.source import Source

FILES = (
    "pyproject.toml", "requirements.txt", "requirements/dev.txt", "setup.cfg", "environment.yml", "environment.yaml",
    "Pipfile", ".python-version", ".venv/pyvenv.cfg", "test_app.py", "tests/test_app.py", "app.test.ts", "other.go",
    "src/Test.java",
)  # fmt: skip
TRAPS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "/dev/ptmx": lambda path: path.symlink_to("/dev/ptmx"),
    "link to a pipe": lambda path: (os.mkfifo(f"{path}~"), path.symlink_to(f"{path.name}~"))[1],
    "huge": lambda path: (path.touch(), os.truncate(path, 1 << 40))[1],
}


@pytest.fixture(params=TRAPS.values(), ids=TRAPS)
def trap(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A project in which every such file is one of the traps. A reader that waits is ended by the tests' own time."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        request.param(tmp_path / name)
    (tmp_path / ".venv" / "bin").mkdir()
    (tmp_path / ".venv" / "bin" / "python").touch()
    (tmp_path / "home" / ".pyenv").mkdir(parents=True)
    return tmp_path


def test_searching_an_environment_does_not_block(trap: Path) -> None:
    assert dependencies(trap) == {}
    found = list(candidates(trap, {"HOME": str(trap / "home"), "PATH": ""}))
    assert [path for _, path in found] == [trap / ".venv" / "bin" / "python"]
    with pytest.raises(UnfitError, match=r"cannot be read|not a Python installation"):
        installation(trap / ".venv" / "bin" / "python")
    assert mounts.interpreter(trap / ".venv" / "bin" / "python") is not None


def test_reading_neighbors_of_a_file_does_not_block(trap: Path) -> None:
    assert examples.test_texts(trap / "app.py", trap) == ()
    assert script_examples.test_texts(trap / "app.ts", trap) == ()
    go_undefined_names.undefined(Source("package app\n\nfunc f() int { return g() }\n"), trap / "app.go")
    assert TestPlan("java", overlay=Overlay(trap)).text("src/Test.java") is None
    assert Documents().snapshot((trap / "other.go").as_uri()) is None
    assert list(overlay.hidden_paths(trap)) == []


def test_package_names_come_only_from_files_of_the_project(tmp_path: Path) -> None:
    """They are looked up, so a link to another file of the user's would send words of it to an index."""
    root, outside = tmp_path / "root", tmp_path / "notes.txt"
    root.mkdir()
    outside.write_text("hunter2\n")
    (root / "requirements.txt").symlink_to(outside)
    (root / "requirements-dev.txt").symlink_to("own.txt")
    (root / "own.txt").write_text("numpy>=1\n")
    assert dependencies(root) == {"numpy": "numpy>=1"}
