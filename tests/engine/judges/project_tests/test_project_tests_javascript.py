"""A JavaScript project's own tests as a judge: by Node, by Jest or Vitest where its package.json asks for one.

The frameworks are tried where `make node-projects` has installed them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import in_each_box
from support.processes.node_projects import node_project
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.validators.source import Source

pytestmark = needs("node")

SUM = "export const sum = (a, b) => a + b;\n"
NODE = (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from './sum.mjs';\n"
    "test('adds', () => assert.equal(sum(1, 2), 3));\n"
)
EXPECT = "test('adds', () => expect(sum(1, 2)).toBe(3));\ndescribe('of none', () => { it.skip('later', () => {}); });\n"
PROJECTS = {
    "vitest": (
        "sum.mjs", SUM,
        f"import {{ describe, expect, it, test }} from 'vitest';\nimport {{ sum }} from './sum.mjs';\n{EXPECT}",
    ),
    "jest": (
        "sum.js", "const sum = (a, b) => a + b;\nmodule.exports = { sum };\n",
        f"const {{ sum }} = require('./sum');\n{EXPECT}",
    ),
}  # fmt: skip


async def judged(runtime: Runtime, root: Path, path: Path, old: str, new: str) -> Evidence:
    """What the judge says of a change to a file of a project."""
    here = replace(runtime, workspace=Workspace((root,)))
    return await judge(Case("refactor", "javascript", path, Source(old), Source(new), "sum", runtime=here))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "sum.mjs").write_text(SUM)
    (tmp_path / "sum.test.mjs").write_text(NODE)
    return tmp_path


@in_each_box
async def test_tests_written_for_node_are_run_by_node(runtime: Runtime, project: Path) -> None:
    (project / "package.json").write_text(json.dumps({"devDependencies": {"jest": "*"}}))
    path = project / "sum.mjs"
    good = await judged(runtime, project, path, SUM, SUM.replace("a + b", "b + a"))
    bad = await judged(runtime, project, path, SUM, SUM.replace("a + b", "a - b"))
    assert (good.verdict, good.detail, good.trusted) == (Ruling.PASS, "1 test passes", True)
    assert (bad.verdict, bad.trusted) == (Ruling.FAIL, True)
    assert "(passed before)" in bad.detail
    assert path.read_text() == SUM


DEAD = "export const lost = (a) => { return 7; };\n"


@pytest.mark.parametrize(
    ("after", "detail"),
    [
        (SUM + DEAD, "1 test passes, but it does not execute `lost`"),
        (SUM.replace("a + b", "b + a") + DEAD, "1 test passes, but it does not execute `lost`"),
        (SUM.replace("a +", "a /* sum */ +") + "// sum\n", "1 test passes, but the edit changes no executable code"),
        (SUM + "export const LOST = 7;\n", "1 test passes, but it does not execute what was changed"),
    ],
    ids=["a function that no one calls", "one next to a change", "comments", "a constant"],
)
async def test_a_change_that_no_test_runs_is_not_proven(
    runtime: Runtime, project: Path, after: str, detail: str
) -> None:
    """The tests name what was there, and a new name in them would do no more."""
    (project / "sum.test.mjs").write_text(NODE + "// lost\n" * ("LOST" not in after))
    evidence = await judged(runtime, project, project / "sum.mjs", SUM, after)
    assert (evidence.verdict, evidence.trusted, evidence.detail) == (Ruling.UNKNOWN, False, detail)


async def test_code_without_a_possible_planted_error_is_counted_by_name(runtime: Runtime, project: Path) -> None:
    (project / "sum.test.mjs").write_text(NODE.replace("{ sum }", "{ sum, ONE }").replace("sum(1", "sum(ONE"))
    old = f"export const ONE = 2 - 1;\n{SUM}"
    evidence = await judged(runtime, project, project / "sum.mjs", old, old.replace("2 - 1", "1"))
    assert evidence.verdict is Ruling.PASS, evidence
    said = "1 test passes; counted by names in the tests, since their coverage is unknown"
    assert evidence.detail == said


@pytest.mark.parametrize("name", PROJECTS)
async def test_a_framework_that_is_not_installed_is_reported(runtime: Runtime, project: Path, name: str) -> None:
    (project / "package.json").write_text(json.dumps({"devDependencies": {name: "*"}}))
    (project / "sum.test.mjs").write_text(f"import {{ sum }} from './sum.mjs';\n{EXPECT}")
    evidence = await judged(runtime, project, project / "sum.mjs", SUM, SUM.replace("a + b", "a - b"))
    assert evidence.verdict is Ruling.UNKNOWN
    assert f"{name} is not on this machine (npm install" in evidence.detail


@pytest.fixture(params=PROJECTS)
def installed(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    name = str(request.param)
    with node_project(name) as folder:
        (folder / "package.json").write_text(json.dumps({"devDependencies": {name: "*"}}))
        yield folder, name


@in_each_box
async def test_a_framework_runs_the_tests_of_its_project(runtime: Runtime, installed: tuple[Path, str]) -> None:
    folder, name = installed
    file, old, tests = PROJECTS[name]
    (folder / file).write_text(old)
    (folder / file.replace(".", ".test.")).write_text(tests)
    good = await judged(runtime, folder, folder / file, old, old.replace("a + b", "b + a"))
    bad = await judged(runtime, folder, folder / file, old, old.replace("a + b", "a - b"))
    broken = await judged(runtime, folder, folder / file, old, old.replace("=>", "=> =>"))
    left = await judged(runtime, folder, folder / file, old, "process.exit(0);\n" + old)
    assert (good.verdict, good.detail) == (Ruling.PASS, "1 test passes"), good
    assert (bad.verdict, bad.trusted) == (Ruling.FAIL, True), bad
    assert "-1" in bad.detail
    assert (broken.verdict, left.verdict) == (Ruling.FAIL, Ruling.FAIL), (broken, left)
