"""`stet run task` with a small feature over several files of a real package."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.projects.real_package import WORDS, copy_package, play
from support.servers.scripted import ScriptedModel


def test_a_feature_over_several_files_of_a_real_package(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path
) -> None:
    copy_package(folder)
    play(scripted)
    ran = replace(stet, seconds=280)(
        "run", "task", "iniconfig", "--instruction", WORDS, "--apply", "--accept-risk", "not-run"
    )
    if "code may not run" in ran.err:
        pytest.skip(ran.err)
    assert ran.status == 0, ran.err
    assert "Did 3 steps" in ran.err
    assert "def describe" in (folder / "iniconfig" / "exceptions.py").read_text()
    assert "def section_names" in (folder / "iniconfig" / "__init__.py").read_text()
    (row,) = [json.loads(line) for line in stet("tasks", "list", "--json").out.splitlines()]
    shown = json.loads(stet("tasks", "show", row["id"], "--json").out)
    found = [(step["number"], each) for step in shown["steps"] for each in step["answer"]["evidence"]]
    assert any(number == 2 and "holds" in each["detail"] for number, each in found), "the example of the plan"
    tests = [each["detail"] for number, each in found if number == 3 and each["check"] == "tests"]
    assert len(tests) == 2, "one of each changed file"
    assert all("2 tests pass" in each for each in tests)
