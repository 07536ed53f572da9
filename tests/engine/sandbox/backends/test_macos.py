"""Boxes of systems that these tests do not run on: what would be started there, as text."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends import seatbelt
from stet_ls.engine.sandbox.backends.container import Container
from stet_ls.engine.sandbox.backends.plain_run import RunFolders
from stet_ls.engine.sandbox.files.workspace_copy import ShownFolder
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec

UNPROVEN = IsolationReport("", "", IsolationLevel.NONE)


def test_a_profile_denies_what_it_does_not_name() -> None:
    text = seatbelt.profile([Path("/opt/me/venv")], [Path("/opt/me/box")])

    assert text.startswith("(version 1)\n(deny default)\n")
    assert "(allow default" not in text
    assert "network" not in text
    assert "mach-lookup" not in text
    reading, writing = text.splitlines()[-2:]
    assert '(subpath "/opt/me/venv")' in reading
    assert writing == '(allow file-write* (subpath "/opt/me/box"))'
    assert '"/"' not in reading
    assert '"/Users"' not in reading
    assert text.count("(") == text.count(")")


@pytest.mark.parametrize("name", ['a") (allow default) ("', "a\\", 'q"'])
def test_a_path_is_quoted_in_a_profile(name: str) -> None:
    text = seatbelt.profile([], [Path("/", name)])

    inner = text.splitlines()[-1].removeprefix("(allow file-write* (subpath ").removesuffix("))")
    assert inner == '"/' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_a_path_with_a_line_break_is_refused() -> None:
    with pytest.raises(ValueError, match="is not allowed in a profile"):
        seatbelt.profile([], [Path("/a\n(allow default)")])


def test_the_command_line_of_macos(tmp_path: Path) -> None:
    """Run with a stand-in for `sandbox-exec`: the limits stand, the folder is right, the words arrive whole."""
    argv = seatbelt.command("PROFILE", tmp_path, Limits(open_files=99), ("echo", "a b", "$HOME"))
    assert argv[argv.index(str(seatbelt.PROGRAM)) :] == [
        str(seatbelt.PROGRAM), "-p", "PROFILE", "--", "echo", "a b", "$HOME",
    ]  # fmt: skip
    stand_in = ["sh" if word == str(seatbelt.PROGRAM) else word for word in argv]
    stand_in[stand_in.index("-p") :] = ["-c", 'pwd; ulimit -n; ulimit -c; echo "$1"', "sh", "a b"]

    output = subprocess.run(stand_in, capture_output=True, text=True).stdout

    assert output.splitlines() == [str(tmp_path), "99", "0", "a b"]


def container(folder: Path, image: str = "python:3") -> Container:
    return Container(Path("/usr/bin/podman"), image, folder, UNPROVEN)


def test_the_command_line_of_a_container(tmp_path: Path) -> None:
    work = tmp_path / "box"
    argv = container(tmp_path).command(
        RunSpec(("echo", "a b"), env={"K": "v"}), RunFolders(work, tmp_path / "tmp"), "n"
    )

    line = " ".join(argv)
    for needed in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--pids-limit 64",
        "--pull never", "--rm", f"--user {os.getuid()}:{os.getgid()}", "--env K=v", "--workdir /box",
        f"--mount type=bind,source={work},target=/box ",
    ):  # fmt: skip
        assert needed in line
    assert argv[-4:] == ["--", "python:3", "echo", "a b"]
    assert "privileged " not in line
    assert ".sock" not in line


def test_a_workspace_has_its_own_path_in_a_container(tmp_path: Path) -> None:
    place = RunFolders(
        tmp_path / "copy", tmp_path / "tmp", (ShownFolder(tmp_path / "node_modules", Path("/shown/0/node_modules")),)
    )
    argv = container(tmp_path).command(RunSpec(("x",), overlay=Overlay(tmp_path / "w")), place, "n")

    assert f"type=bind,source={tmp_path}/copy,target={tmp_path}/w" in argv
    assert f"type=bind,source={tmp_path}/node_modules,target=/shown/0/node_modules,readonly" in argv


async def test_limitations_of_a_container_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='set `backend = "podman:IMAGE"` in your settings'):
        await container(tmp_path, "").run(RunSpec(("true",)))
    with pytest.raises(ValueError, match="cannot report"):
        await container(tmp_path).run(RunSpec(("true",), report=True))
    with pytest.raises(ValueError, match="comma"):
        container(tmp_path).command(RunSpec(("x",)), RunFolders(tmp_path / "a,readonly", tmp_path), "n")
