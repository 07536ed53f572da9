"""An agent that edits the settings of Stet: they do not decide how it is judged, and its user is informed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.processes.command import Stet
from support.repository import Repository

PAYLOADS = Path(__file__).parents[3] / "fixtures" / "hook_payloads" / "codex.json"
BROKEN = "def price(weight:\n    return weight * 2\n"


@pytest.fixture
def project(folder: Path) -> Repository:
    repository = Repository.new(folder)
    repository.commit({"price.py": BROKEN.replace(":", "):", 1)})
    return repository


def _call(stet: Stet, event: str) -> Any:
    """The answer to a recorded payload."""
    recorded = json.loads(PAYLOADS.read_text().replace("$ROOT", str(stet.folder)))[event]
    ran = stet("hook", "run", "codex", event, stdin=json.dumps(recorded))
    assert ran.status == 0, ran.err
    return json.loads(ran.out)


def test_settings_that_an_agent_edits_do_not_decide_how_it_is_judged(stet: Stet, project: Repository) -> None:
    """Not even by being wrong."""
    _call(stet, "start")
    project.write({"price.py": BROKEN, ".stet.toml": "no settings\n"})
    answer = _call(stet, "stop")
    assert answer["decision"] == "block", answer
    assert "`.stet.toml` changed" in answer["reason"]


def test_changed_settings_are_reported_to_the_user_if_nothing_is_refuted(stet: Stet, project: Repository) -> None:
    _call(stet, "start")
    project.write({".stet.toml": "[checks]\n"})
    assert _call(stet, "stop") == {"systemMessage": "`.stet.toml` changed: it holds settings of Stet"}
    assert _call(stet, "stop") == {}, "once"
