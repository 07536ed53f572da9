"""`stet hook install` and `remove` keep whatever else an agent's configuration says, comments included."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.processes.command import Stet
from support.repository import Repository

from stet_ls.server.cli.agents.agent import StetProgram
from stet_ls.server.cli.agents.agent_table import AGENTS
from stet_ls.server.cli.agents.config_files import jsonc

PROGRAM = StetProgram(("/opt/my tools/stet",))
COMMENTED = """\
{
  // my own
  "theme": "dark", /* kept */
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "theirs"}]} // and this
    ]
  },
  "list": [1, 2,],
}
"""
TEXTS = (
    COMMENTED,
    '{"a": 1}',
    '{"a": 1, "mcpServers": {"other": {"command": "x"}}, "mcp": {"other": {}}}\n',
    '{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n',
)
JSON_FILES = [
    pytest.param(file.format, id=f"{agent.name}-{type(file.format).__name__}")
    for agent in AGENTS.values()
    for file in (agent.hooks, agent.mcp)
    if file and type(file.format).__name__.startswith("Json") and agent.name not in ("cursor", "copilot")
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("format_", JSON_FILES)
def test_a_file_with_comments_comes_back_as_it_was(format_: object, text: str) -> None:
    installed = format_.add(text, PROGRAM)  # type: ignore[attr-defined]
    assert "stet" in installed
    before, after = jsonc.parse(text).value, jsonc.parse(installed).value
    assert {key: after[key] for key in before if key not in ("hooks", "mcpServers", "mcp")} == {
        key: before[key] for key in before if key not in ("hooks", "mcpServers", "mcp")
    }
    assert format_.add(installed, PROGRAM) == installed  # type: ignore[attr-defined]
    assert format_.remove(installed) == text  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["cursor", "copilot"])
def test_a_version_that_the_agent_needs_stays(name: str) -> None:
    format_ = AGENTS[name].hooks.format
    theirs = '{\n  "version": 1,\n  "hooks": {\n    "stop": [\n      {"command": "theirs"}\n    ]\n  }\n}\n'
    installed = format_.add(theirs, PROGRAM)
    assert jsonc.parse(installed).value["version"] == 1
    assert format_.remove(installed) == theirs


def test_entries_of_the_user_in_the_same_group_stay() -> None:
    format_ = AGENTS["claude-code"].hooks.format
    ours = PROGRAM.hook("claude-code", next(iter(AGENTS["claude-code"].events)))
    text = json.dumps({"hooks": {"SessionStart": [{"hooks": [{"command": ours}, {"command": "theirs"}]}]}})
    assert jsonc.parse(format_.remove(text)).value == {"hooks": {"SessionStart": [{"hooks": [{"command": "theirs"}]}]}}


def test_a_comment_never_swallows_what_follows() -> None:
    text = '{"hooks": {"Stop": [\n  {"a": 1}, // mine\n  {"command": "x hook run codex stop"}, {"b": 2}\n]}}'
    assert jsonc.parse(AGENTS["codex"].hooks.format.remove(text)).value == {"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}


@pytest.mark.parametrize("text", ["{", '{"hooks": 3}', "[]", '{"hooks": {"Stop": {}}}', '{"a": 1} x', "[" * 5000])
def test_a_file_that_does_not_fit_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        AGENTS["claude-code"].hooks.format.add(text, PROGRAM)


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
