"""`node --test` in the box, for JavaScript and, by esbuild, for TypeScript."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.processes.tools import needs
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import FrameOrigin, SuiteOutcome

pytestmark = needs("node")

HEAD = "import test, { describe, it } from 'node:test';\nimport assert from 'node:assert';\n"
CODE = {"code.mjs": "export const add = (a, b) => a + b;\nexport const boom = (x) => x.y.z;\n"}


async def test_each_kind_of_outcome_is_reported(check: Check) -> None:
    report = await check(
        "javascript",
        {
            "a.test.mjs": HEAD
            + """import { add, boom } from './code.mjs';
test('good', () => { console.log('seen') });
test('wrong', () => { assert.strictEqual(add(1, 2), 4) });
describe('outer', () => { it('inner', () => {}); it('crash', () => boom({})) });
test('skipped', { skip: 'not now' }, () => {});
""",
            "plain.test.mjs": "import assert from 'node:assert';\nassert.ok(true);\n",
        },
        CODE,
    )

    assert report.outcome is SuiteOutcome.RED, report.detail
    assert outcomes(report) == {
        "good": "passed",
        "wrong": "failed",
        "outer::inner": "passed",
        "outer::crash": "failed",
        "skipped": "skipped",
        "plain.test.mjs": "passed",
    }
    wrong, crash = report.case("a.test.mjs::wrong"), report.case("a.test.mjs::outer::crash")
    assert wrong
    assert wrong.failure
    assert wrong.failure.type == "AssertionError"
    assert wrong.failure.comparison
    assert (wrong.failure.comparison.left, wrong.failure.comparison.right) == ("3", "4")
    assert crash
    assert crash.failure
    assert crash.failure.type == "TypeError"
    assert crash.failure.deepest
    assert (crash.failure.deepest.path, crash.failure.deepest.line) == ("code.mjs", 2)
    assert crash.failure.deepest.origin is FrameOrigin.PROJECT


NOT_GREEN = {
    "green": (HEAD + "test('a', () => {});\n", SuiteOutcome.GREEN),
    "empty": ("// nothing\n", SuiteOutcome.NOTHING_RAN),
    "exit 0 before a failing test": (HEAD + "test('a', () => process.exit(0));\ntest('b', () => { throw 1 });\n", None),
    "exit 0 in a loop": (HEAD + "for (const n of [1, 2]) test('t' + n, () => process.exit(0));\n", None),
    "exit 0 in a plain file": (HEAD + "process.exit(0);\nassert.ok(false);\n", None),
    "says pass": (HEAD + "console.log('# pass 5\\n# fail 0'); process.exit(0);\ntest('a', () => {});\n", None),
    "killed": (HEAD + "test('a', () => process.kill(process.pid, 'SIGKILL'));\n", SuiteOutcome.ERROR),
    "does not parse": ("let x = = 1;\n", SuiteOutcome.ERROR),
    "a module that is not there": ("import 'no-such-module';\n", SuiteOutcome.ERROR),
    "hangs": (HEAD + "test('a', () => { for (;;); });\n", SuiteOutcome.TIMEOUT),
}


@pytest.mark.parametrize("name", NOT_GREEN)
async def test_only_tests_that_ran_pass(check: Check, name: str) -> None:
    text, outcome = NOT_GREEN[name]

    report = await check("javascript", {"a.test.mjs": text}, seconds=5)

    assert report.outcome is (outcome or SuiteOutcome.INCOMPLETE), report.detail


def esbuild() -> Path:
    if found := shutil.which("esbuild"):
        return Path(found).resolve()
    pytest.skip("not installed: esbuild")


async def test_typescript_is_bundled_and_reports_source_lines(check: Check) -> None:
    esbuild()
    code = {"code.ts": "type N = number;\n\nexport function boom(x: N): N {\n  throw new RangeError(`no ${x}`);\n}\n"}
    tests = {
        "tests/a.test.ts": "import test from 'node:test';\nimport { boom } from '../code';\n"
        "test('good', () => {});\ntest('crash', () => { boom(1 as number) });\n"
    }

    report = await check("typescript", tests, code)
    broken = await check("typescript", {"a.test.ts": "let x: = 1;\n"})

    assert {case.id: case.outcome.value for case in report.cases} == {
        "tests/a.test.ts::good": "passed",
        "tests/a.test.ts::crash": "failed",
    }, report.detail
    crash = report.case("tests/a.test.ts::crash")
    assert crash
    assert crash.failure
    assert crash.failure.deepest
    assert (crash.failure.deepest.path, crash.failure.deepest.line) == ("code.ts", 4)
    assert (broken.outcome, broken.collection[0].failure.place) == (SuiteOutcome.ERROR, ("a.test.ts", 1, 7))


async def test_a_missing_esbuild_is_reported_with_an_install_hint(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = str(Path(shutil.which("node") or "").parent)
    if (Path(node) / "esbuild").exists():
        pytest.skip("esbuild is next to node")
    monkeypatch.setenv("PATH", os.pathsep.join([node, "/nowhere"]))

    report = await check("typescript", {"a.test.ts": "let x = 1;\n"})

    assert (report.outcome, report.run) == (SuiteOutcome.NO_RUNNER, None)
    assert "npm install" in report.install
