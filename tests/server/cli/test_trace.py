"""`stet trace`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.corpora.planted import TOKENS
from support.engine import code_reply
from support.processes.command import Stet
from support.servers.scripted import Reply, ScriptedModel

BEFORE = "def f(a):\n    if a:\n        return 1\n    return 2\n"
AFTER = "def f(a):\n    return 1 if a else 2\n"


@pytest.fixture
def job(stet: Stet, scripted: ScriptedModel, folder: Path) -> str:
    """The id of a job that ran."""
    (folder / "a.py").write_text(BEFORE)
    scripted.default = Reply(code_reply(AFTER))
    metadata = json.loads(stet("run", "refactor", "a.py:1", "--json").out)["metadata"]
    assert metadata["show_trace"] == f"stet trace show {metadata['trace']}"
    return str(metadata["trace"])


def test_no_records_are_reported(stet: Stet) -> None:
    assert stet("trace", "list").out == "No records.\n"
    assert stet("trace", "show", "nonesuch.json").status == 2, "a file that cannot be read"


@pytest.mark.parametrize("verb", [["show", "abc"], ["replay", "abc"], ["export", "abc", "-"]], ids=" ".join)
def test_an_unknown_id_exits_with_1(stet: Stet, verb: list[str]) -> None:
    ran = stet("trace", *verb)
    assert (ran.status, "stet trace list" in ran.err) == (1, True)


def test_records_are_listed_and_shown(stet: Stet, job: str) -> None:
    head, line = stet("trace", "list").out.splitlines()
    assert head.split()[:3] == ["job", "at", "action"]
    assert line.split()[0] == job
    row = json.loads(stet("trace", "list", "--json").out)["traces"][0]
    assert (row["job"], row["action"], row["ended"], row["calls"]) == (job, "refactor", "offered", 1)
    shown = stet("trace", "show", job[:6]).out
    assert "return 1 if a else 2" in shown
    assert "syntax: pass" in shown
    assert "[user]" not in shown
    assert "[user]" in stet("trace", "show", job, "--prompts").out
    assert json.loads(stet("trace", "show", job, "--json").out)["id"] == job


def test_the_list_shows_the_outcome_of_each_job(stet: Stet, scripted: ScriptedModel, folder: Path, job: str) -> None:
    scripted.default = Reply(code_reply(AFTER))
    assert stet("run", "refactor", "a.py:1", "--apply").status == 0
    scripted.default = Reply("No.")
    assert stet("run", "refactor", "a.py:1").status == 1
    scripted.default = Reply("It gives 1 or 2.")
    assert stet("run", "explain", "a.py:1").status == 0

    head, *rows = stet("trace", "list").out.splitlines()
    at = head.split().index("became")
    assert [row.split()[at] for row in rows] == ["answered", "refused", "applied", "offered"]
    output = json.loads(stet("trace", "list", "--json").out)["traces"]
    assert [(row["ended"], row["became"]) for row in output] == [
        ("offered", "answered"), ("refused", "refused"), ("offered", "applied"), ("offered", "offered"),
    ]  # fmt: skip
    assert "no file" not in (shown := stet("trace", "show", output[2]["job"]).out.splitlines()[0])
    assert shown.endswith(": offered, then applied")


def test_replay_sends_no_request_to_a_model(stet: Stet, scripted: ScriptedModel, job: str, stet_home: Path) -> None:
    asked = len(scripted.requests)
    ledger = [file.read_text() for file in (stet_home / "data" / "ledger").iterdir()]
    ran = stet("trace", "replay", job[:6])
    assert (ran.status, ran.out) == (0, f"job {job}: the same answer, from 1 recorded replies (offered)\n")
    assert len(scripted.requests) == asked
    assert len(list((stet_home / "data" / "traces").iterdir())) == 1
    assert [file.read_text() for file in (stet_home / "data" / "ledger").iterdir()] == ledger


def test_a_different_answer_prints_a_diff_and_exits_with_1(stet: Stet, job: str, stet_home: Path) -> None:
    (file,) = (stet_home / "data" / "traces").iterdir()
    file.write_text(file.read_text().replace("1 if a else 2\\n```", "2 if not a else 1\\n```"))
    ran = stet("trace", "replay", job)
    assert ran.status == 1
    assert "+" in ran.out
    assert "return 2 if not a else 1" in ran.out
    output = json.loads(stet("trace", "replay", job, "--json").out)
    assert (output["same"], output["asked"]) == (False, 1)


def test_an_exported_record_is_one_file_that_replays_elsewhere(
    stet: Stet, scripted: ScriptedModel, folder: Path, tmp_path: Path
) -> None:
    secret = TOKENS["stripe live"](random.Random(2))
    (folder / "a.py").write_text(f'KEY = "{secret}"\n\n\n{BEFORE}')
    scripted.default = Reply(code_reply(AFTER))
    stet("run", "refactor", "a.py:4", "--instruction", f"not {secret}")
    job = json.loads(stet("trace", "list", "--json").out)["traces"][0]["job"]
    ran = stet("trace", "export", job, "report.json")
    assert ran.status == 0
    assert "secrets were replaced" in ran.err
    file = folder / "report.json"
    assert secret not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    home = tmp_path / "elsewhere"
    home.mkdir()
    ran = stet("trace", "replay", "report.json", STET_HOME=str(home))
    assert (ran.status, "the same answer" in ran.out) == (0, True), ran.out + ran.err


def test_export_searches_the_record_for_secrets_again(stet: Stet, job: str, folder: Path, stet_home: Path) -> None:
    secret = TOKENS["npm"](random.Random(4))
    (file,) = (stet_home / "data" / "traces").iterdir()
    data = json.loads(file.read_text())
    data["request"]["instruction"] = f"use {secret}"
    data["calls"][0]["reply"]["reasoning"] = f"they said {secret}"
    file.write_text(json.dumps(data))
    assert stet("trace", "export", job, "report.json").status == 0
    assert secret not in (folder / "report.json").read_text()


def test_a_broken_record_is_named(stet: Stet, job: str, folder: Path, stet_home: Path) -> None:
    (file,) = (stet_home / "data" / "traces").iterdir()
    text = file.read_text()
    (folder / "cut.json").write_text(text[:-40])
    ran = stet("trace", "show", "cut.json")
    assert (ran.status, "cut.json" in ran.err, "cut or edited" in ran.err) == (2, True, True)
    file.write_text(text.replace('"stet_trace": 1', '"stet_trace": 2'))
    ran = stet("trace", "replay", job)
    assert (ran.status, "newer version of Stet" in ran.err) == (2, True)
    assert "newer version of Stet" in stet("trace", "list").err


def test_a_refused_and_a_failed_job_are_replayed(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    (folder / "a.py").write_text(BEFORE)
    scripted.default = Reply("No.")
    assert stet("run", "refactor", "a.py:1").status == 1
    scripted.default = Reply.failure(401, "bad key")
    assert stet("run", "refactor", "a.py:1").status == 3
    rows = json.loads(stet("trace", "list", "--json").out)["traces"]
    assert sorted(row["ended"] for row in rows) == ["failed", "refused"]
    for row in rows:
        assert stet("trace", "replay", row["job"]).status == 0


def test_tracing_can_be_switched_off(stet: Stet, scripted: ScriptedModel, folder: Path, stet_home: Path) -> None:
    (folder / "a.py").write_text(BEFORE)
    (stet_home / "config.toml").write_text("[trace]\nenabled = false\n")
    (folder / ".stet.toml").write_text("[trace]\nenabled = true\n")
    scripted.default = Reply(code_reply(AFTER))
    ran = stet("run", "refactor", "a.py:1")
    assert (ran.status, "trace.enabled" in ran.err) == (0, True)
    assert not (stet_home / "data" / "traces").exists()
