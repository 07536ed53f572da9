"""Entries in the JSON files of agents: added and removed, with all else and its comments left as it was."""

from __future__ import annotations

import json

import pytest

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
