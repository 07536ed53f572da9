"""Five doors, equal verdicts: the command line, the hook of pre-commit, agents' hooks, MCP, and LSP judge the same."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from support.findings import editing
from support.processes.command import Stet
from support.processes.stet import stet_argv
from support.repository import Repository
from support.servers.session import VSCODE, command

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.settings.tool_settings import toolbox
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.verify import VerifyOptions, verify
from stet_ls.server.cli.hook.verifying import verified_outcome
from stet_ls.server.cli.inputs.load_settings import load_settings
from stet_ls.server.cli.mcp.tools import Tools

ROOT = Path(__file__).parents[4]
STOP = ROOT / "tests" / "fixtures" / "hook_payloads" / "codex.json"
UNIT = '''\
def {name}(value: int, limit: int = {number}) -> int:
    """Return the result, at most the limit."""
    result = value {operator} {number}
    if result > limit:
        return limit
    return result
'''
UNITS = {f"{word}{number}": (sign, number) for number in (3, 40) for word, sign in
         {"plus": "+", "minus": "-", "times": "*", "share": "//", "rest": "%"}.items()}  # fmt: skip
EDITS: Mapping[str, tuple[Callable[[str], str], str]] = {
    "comment": (lambda text: f"# A note.\n{text}", "ok"),
    "docstring": (lambda text: text.replace("Return", "Compute"), "ok"),
    "local": (lambda text: text.replace("result", "outcome").replace("the outcome", "the result"), "ok"),
    "same": (lambda text: text.replace("> limit", ">= limit"), "ok"),
    "differs": (lambda text: text.replace("return limit", "return limit + 1"), "unproven"),
    "bracket": (lambda text: text.replace("return result", "return result)"), "refuted"),
    "name": (lambda text: text.replace("return result", "return reslt"), "refuted"),
    "added": (lambda text: f"{text}\n\ndef more(value: int) -> int:\n    return value\n", "unproven"),
    "removed": (lambda text: "", "unproven"),
    "module": (lambda text: f"LIMIT = open\n\n\n{text}", "unproven"),
}
"""What is done to each unit, and the verdict that this deserves when no one states an intent and nothing tests it."""

pytestmark = pytest.mark.usefixtures("served_here")


def _text(name: str) -> str:
    sign, number = UNITS[name]
    return UNIT.format(name=name, operator=sign, number=number)


@pytest.fixture
def project(folder: Path) -> Repository:
    made = Repository.new(folder)
    made.commit({f"{edit}/{name}.py": _text(name) for name in UNITS for edit in EDITS})
    return made


def _row(line: str) -> tuple[str, ...]:
    """Path, check and detail of a finding as an agent reads it."""
    match = re.fullmatch(r"(.*?):\d+ .*?: (\w+)(?: \(note\))?: (.*)", line)
    assert match, line
    return match.groups()


def folders(project: Repository) -> Any:
    uri = project.folder.as_uri()
    return {"rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "project"}]}


def _verdicts(report: Any) -> dict[str, str]:
    """The worst verdict of each file."""
    found: dict[str, str] = {}
    for each in report["units"]:
        found[each["path"]] = max(
            each["verdict"], found.get(each["path"], "ok"), key=["ok", "unproven", "refuted"].index
        )
    return found


async def test_a_hundred_edits_get_the_same_verdict_at_every_door(project: Repository, stet: Stet) -> None:
    """One change with all of them; the first run has the time that it needs, the doors find its result."""
    project.write({f"{edit}/{name}.py": change(_text(name)) for name in UNITS for edit, (change, _) in EDITS.items()})
    runtimes = RuntimeProvider(load_settings(near=project.folder).settings, user_paths())
    with read_change(ChangeQuery(project.folder)) as change:
        settings = load_settings(near=project.folder).settings
        first = await verify(change, runtimes, VerifyOptions(budget=300, tools=toolbox(settings, (change.root,))))
    await runtimes.close()
    expected = {f"{edit}/{name}.py": verdict for name in UNITS for edit, (_, verdict) in EDITS.items()}
    assert _verdicts(first.to_json()) == expected
    assert len(expected) == 100

    shell = json.loads(stet("verify", "--json").out)
    outcome = await verified_outcome(ChangeQuery(project.folder), 60)
    output = await Tools(project.folder).verify(".", "HEAD", (), "", 45)
    async with editing(VSCODE, **folders(project)) as client:
        editor = await command(client, "stet.verify", scope="workspace")
    project("add", "--all")
    [hook] = [
        each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()) if each["id"] == "stet-verify"
    ]
    staged = json.loads(stet(*shlex.split(hook["entry"])[1:], "--json").out)

    for report in (shell, editor, staged):
        assert _verdicts(report) == expected
        assert report["findings"] == shell["findings"]
    rows = [(each["path"], each["check"], each["detail"]) for each in shell["findings"]]
    assert [_row(line) for line in outcome.findings] == rows
    assert [(each.path, each.check) for each in output.findings] == [row[:2] for row in rows[: len(output.findings)]]
    assert len(output.findings) + output.findings_left_out == len(rows)
    unproven = [each for each in shell["units"] if each["verdict"] == "unproven"]
    assert len(output.unproven) + output.unproven_left_out == len(unproven)
    assert (
        shell["verdict"] == outcome.conclusion == output.verdict == editor["verdict"] == staged["verdict"] == "refuted"
    )


@pytest.mark.parametrize("turn", range(int(os.environ.get("TURNS", "1"))))
async def test_each_door_judges_alike_by_itself(project: Repository, stet: Stet, turn: int) -> None:
    """No door finds the answer of another one: the cache is empty before each, and holds its results afterwards.

    Each edit is done to one unit. With `TURNS=10`, each to all: that takes minutes.
    """
    names = [*UNITS]
    names = [*names[turn:], *names[:turn]]
    texts = {f"{edit}/{name}.py": change(_text(name))
             for name, (edit, (change, _)) in zip(names, EDITS.items(), strict=True)}  # fmt: skip
    project.write(texts)
    project("add", "--all")
    kept = user_paths().verified

    def is_judged() -> bool:
        judged = kept.is_dir() and any(kept.iterdir())
        shutil.rmtree(kept, ignore_errors=True)
        return judged

    is_judged()
    reports = [json.loads(stet("verify", "--json").out)]
    assert is_judged()
    reports.append(json.loads(stet("verify", "--staged", "--json").out))
    assert is_judged()
    async with editing(VSCODE, **folders(project)) as client:
        reports.append(await command(client, "stet.verify", scope="workspace"))
    assert is_judged()
    outcome = await verified_outcome(ChangeQuery(project.folder), 60)
    assert is_judged()
    output = await Tools(project.folder).verify(".", "HEAD", (), "", 45)
    assert is_judged()

    expected = {path: EDITS[path.partition("/")[0]][1] for path in texts}
    for report in reports:
        assert (_verdicts(report), report["findings"]) == (expected, reports[0]["findings"])
    rows = [(each["path"], each["check"], each["detail"]) for each in reports[0]["findings"]]
    assert [_row(line) for line in outcome.findings] == rows
    assert [(each.path, each.check) for each in output.findings] == [row[:2] for row in rows]
    assert {each["verdict"] for each in reports} == {outcome.conclusion, output.verdict} == {"refuted"}


async def test_each_verdict_comes_through_every_real_process(
    project: Repository, stet: Stet, environment: Mapping[str, str]
) -> None:
    program, *words = stet_argv("mcp")
    server = StdioServerParameters(command=program, args=words, cwd=project.folder, env=dict(environment))
    stop = json.dumps(json.loads(STOP.read_text().replace("$ROOT", str(project.folder)))["stop"])
    async with Client(server) as mcp, editing(VSCODE, **folders(project)) as client:
        for edit in ("same", "differs", "name"):
            change, verdict = EDITS[edit]
            project("checkout", "--quiet", "HEAD", "--", ".")
            project.write({f"{edit}/plus3.py": change(_text("plus3"))})
            project("add", "--all")
            output = (await mcp.call_tool("verify_change", {"base": "HEAD"})).structured_content
            assert output is not None
            ran, staged = stet("verify", "--json"), stet("verify", "--staged")
            answer = json.loads(stet("hook", "run", "codex", "stop", stdin=stop).out)
            editor = await command(client, "stet.verify", scope="workspace")
            assert (output["verdict"], json.loads(ran.out)["verdict"], editor["verdict"]) == (verdict,) * 3
            assert staged.out.splitlines()[-1].startswith(f"{verdict}: 1 unit ")
            refused = verdict == "refuted"
            assert (ran.status, staged.status, answer.get("decision") == "block") == (refused, refused, refused)
