"""Whole tasks in an editor: a feature over several files of a real package, and a port from JavaScript to Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.processes.tools import needs
from support.projects.real_package import WORDS, copy_package, play
from support.servers.scripted import ScriptedModel
from support.servers.session import VSCODE, editor, finish, start

CLAMP = """\
/**
 * @param {number} value
 * @param {number} most
 */
function clampTo(value, most) {
  return value > most ? most : value;
}
module.exports = { clampTo };
"""


async def test_a_feature_over_several_files_is_one_edit(
    environment: Mapping[str, str], scripted: ScriptedModel, tmp_path: Path
) -> None:
    path = copy_package(tmp_path)
    play(scripted)
    async with editor(environment, VSCODE, rootUri=tmp_path.as_uri()) as client:
        errors = path.with_name("exceptions.py")
        for each in (path, errors):
            client.open(each.as_uri(), "python", each.read_text())
        argument = {"uri": path.as_uri(), "instruction": WORDS, "files": ["iniconfig/exceptions.py"]}
        result = await finish(client, await start(client, "task", **argument))
        if "code may not run" in result["message"]:
            pytest.skip(result["message"])
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert "Did 3 steps" in result["message"]
        assert "def section_names" in client.text(path.as_uri())
        assert "def describe" in client.text(errors.as_uri())
        assert len(client.received("workspace/applyEdit")) == 1


@needs("node")
async def test_a_module_of_javascript_becomes_one_of_python(
    environment: Mapping[str, str], scripted: ScriptedModel, tmp_path: Path
) -> None:
    path = tmp_path / "clamp.js"
    path.write_text(CLAMP)
    scripted.default = "```python\ndef clamp_to(value, most):\n    return min(value, most)\n```\n"
    async with editor(environment, VSCODE, rootUri=tmp_path.as_uri()) as client:
        client.open(path.as_uri(), "javascript", CLAMP)
        job = await start(client, "task", uri=path.as_uri(), instruction="port this module to Python")
        result = await finish(client, job)
        found = {each["check"]: each for each in result["answer"]["evidence"]}["differential"]
        if found["verdict"] == "skipped":
            pytest.skip(found["detail"])
        assert (result["status"], result["applied"]) == ("done", True), result["message"]
        assert found["detail"] == "81 calls of 1 function agree with clamp.js"
        assert [Path(each).name for each in client.created] == ["clamp.py"]
