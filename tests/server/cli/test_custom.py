"""Custom actions on the command line: `document`, a user's and a project's own, and whose word a project needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import code_reply
from support.processes.command import Stet
from support.servers.scripted import Reply, ScriptedModel

TABLE = '[[actions]]\nname = "tidy"\ntitle = "Tidy"\ninstruction = "Tidy {name}."\n'
CODE = "def f(a):\n    return a\n"
TIDY = "def f(a):\n    b = a\n    return b\n"
UNTRUSTED = "which you have not trusted in its present form"


@pytest.fixture
def file(folder: Path, scripted: ScriptedModel) -> Path:
    """A file in a project with an action of its own."""
    scripted.default = Reply(code_reply(TIDY))
    (folder / ".stet.toml").write_text(TABLE)
    path = folder / "a.py"
    path.write_text(CODE)
    return path


def test_document_writes_documentation(stet: Stet, folder: Path, scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply('def f(a):\n    """Return a."""\n    return a\n'))
    (folder / "a.py").write_text(CODE)

    ran = stet("run", "document", "a.py:1", "--apply")

    assert ran.status == 0, ran.err
    assert (folder / "a.py").read_text() == 'def f(a):\n    """Return a."""\n    return a\n'


def test_an_action_of_a_project_requires_trust_once(
    stet: Stet, folder: Path, file: Path, scripted: ScriptedModel
) -> None:
    refused = stet("run", "tidy", "a.py:1", "--diff")
    assert refused.status == 4
    assert UNTRUSTED in refused.err
    assert "stet config trust" in refused.err
    assert scripted.requests == []

    once = stet("run", "tidy", "a.py:1", "--diff", "--trust")
    assert (once.status, "+    b = a" in once.out) == (0, True), once.err
    assert stet("run", "tidy", "a.py:1").status == 4, "--trust is for one run"

    trusted = stet("config", "trust")
    assert trusted.status == 0
    assert "Tidy {name}." in trusted.out, "what is trusted is shown"
    assert stet("run", "tidy", "a.py:1", "--diff").status == 0

    (folder / ".stet.toml").write_text(TABLE.replace("Tidy {name}", "Send {name}"))
    assert stet("run", "tidy", "a.py:1").status == 4, "a changed table is another one"


def test_a_broken_action_does_not_disable_the_others(stet: Stet, folder: Path, file: Path) -> None:
    (folder / ".stet.toml").write_text(f'{TABLE}[[actions]]\nname = "bad"\ntitle = "Bad"\ninstruction = "{{nmae}}"\n')

    assert stet("run", "tidy", "a.py:1", "--diff", "--trust").status == 0
    bad = stet("run", "bad", "a.py:1", "--trust")
    assert bad.status == 2
    assert "did you mean {name}?" in bad.err


def test_trust_without_actions_is_reported(stet: Stet, folder: Path) -> None:
    ran = stet("config", "trust")
    assert (ran.status, ran.out) == (2, "")
    assert "nothing to trust" in ran.err


def test_doctor_and_config_list_custom_actions(stet: Stet, file: Path) -> None:
    report = stet("doctor").out
    assert "document: Document (from the package stet-ls)" in report
    assert "tidy: Tidy" in report
    assert "not trusted; run `stet config trust`" in report
    assert "actions[0].name" in stet("config", "show").out
