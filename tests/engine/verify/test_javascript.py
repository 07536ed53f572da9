"""Changes of JavaScript and TypeScript: tests on the old and the new code, and the behavior of both."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.processes.tools import needs
from support.repository import Repository

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import ChangeQuery, read_change
from stet_ls.engine.verify.verify import VerifyOptions, verify

pytestmark = needs("node")

CODE = "export function price(weight) {\n  const result = weight * 2;\n  return result;\n}\n"
TEST = """\
import test from 'node:test';
import assert from 'node:assert';
import { price } from './price.mjs';

test('three kilos', () => { assert.strictEqual(price(3), 6); });
"""


@pytest.mark.parametrize(
    ("code", "test", "verdict", "finding"),
    [
        (CODE.replace("weight * 2", "weight * 3"), TEST, "refuted", "passed and fails now"),
        (CODE.replace("weight * 2", "weight * 3"), TEST.replace("6", "9"), "unproven", ""),
        (CODE.replace("result", "cost"), TEST, "ok", ""),
    ],
)
async def test_the_old_and_the_new_tests_run_on_both_sides(
    tmp_path: Path, runtimes: RuntimeProvider, code: str, test: str, verdict: str, finding: str
) -> None:
    project = Repository.new(tmp_path / "node")
    project.commit({"price.mjs": CODE, "price.test.mjs": TEST})
    project.write({"price.mjs": code, "price.test.mjs": test})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions())
    assert report.verdict == verdict, report
    found = [each.detail for each in report.findings if each.check == "tests" and each.refutes]
    assert any(finding in each for each in found) if finding else not found


TYPED = """\
export function price(weight: number, express: boolean): number {
  return express ? weight * 3 : weight * 2;
}
"""


@pytest.mark.parametrize(
    ("name", "before", "old", "new", "verdict"),
    [
        ("price.mjs", CODE, "weight * 2", "weight > 4 ? 9 : weight * 2", "refuted"),
        ("price.mjs", CODE, "weight * 2", "2 * weight", "ok"),
        ("price.ts", TYPED, "weight * 3", "weight * 4", "refuted"),
        ("price.ts", TYPED, "weight * 3", "3 * weight", "ok"),
    ],
)
async def test_the_behavior_is_compared(
    tmp_path: Path, runtimes: RuntimeProvider, name: str, before: str, old: str, new: str, verdict: str
) -> None:
    """Without any test of the project."""
    project = Repository.new(tmp_path / "node")
    project.commit({name: before})
    project.write({name: before.replace(old, new)})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions("refactor"))
    assert report.verdict == verdict, report
    assert [(each.unit, each.check) for each in report.findings if each.refutes] == (
        [("price", "differential")] if verdict == "refuted" else []
    )


async def test_another_language_is_unproven_where_nothing_ran(tmp_path: Path, runtimes: RuntimeProvider) -> None:
    project = Repository.new(tmp_path / "shell")
    project.commit({"run.sh": "one() {\n  echo 1\n}\n"})
    project.write({"run.sh": "one() {\n  echo 2\n}\n"})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions("refactor"))
    assert (report.verdict, report.partial) == ("unproven", False), report
