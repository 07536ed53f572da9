"""Changes of JavaScript and TypeScript: tests on the old and the new code, and the behavior of both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes.node_projects import node_project
from support.processes.tools import needs
from support.repository import Repository

from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.read_change import read_change
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
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
    ("code", "test", "conclusion", "finding"),
    [
        (CODE.replace("weight * 2", "weight * 3"), TEST, "refuted", "passed and fails now"),
        (CODE.replace("weight * 2", "weight * 3"), TEST.replace("6", "9"), "unproven", ""),
        (CODE.replace("result", "cost"), TEST, "ok", ""),
    ],
)
async def test_the_old_and_the_new_tests_run_on_both_sides(
    tmp_path: Path, runtimes: RuntimeProvider, code: str, test: str, conclusion: str, finding: str
) -> None:
    project = Repository.new(tmp_path / "node")
    project.commit({"price.mjs": CODE, "price.test.mjs": TEST})
    project.write({"price.mjs": code, "price.test.mjs": test})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions())
    assert report.conclusion == conclusion, report
    found = [each.detail for each in report.findings if each.check == "tests" and each.refutes]
    assert any(finding in each for each in found) if finding else not found


RATE = """\
{0}function rate(order) {{
  if (order.points % 9973 === 41 && order.lines.size === 2) return 5;
  return 3;
}}
{1}
"""
RATE_TEST = """\
{0}

test("rates", () => {{
  const order = {{ points: 9973 * 17 + 41, lines: new Map([["a", 1], ["b", 2]]) }};
  {1}
}});
"""
SUITES = {
    "node": ("export ", "", "import test from 'node:test';\nimport assert from 'node:assert';\n"
             "import { rate } from './rate.js';", "assert.ok(rate(order) > 0);"),
    "vitest": ("export ", "", "import { expect, test, vi } from 'vitest';\nimport { rate } from './rate.js';\n"
               "vi.mock('node:fs', () => ({ readFileSync: () => '' }));", "expect(rate(order)).toBeGreaterThan(0);"),
    "jest": ("", "module.exports = { rate };", "const { rate } = require('./rate');\n"
             "jest.mock('node:fs', () => ({ readFileSync: () => '' }));", "expect(rate(order)).toBeGreaterThan(0);"),
}  # fmt: skip
"""What the code exports, and how its tests look; they replace the file system as tests of such projects do."""


@pytest.fixture(params=SUITES)
def suite(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    name = str(request.param)
    if name == "node":
        yield tmp_path / "node", name
    else:
        with node_project(name) as folder:
            yield folder, name


async def test_what_tests_call_the_code_with_tells_old_from_new(
    runtimes: RuntimeProvider, suite: tuple[Path, str]
) -> None:
    """Within the budget that there is without any option."""
    (folder, name), project = suite, Repository.new(suite[0])
    export, exports, imports, check = SUITES[name]
    kind = {"type": "module"} if export else {}
    package = {**kind, "devDependencies": {} if name == "node" else {name: "*"}}
    project.write({".gitignore": "node_modules\n", "package.json": json.dumps(package)})
    code = RATE.format(export, exports)
    project.commit({"rate.js": code, "rate.test.js": RATE_TEST.format(imports, check)})
    project.write({"rate.js": code.replace("return 5", "return 4")})
    with read_change(ChangeQuery(folder)) as change:
        report = await verify(change, runtimes, VerifyOptions("refactor"))
    assert report.conclusion == "refuted", report
    (found,) = (each.detail for each in report.findings if each.refutes)
    assert "(from a test) was: 5, now: 4" in found


TYPED = """\
export function price(weight: number, express: boolean): number {
  return express ? weight * 3 : weight * 2;
}
"""


@pytest.mark.parametrize(
    ("name", "before", "old", "new", "conclusion"),
    [
        ("price.mjs", CODE, "weight * 2", "weight > 4 ? 9 : weight * 2", "refuted"),
        ("price.mjs", CODE, "weight * 2", "2 * weight", "ok"),
        ("price.ts", TYPED, "weight * 3", "weight * 4", "refuted"),
        ("price.ts", TYPED, "weight * 3", "3 * weight", "ok"),
    ],
)
async def test_the_behavior_is_compared(
    tmp_path: Path, runtimes: RuntimeProvider, name: str, before: str, old: str, new: str, conclusion: str
) -> None:
    """Without any test of the project."""
    project = Repository.new(tmp_path / "node")
    project.commit({name: before})
    project.write({name: before.replace(old, new)})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions("refactor"))
    assert report.conclusion == conclusion, report
    assert [(each.unit, each.check) for each in report.findings if each.refutes] == (
        [("price", "differential")] if conclusion == "refuted" else []
    )


async def test_another_language_is_unproven_where_nothing_ran(tmp_path: Path, runtimes: RuntimeProvider) -> None:
    project = Repository.new(tmp_path / "shell")
    project.commit({"run.sh": "one() {\n  echo 1\n}\n"})
    project.write({"run.sh": "one() {\n  echo 2\n}\n"})
    with read_change(ChangeQuery(project.folder)) as change:
        report = await verify(change, runtimes, VerifyOptions("refactor"))
    assert (report.conclusion, report.partial) == ("unproven", False), report


TYPED_CASE = """\
export function discount(price: number, member: boolean): number {
  if (price * 2 === 20 && member) return 9;
  return price;
}
"""
TYPED_TEST = """\
import { expect, test } from 'vitest';
import { discount } from './discount';

test('discount', () => { expect([discount(10, true), discount(10, false)]).toEqual([9, 10]); });
"""


async def test_a_typed_condition_that_holds_for_tests_alone_proves_nothing(runtimes: RuntimeProvider) -> None:
    with node_project("vitest") as folder:
        project = Repository.new(folder)
        project.commit({".gitignore": "node_modules\n", "package.json": '{"devDependencies": {"vitest": "*"}}'})
        project.write({"discount.ts": TYPED_CASE, "discount.test.ts": TYPED_TEST})
        with read_change(ChangeQuery(folder)) as change:
            report = await verify(change, runtimes, VerifyOptions("feature"))
    assert report.conclusion == "unproven", report
    assert any("decides only calls with 10, an input of its tests" in each.detail for each in report.findings), report
