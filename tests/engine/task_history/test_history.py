"""Tasks on disk: what they did is there after a crash, and one of them runs once at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.ledger import now
from stet_ls.engine.task_history.history import INTERRUPTED, RUNNING, TaskEnd, TaskHistory
from stet_ls.engine.task_history.step_record import DONE, FAILED, StepRecord
from stet_ls.validators.source import Source

REQUEST = Request("task", "python", Source(""), instruction="rename it", path=Path("/w/a.py"))


def plan(*paths: str) -> dict[str, object]:
    return {"paths": paths, "steps": [{"number": number, "enabled": number < 3} for number in (1, 2, 3)]}


def test_a_task_is_read_back_step_by_step(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path / "tasks")
    task = history.start("abcdef01", "2030-01-02", REQUEST)
    task.plan(plan("/w/a.py"), "# Plan\n")
    task.step(StepRecord(1, DONE, "renamed"))
    task.step(StepRecord(2, FAILED, "no edit"))
    assert history.get("abc").state == RUNNING
    assert history.get("abcdef01").unfinished == (2,), "the third one is switched off"
    task.end(TaskEnd.PARTIAL, {"message": "1 of 2", "seconds": 1.0, "calls": 2, "tokens": 30})
    task.close()
    found = history.get("abcdef")
    assert (found.state, found.instruction, found.files) == (TaskEnd.PARTIAL, "rename it", {"/w/a.py"})
    assert "- 1. done" in found.as_markdown()
    assert "`stet tasks resume abcdef01`" in found.as_markdown()
    assert found.as_context() == "rename it (partial)\n- renamed"
    assert (tmp_path / "tasks" / "abcdef01.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_costs_that_line_alone(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path)
    task = history.start("abcdef01", "2030-01-02", REQUEST)
    task.step(StepRecord(1, DONE, "renamed"))
    task.close()
    with (tmp_path / "abcdef01.jsonl").open("a") as file:
        file.write('{"event": "step", "number": 2, "sta')
    found = history.get("abcdef01")
    assert (found.state, list(found.steps)) == (INTERRUPTED, [1])


def test_a_running_task_cannot_be_started_again(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path)
    task = history.start("abcdef01", "2030-01-02", REQUEST)
    with pytest.raises(UsageError, match="is running in another process"):
        history.start("abcdef01", "2030-01-03", REQUEST)
    task.close()
    history.start("abcdef01", "2030-01-03", REQUEST).close()
    assert history.get("abcdef01").at == "2030-01-02", "when it began first"


def test_an_earlier_running_task_of_the_same_file_conflicts(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path)
    tasks = [history.start(f"{name}bcdef", f"2030-01-0{day}", REQUEST) for day, name in enumerate("abc", 1)]
    for task, path in zip(tasks, ("/w/a.py", "/w/a.py", "/w/b.py"), strict=True):
        task.plan(plan(path), "")
    first, second, third = (history.get(task.id) for task in tasks)
    assert history.conflicting(first) is None
    assert history.conflicting(third) is None
    conflict = history.conflicting(second)
    assert conflict is not None
    assert conflict.id == first.id
    tasks[0].close()
    assert history.conflicting(second) is None
    for task in tasks[1:]:
        task.close()


def test_an_id_has_to_name_one_task(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path)
    for name in ("abcdef01", "abcdef02"):
        history.start(name, "2030-01-02", REQUEST).close()
    with pytest.raises(UsageError, match="is ambiguous: abcdef01, abcdef02"):
        history.get("abc")
    for unknown in ("ffff", "../abcdef01", "*"):
        with pytest.raises(UsageError, match="there is no task"):
            history.get(unknown)


def test_a_running_task_says_how_far_it_is(tmp_path: Path) -> None:
    history = TaskHistory(tmp_path)
    task = history.start("abcdef01", now(), REQUEST)
    (record,) = history.running()
    assert str(record.progress()).startswith("planning (0/0 done), ")
    steps = [{"number": number, "enabled": True, "action": "debug", "file": "a.py"} for number in (1, 2)]
    task.plan({"paths": (), "steps": steps}, "# Plan\n")
    task.began(1)
    task.step(StepRecord(1, DONE, "renamed", tokens=1340))
    task.began(2)
    progress = history.get("abcdef01").progress()
    assert progress is not None
    assert (progress.running, progress.done, progress.total, progress.tokens) == (("2. debug a.py",), 1, 2, 1340)
    task.close()
    assert history.running() == ()
    assert history.get("abcdef01").progress() is None, "its process died"
