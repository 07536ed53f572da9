"""What the command line tells of secrets: their line and kind, never their value; exit 4 if a prompt may not go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.servers.scripted import ScriptedModel

TOKEN = "ghp_" + "a1B2c3D4e5" * 3
CODE = f'def connect(host):\n    token = "{TOKEN}"\n    return host.login(token)\n'


@pytest.fixture
def file(folder: Path) -> Path:
    file = folder / "net.py"
    file.write_text(CODE)
    return file


def test_a_prompt_blocked_by_policy_exits_with_4(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    ran = stet("run", "refactor", "net.py:1", STET_PRIVACY_LOOPBACK="refuse")

    assert (ran.status, ran.out) == (4, "")
    assert 'line 2 contains a secret (access token), and privacy.loopback is "refuse"' in ran.err
    assert TOKEN not in ran.err
    assert scripted.requests == []


def test_a_project_cannot_loosen_a_privacy_setting_of_the_user(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    (file.parent / ".stet.toml").write_text('[privacy]\nloopback = "allow"\nignore = ["notes"]\n')
    scripted.reply(
        f"PLAN: x\nCODE:\n```python\n{CODE.replace(TOKEN, 'STET_SECRET_1').replace('host.', 'host . ')}```\n"
    )

    stet("run", "refactor", "net.py:1")

    assert TOKEN not in str(scripted.requests[0].body)
    refused = json.loads(stet("config", "show", "--json").out)
    assert [row["key"] for row in refused if row.get("refused")] == ["privacy.loopback", "privacy.ignore"]


def test_redactions_and_omitted_files_are_listed(stet: Stet, file: Path) -> None:
    ran = stet("run", "refactor", "net.py:1", "--show-prompt", "--context", ".env=A=b", "--constraint", "be quick")

    assert ran.status == 0
    assert 'token = "STET_SECRET_1"' in ran.out
    assert TOKEN not in ran.out + ran.err
    assert "replaced: access token, line 2" in ran.err
    assert "left out: context '.env' (file of secrets)" in ran.err
    as_json = json.loads(stet("run", "refactor", "net.py:1", "--show-prompt", "--json", "--context", "id_rsa=x").out)
    assert as_json["redactions"] == [{"line": 1, "kind": "access token"}]
    assert as_json["left_out"] == ["context 'id_rsa' (file of secrets)"]


def test_redacted_values_are_restored_in_the_edit(stet: Stet, scripted: ScriptedModel, file: Path) -> None:
    new = CODE.replace(TOKEN, "STET_SECRET_1").replace("return host.login(token)", "return host.login(token=token)")
    scripted.reply(f"PLAN: keep STET_SECRET_1\nCODE:\n```python\n{new}```\n")

    ran = stet("run", "refactor", "net.py:1", "--apply", "--accept-risk", "not-run")

    assert ran.status == 0, ran.err
    assert file.read_text() == CODE.replace("login(token)", "login(token=token)")
    assert TOKEN not in ran.out + ran.err
