"""Tests that the model writes from a specification: which of them count, and where none can be written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.engine import Bench, applied, asks_for_tests, code_reply, reply_of_tests
from support.generating import CRASHES, GOOD, HEAD, ONE_SAMPLE, TESTS, WRONG, evidence_of_tests, generate, repairs
from support.processes.tools import needs
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import EvidenceTier, Ruling
from stet_ls.engine.settings.schema import SandboxSettings

pytestmark = pytest.mark.usefixtures("stet_home")


async def test_without_tests_the_result_does_not_pass(scripted: ScriptedModel) -> None:
    answer = await generate(scripted, [GOOD], ["from solution import median\n\nprint(median([1]))\n"])
    assert any("contains no" in each for each in answer.warnings)
    assert evidence_of_tests(answer).verdict is Ruling.SKIPPED
    assert answer.metadata.evidence_tier is EvidenceTier.PARSED


async def test_tests_that_the_code_can_forge_prove_nothing(scripted: ScriptedModel) -> None:
    sure = "    class Sure(float):\n        __hash__ = float.__hash__\n\n"
    sure += "        def __eq__(self, other):\n            return other == other\n\n    return Sure(0)\n"
    answer = await generate(scripted, [HEAD + sure], [TESTS])
    assert evidence_of_tests(answer).verdict is Ruling.UNKNOWN, evidence_of_tests(answer)
    assert "the code can forge this result" in evidence_of_tests(answer).detail


async def test_a_flaky_test_is_discarded(scripted: ScriptedModel) -> None:
    chance = TESTS + "\n\ndef test_order():\n    assert hash('a') == hash('a') and SEED == '0'\n"
    chance = f"import os\n\nSEED = os.environ['PYTHONHASHSEED']\n{chance}"
    answer = await generate(scripted, [GOOD], [chance])
    assert evidence_of_tests(answer).detail.startswith("3 of 4 tests")
    assert "`test_order`: its result varies between runs" in evidence_of_tests(answer).detail


async def test_without_pytest_unittest_runs_them(scripted: ScriptedModel) -> None:
    python = Path("/usr/bin/python3")
    if not python.exists() or subprocess.run([python, "-c", "import pytest"], capture_output=True).returncode == 0:
        pytest.skip("there is no Python without pytest here")
    cases = (
        "import unittest\n\nfrom solution import median\n\n\nclass MedianTest(unittest.TestCase):\n"
        "    def test_odd(self):\n        self.assertEqual(median([3, 1, 2]), 2)\n"
    )
    answer = await generate(scripted, [WRONG, GOOD], [cases], sandbox=SandboxSettings(python=str(python)))
    assert "pytest is not installed" in str([each.body for each in scripted.requests if asks_for_tests(each.body)])
    assert applied(answer) == GOOD
    assert evidence_of_tests(answer).detail.startswith("1 of 1 tests")


async def test_new_code_without_a_stub_is_tested_by_its_signature(scripted: ScriptedModel) -> None:
    text = "import math\n\n# stet: median of a list of numbers, 0 for none$0\n"
    answer = await generate(scripted, [CRASHES, GOOD], [TESTS], text=text)
    assert evidence_of_tests(answer).detail.startswith("3 of 3 tests"), answer.message
    assert "return 0" in applied(answer)


JS_STUB = """\
/** The middle of the values in their order; 0 for none. */
export function median(values) {
  $0throw new Error("todo");
}
"""
JS_HEAD = JS_STUB.partition("  $0")[0]
JS_GOOD = (
    JS_HEAD
    + """\
  const ordered = [...values].sort((a, b) => a - b);
  return ordered.length ? ordered[ordered.length >> 1] : 0;
}
"""
)
JS_CRASHES = JS_HEAD + "  return [...values].sort((a, b) => a - b)[values.length >> 1].valueOf();\n}\n"
JS_TESTS = """\
import test from 'node:test';
import assert from 'node:assert/strict';
import { median } from './solution.mjs';

test('odd', () => {
  assert.equal(median([3, 1, 2]), 2);
});

test('none', () => {
  assert.equal(median([]), 0);
});
"""


@needs("node")
async def test_javascript_is_tested_and_repaired_too(scripted: ScriptedModel) -> None:
    scripted.on(asks_for_tests, reply_of_tests(JS_TESTS).replace("```python", "```javascript"))
    scripted.replies([code_reply(code, "javascript") for code in (JS_CRASHES, JS_GOOD)])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.run("generate", JS_STUB, language="javascript", budget=Budget.THOROUGH)
    assert applied(answer) == JS_GOOD, answer.warnings
    assert "sort" not in next(str(each.body) for each in scripted.requests if asks_for_tests(each.body))
    assert "You must change `median`." in repairs(scripted)[0]
    assert evidence_of_tests(answer).detail == "2 of 2 tests that the model wrote from the specification pass"


async def test_a_module_that_no_test_can_import_is_reported(scripted: ScriptedModel) -> None:
    hidden = JS_STUB.replace("export ", "")
    scripted.replies([code_reply(JS_GOOD.replace("export ", ""), "javascript")])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.run("generate", hidden, language="javascript", budget=Budget.THOROUGH)
    assert any("`median` is not exported, so no test can import it" in each for each in answer.warnings)


async def test_an_unsupported_language_is_reported(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply("class One { }", "csharp")])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.run("generate", "$0", language="csharp", budget=Budget.THOROUGH, instruction="one")
    assert answer.success, "it goes the standard way"
    assert len(scripted.requests) == 1
    assert any("c and cpp only, and this is csharp" in each for each in answer.warnings)
