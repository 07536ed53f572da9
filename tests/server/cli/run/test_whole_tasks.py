"""Eight whole tasks of four kinds from the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.projects.whole_tasks import WHOLE_TASKS, WholeTask
from support.servers.scripted import ScriptedModel

CANNOT = ("code may not run", "not reachable", "not compared", "no Python was found")


@pytest.mark.parametrize("task", WHOLE_TASKS, ids=lambda task: task.name)
def test_a_whole_task_from_the_command_line(
    stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path, task: WholeTask
) -> None:
    task.make(folder)
    task.play(scripted)
    words = ("run", "task", task.target, "--instruction", task.words)
    ran = replace(stet, seconds=280)(*words, "--apply", "--accept-risk", "not-run")
    if ran.status and any(each in ran.err for each in CANNOT):
        pytest.skip(ran.err)
    assert ran.status == 0, ran.err
    for name, text in task.holds.items():
        assert text.encode() in (folder / name).read_bytes(), name
    assert "stopped at" not in ran.err
