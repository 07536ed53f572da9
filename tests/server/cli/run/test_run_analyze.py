"""`stet run analyze`: the report for people, the findings for programs, with a model and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel, dead_endpoint

TEXT = "import os\n\n\ndef mean(items):\n    return sum(items) / len(items)\n"


@pytest.fixture
def file(folder: Path) -> Path:
    file = folder / "means.py"
    file.write_text(TEXT)
    return file


def test_the_findings_are_in_the_json(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    scripted.reply("- `return sum(items) / len(items)` | bug | items = [] raises ZeroDivisionError")

    ran = stet("run", "analyze", "means.py", "--json")

    assert ran.status == 0, ran.err
    answer = json.loads(ran.out)
    assert [(item["source"], item["code"], item["range"]["start"]["line"]) for item in answer["findings"]] == [
        ("stet (confirmed)", "bug", 4),
        ("ruff", "F401", 0),
    ]
    assert answer["markdown"].startswith("# Analysis of `means.py`")


def test_metrics_are_printed_without_a_model(stet: Stet, file: Path) -> None:
    with dead_endpoint() as address:
        ran = stet("run", "analyze", "means.py", STET_BASE_URL=address)

    assert ran.status == 0, ran.err
    assert "| Complexity | 1 function, median 1, highest 1 (`mean`), 0 above 10 |" in ran.out
    assert "line 1: `os` imported but unused (warning, ruff F401)" in ran.out
    assert "No opinion: " in ran.out


def test_a_line_of_a_file_selects_its_function(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    ran = stet("run", "analyze", "means.py:5", "--budget", "quick")

    assert ran.status == 0, ran.err
    assert ran.out.startswith("# Analysis of `mean`")
    assert "F401" not in ran.out
    assert scripted.requests == []


def test_coverage_is_measured_by_running_the_tests(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    (folder / ".git").mkdir()
    (folder / "shop.py").write_text("def sign(n):\n    if n < 0:\n        return -1\n    return 1\n")
    (folder / "test_shop.py").write_text("from shop import sign\n\n\ndef test_sign():\n    assert sign(2) == 1\n")
    ran = stet("run", "analyze", "shop.py", "--coverage")
    if "1 test run now" not in ran.out:
        pytest.skip(f"code cannot run here: {ran}")
    assert "75.0 % (3 of 4 statements, 1 of 2 branches)" in ran.out
    assert "1 test run now" not in stet("run", "analyze", "shop.py").out
