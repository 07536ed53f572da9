"""`stet sandbox` on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.processes.command import Stet

from stet_ls.engine.sandbox.backends.backend_discovery import bwrap_programs

pytestmark = pytest.mark.skipif(not list(bwrap_programs()), reason="no bwrap is installed")


def test_exec_runs_a_command_with_its_files_and_its_status(stet: Stet, folder: Path) -> None:
    (folder / "data.txt").write_text("seven\n")

    ran = stet("sandbox", "exec", "--file", "data.txt", "--", "sh", "-c", "cat data.txt; ls /home /root 2>&1; exit 7")

    assert ran.status == 7
    assert ran.out.startswith("seven\n")
    assert "cannot access '/root'" in ran.out


def test_exec_reports_as_json(stet: Stet) -> None:
    ran = stet("sandbox", "exec", "--json", "--", "python", "-c", "print(6 * 7)")

    output = json.loads(ran.out)
    assert (output["status"], output["exit"], output["stdout"]) == ("ok", 0, "42\n")
    assert output["isolation"]["level"] == "full"
    assert set(output) >= {"status", "exit", "signal", "stdout", "stderr", "seconds", "peak_rss", "isolation"}
    assert set(output["isolation"]) >= {"backend", "level", "enforced", "why_not_stronger"}


def test_exec_of_a_missing_program_is_reported(stet: Stet) -> None:
    ran = stet("sandbox", "exec", "--file", "nowhere.txt", "--", "true")

    assert (ran.status, ran.err) == (2, "error: nowhere.txt: No such file or directory\n")


def test_probe_reports_the_levels_of_isolation(stet: Stet) -> None:
    ran = stet("sandbox", "probe", "--json")

    backends = json.loads(ran.out)["backends"]
    assert {row["backend"] for row in backends} >= {"bubblewrap"}
    assert {row["level"] for row in backends if row["backend"] == "bubblewrap"} == {"full"}
    assert backends[0]["backend"] == "bubblewrap"
    assert "fs_read       yes" in stet("sandbox", "probe").out


def test_a_project_cannot_lower_the_level_of_isolation(stet: Stet, folder: Path) -> None:
    (folder / ".stet.toml").write_text('[sandbox]\nminimum_level = "none"\n')

    ran = stet("sandbox", "exec", "--json", "--", "true")

    assert ".stet.toml" in ran.err
    assert json.loads(ran.out)["isolation"]["level"] == "full"
