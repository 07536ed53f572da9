"""The user's Python is the one that was proven, and a project cannot have the user's folders shown."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.environments.installation import UnfitError, installation
from stet_ls.engine.sandbox.environments.interpreter_candidates import candidates
from stet_ls.engine.sandbox.environments.interpreter_detection import Detector
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunSpec, RunStatus

REAL = Path(sys.executable).resolve()


def venv(folder: Path) -> Path:
    subprocess.run([REAL, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


async def test_an_environment_is_used_only_if_the_module_can_be_imported(runs: Sandbox, tmp_path: Path) -> None:
    python = venv(tmp_path / ".venv")
    site = next((tmp_path / ".venv").glob("lib/python3*/site-packages"))
    (site / "broken_thing.py").write_text("import no_such_library_of_the_system")
    detector = Detector(runs)

    found = await detector.find(tmp_path, ["broken_thing"], environ={"PATH": str(REAL.parent)})

    assert found.interpreter is None
    assert "broken_thing cannot be imported (ModuleNotFoundError" in found.tried[0].why
    assert str(python) in found.why_none()

    (site / "broken_thing.py").write_text("works = True")
    (site / "another.py").touch()  # a new name in the folder: it is proven again
    found = await detector.find(tmp_path, ["broken_thing"], environ={"PATH": str(REAL.parent)})

    assert found.interpreter is not None
    assert (found.interpreter.path, found.interpreter.version) == (python, sys.version_info[:3])
    assert found.interpreter.has("broken_thing")
    assert found.interpreter.has("json")
    assert not found.interpreter.has("no_such_library_of_the_system")


async def test_the_interpreter_of_a_project_runs_only_in_the_sandbox(runs: Sandbox, tmp_path: Path) -> None:
    environment = tmp_path / "project" / ".venv"
    venv(environment)
    mark = tmp_path / "ran"
    site = next(environment.glob("lib/python3*/site-packages"))
    (site / "evil.pth").write_text(f"import os; open({str(mark)!r}, 'w')\n")

    found = await Detector(runs).find(environment.parent, environ={})

    assert not mark.exists()
    assert found.interpreter is None or found.interpreter.binds


async def test_the_listed_binds_are_enough_to_start_the_interpreter(runs: Sandbox, tmp_path: Path) -> None:
    interpreter = await Detector(runs).prove(venv(tmp_path / "env"))

    result = await runs.run(RunSpec((str(interpreter.path), "-c", "import ssl, json"), binds=interpreter.binds))

    assert (result.status, result.stderr) == (RunStatus.OK, b"")


def test_a_home_that_is_not_an_installation_is_not_bound(tmp_path: Path) -> None:
    """`home = ~/.ssh/bin` would have the box show the user's keys."""
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    shutil.copy(REAL, private / "bin" / "python")
    python = venv(tmp_path / ".venv")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(f"home = {private / 'bin'}\n")

    with pytest.raises(UnfitError, match="private is not a Python installation"):
        installation(python)


def test_a_linked_library_does_not_make_an_installation(tmp_path: Path) -> None:
    """A file of another project may hold a link that makes a folder look like an installation."""
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    shutil.copy(REAL, private / "bin" / "python")
    (private / "lib").symlink_to(REAL.parents[1] / "lib")

    with pytest.raises(UnfitError, match="not a Python installation"):
        installation(private / "bin" / "python")


def test_an_environment_that_is_a_link_is_not_bound(tmp_path: Path) -> None:
    venv(tmp_path / "elsewhere")
    (tmp_path / ".venv").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnfitError, match="is a link to another folder"):
        installation(tmp_path / ".venv" / "bin" / "python")


@pytest.mark.parametrize(
    ("text", "why"),
    [("#!/bin/sh\nexec python3", "a script that starts a Python"), ("\x7fELF", "is not a Python installation")],
)
def test_a_program_that_is_not_python_is_refused(tmp_path: Path, text: str, why: str) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text(text)

    with pytest.raises(UnfitError, match=why):
        installation(program)


def test_a_broken_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to(tmp_path / "gone")

    with pytest.raises(UnfitError, match="a broken link"):
        installation(tmp_path / "python")


def test_interpreters_are_searched_from_nearest_to_farthest(tmp_path: Path) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root / ".venv", root / "venv", home / ".pyenv" / "versions" / "3.12.1", home / "bin"):
        (folder / "bin").mkdir(parents=True)
    (root / ".python-version").write_text("3.12\n")
    (home / "bin" / "python3").touch(mode=0o755)
    (root / "mine").mkdir()
    environ = {"HOME": str(home), "VIRTUAL_ENV": "/active", "PATH": f"relative:{home / 'bin'}"}

    found = [str(path) for _, path in candidates(root, environ, "mine")]

    assert found == [
        str(root / "mine/bin/python"),
        "/active/bin/python",
        str(root / ".venv/bin/python"),
        str(root / "venv/bin/python"),
        str(home / ".pyenv/versions/3.12.1/bin/python"),
        str(home / "bin/python3"),
    ]


@pytest.mark.parametrize("name", ["../../..", "..", "*", "a/../b"])
def test_a_project_cannot_name_an_environment_outside_itself(tmp_path: Path, name: str) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    (home / "miniconda3" / "envs").mkdir(parents=True)
    (home / ".pyenv" / "versions").mkdir(parents=True)
    root.mkdir()
    (root / ".python-version").write_text(name)
    (root / "environment.yml").write_text(f"name: {name}\n")
    (root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')

    for _, path in candidates(root, {"HOME": str(home)}):
        assert ".." not in path.parts, path
