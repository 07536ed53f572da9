"""`stet stats`."""

from __future__ import annotations

import json
from pathlib import Path

from support.engine import code_reply
from support.processes.command import Stet
from support.servers.scripted import Reply, ScriptedModel


def test_stats_shows_what_jobs_spent(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "a.py").write_text("def f(a):\n    return a\n")
    scripted.default = Reply(code_reply("def f(a):\n    same = a\n    return same\n"), usage=(100, 20))
    assert stet("stats").out == "No job ran in the last 30 days.\n"
    assert stet("run", "refactor", "a.py:1").status == 0

    output = json.loads(stet("stats", "--by", "model", "--json").out)
    row = output["rows"][scripted.models[0]]
    assert (row["jobs"], row["calls"], row["prompt_tokens"], row["completion_tokens"]) == (1, 1, 100, 20)
    head, line, total = stet("stats", "--by", "action").out.splitlines()
    assert head.split()[:4] == ["action", "jobs", "offered", "refuted"]
    assert line.split()[:7] == ["refactor", "1", "1", "0", "1", "100", "20"]
    assert total.split()[0] == "total"


def test_a_reached_limit_exits_with_4(stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path) -> None:
    (folder / "a.py").write_text("def f(a):\n    return a\n")
    (stet_home / "config.toml").write_text("[spending]\ndaily_tokens = 10\n")

    ran = stet("run", "refactor", "a.py:1")

    assert ran.status == 4
    assert "spending.daily_tokens" in ran.err
    assert scripted.requests == []


def test_a_project_cannot_set_spending_limits(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / ".stet.toml").write_text("[spending]\ndaily_tokens = 10\n")

    ran = stet("config", "show")

    rows = [line.split() for line in ran.out.splitlines() if line.startswith("spending.daily_tokens")]
    assert [row[1:3] for row in rows] == [["0", "default"], ["10", "refused,"]]
