"""`stet hook install` and `remove` in a project and for the user: what is written where, and that all else stays."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.repository import Repository

from stet_ls.server.cli.agents.agent_table import AGENTS

JSON_FILES = [
    pytest.param(file.format, id=f"{agent.name}-{type(file.format).__name__}")
    for agent in AGENTS.values()
    for file in (agent.hooks, agent.mcp)
    if file and type(file.format).__name__.startswith("Json") and agent.name not in ("cursor", "copilot")
]


def test_another_server_of_that_name_is_not_replaced(stet: Stet, folder: Path) -> None:
    theirs = '{"mcpServers": {"stet": {"command": "something-else"}}}'
    (folder / ".mcp.json").write_text(theirs)
    ran = stet("mcp", "install", "claude-code")
    assert (ran.status, (folder / ".mcp.json").read_text()) == (2, theirs)
    assert "`mcpServers.stet` is set already" in ran.err


@pytest.mark.parametrize("name", AGENTS)
def test_installing_and_removing_leaves_a_project_as_it_was(stet: Stet, folder: Path, name: str) -> None:
    repository = Repository.new(folder)
    repository.commit({"a.py": "x = 1\n"})
    assert stet("hook", "install", name).status == 0
    shown = stet("hook", "status", name).out
    assert " installed (" in shown.splitlines()[0]
    assert stet("hook", "install", name).status == 0
    assert stet("hook", "status", name).out == shown
    assert stet("hook", "remove", name).status == 0
    assert repository("status", "--porcelain") == ""
    assert "not installed" in stet("hook", "status", name).out.splitlines()[0]


def test_for_the_user_the_home_is_written(stet: Stet, folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name, agent in AGENTS.items():
        ran = stet("hook", "install", name, "--user", HOME=str(home), XDG_CONFIG_HOME="")
        if agent.hooks.user:
            assert (ran.status, (home / agent.hooks.user).is_file()) == (0, True), name
        else:
            assert ran.status == 2, name
    assert list(folder.iterdir()) == []


def test_the_entry_starts_this_stet(stet: Stet, folder: Path) -> None:
    stet("hook", "install", "cursor")
    hooks = json.loads((folder / ".cursor/hooks.json").read_text())["hooks"]
    assert set(hooks) == {"sessionStart", "postToolUse", "stop"}, "one unknown event voids the file"
    program = hooks["stop"][0]["command"].partition(" hook run ")[0]
    assert Path(program.split()[0]).is_absolute()


def test_a_link_does_not_lead_a_write_out_of_the_project(stet: Stet, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (folder / ".claude").mkdir()
    (folder / ".claude/settings.json").symlink_to(tmp_path / "elsewhere.json")
    ran = stet("hook", "install", "claude-code")
    assert (ran.status, (tmp_path / "elsewhere.json").read_text()) == (4, "{}")


def test_an_existing_script_of_git_keeps_its_lines(stet: Stet, folder: Path) -> None:
    Repository.new(folder)
    hook = folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexec mine\n")
    stet("hook", "install", "git")
    lines = hook.read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "hook run git commit" in lines[2]
    assert lines[-1] == "exec mine"
    assert os.access(hook, os.X_OK)
    stet("hook", "remove", "git")
    assert hook.read_text() == "#!/bin/sh\nexec mine\n"


def test_commands_of_aider_that_are_set_are_not_overwritten(stet: Stet, folder: Path) -> None:
    (folder / ".aider.conf.yml").write_text("lint-cmd: mine\n")
    ran = stet("hook", "install", "aider")
    assert (ran.status, (folder / ".aider.conf.yml").read_text()) == (2, "lint-cmd: mine\n")
    assert "hook run aider edit" in ran.err


def test_a_server_is_written_into_a_table_of_codex(stet: Stet, folder: Path) -> None:
    import tomllib

    (folder / ".codex").mkdir()
    config = folder / ".codex/config.toml"
    config.write_text('model = "x" # mine\n')
    assert stet("mcp", "install", "codex").status == 0
    assert tomllib.loads(config.read_text())["mcp_servers"]["stet"]["args"][-1] == "mcp"
    assert stet("mcp", "remove", "codex").status == 0
    assert config.read_text() == 'model = "x" # mine\n'
