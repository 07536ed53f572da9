"""The evaluation: cases from a folder, replies that are played back, results that can be taken up again, a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.eval.table import markdown, wilson
from support.scripted import Reply, ScriptedModel

RUN = Path(__file__).parent / "bench" / "eval" / "run.py"
RIGHT = "PLAN: the sum\n```python\ndef double(x):\n    return x + x\n```\n"
WRONG = "PLAN: the square\n```python\ndef double(x):\n    return x * x\n```\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One buggy function in the form of the data set."""
    row = {
        "task_id": "Python/0",
        "prompt": 'def double(x):\n    """Twice x."""\n',
        "buggy_solution": "    return x\n",
        "entry_point": "double",
        "test": "assert double(3) == 6\nassert double(5) == 10\n",
    }
    file = tmp_path / "data/humanevalpack/python/humanevalpack.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(row) + "\n")
    return tmp_path / "data"


def evaluate(data: Path, out: Path, *arguments: str, url: str = "") -> str:
    command = [sys.executable, str(RUN), "--data", str(data), "--out", str(out), "--actions", "debug", *arguments]
    environment = {**os.environ, "STET_BASE_URL": url, "STET_MODEL": "scripted", "STET_HOME": str(out / "user")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in out.glob("results-*.jsonl") for line in file.read_text().splitlines()]


@pytest.mark.parametrize(("reply", "right"), [(RIGHT, True), (WRONG, False)])
def test_hidden_tests_decide(data: Path, tmp_path: Path, reply: str, right: bool) -> None:
    with ScriptedModel() as model:
        model.default = Reply(reply)
        evaluate(data, tmp_path / "out", "--arms", "single shot", url=model.base_url)
    (row,) = results(tmp_path / "out")
    assert row["offered"] is True
    assert row["passed"] is right
    assert row["calls"] == 1


def test_a_run_is_taken_up_and_played_back_without_a_model(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ScriptedModel() as model:
        model.default = Reply(RIGHT)
        evaluate(data, out, "--arms", "single shot", url=model.base_url)
        asked = len(model.requests)
        evaluate(data, out, "--arms", "single shot", url=model.base_url)
        assert len(model.requests) == asked, "what was done is not done again"
    for file in out.glob("results-*.jsonl"):
        file.unlink()
    table = evaluate(data, out, "--arms", "single shot", "--recorded")
    assert "| debug | single shot | 1 | 100.0 % |" in table
    assert results(out)[0]["passed"] is True


def test_the_table_counts_harm_and_pairs_cases() -> None:
    def row(case: str, arm: str, passed: bool, offered: bool = True) -> dict[str, object]:
        sums = {"calls": 1, "tokens": 10, "seconds": 1.0, "confidence": 0.5}
        return {"case": case, "action": "debug", "arm": arm, "passed": passed, "offered": offered, **sums}

    rows = [row("a", "single shot", True), row("b", "single shot", False), row("c", "single shot", True)]
    rows += [row("a", "stet", False), row("b", "stet", True), row("c", "stet", False, offered=False)]
    line = markdown(rows).splitlines()[-1].split(" | ")
    assert line[2:4] == ["3", "33.3 %"]
    assert line[5].startswith("-33.3")
    assert line[6] == "33.3 %", "right before, now wrong and offered: one of three; an abstention is no harm"
    assert line[7] == "33.3 %"


def test_the_interval_of_a_share() -> None:
    low, high = wilson(8, 10)
    assert 0.48 < low < 0.50
    assert 0.94 < high < 0.95
