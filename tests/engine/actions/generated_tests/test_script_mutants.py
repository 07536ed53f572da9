"""Mutants of JavaScript and TypeScript are bugs: each parses, differs from the text and leaves types and imports."""

from __future__ import annotations

import subprocess

import pytest
from support.processes.tools import needs

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.script_mutants import script_mutants_of
from stet_ls.engine.actions.generated_tests.whole_trial import try_on_whole
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

TEXT = """import { limit } from "./limit";
export const LIMIT = 3;

export function clamp(values: Array<"a" | number>, high: number = 5): number[] {
  const found = [];
  for (let i = 0; i < values.length; i++) {
    if (values[i] > high && values[i] !== LIMIT) found.push(high + 1);
  }
  return found ?? "none";
}
"""
KINDS = [
    "`<` became `<=`", "`>` became `>=`", "`!==` became `===`", "`&&` became `||`", "`??` became `&&`", "5 became 6",
    "5 became 4", "`+` became `-`", "`++` became `--`", "condition negated", "returns undefined",
    "removed `found.push(high + 1);`", '"none" became "nonex"', "`values[i] > high` is always true",
    "`values[i] > high` is always false", "`i < values.length` is always false",
]  # fmt: skip


def test_each_mutant_has_one_change_and_all_kinds_occur() -> None:
    mutants = script_mutants_of(TEXT, "typescript", "clamp", 99)
    texts = {each.text for each in mutants}
    assert len(texts) == len(mutants)
    assert TEXT not in texts
    kept = ('from "./limit"', "LIMIT = 3;", 'Array<"a" | number>')
    for each in mutants:
        parsed = tree_of(Source(each.text), "typescript")
        assert parsed is not None
        assert not parsed.root.has_error, each.change
        assert all(part in each.text for part in kept), each.change
    changes = {each.change for each in mutants}
    assert [kind for kind in KINDS if kind not in changes] == []
    assert "`i < values.length` is always true" not in changes, "it would never end"


def test_a_limited_choice_is_the_same_each_time() -> None:
    chosen = script_mutants_of(TEXT, "typescript", "clamp", 4)
    assert (len(chosen), script_mutants_of(TEXT, "typescript", "clamp", 4)) == (4, chosen)
    assert script_mutants_of(TEXT, "typescript", "nowhere", 4) == []
    assert script_mutants_of(TEXT, "typescript", "", 99)


RESULTS = """\
export const same = (it) => it;
export function held(it) {
  const inner = () => 7;
  if (inner() === 8) return 9;
  return (
    it // as it is
  );
}
export async function later(it) { return it; }
"""


@needs("node")
@pytest.mark.parametrize("unit", ["same", "held", "later"])
def test_every_other_error_near_given_lines_is_a_wrong_result(unit: str) -> None:
    text = RESULTS if unit != "later" else RESULTS.replace("return it;", "return Promise.resolve(it);")
    made = script_mutants_of(text, "javascript", unit, 99, range(1, 20))
    wrong = [each for each in made if each.change.startswith("a result")]
    assert (made[0], len(wrong)) == (wrong[0], 3)
    values = '[[1, 2], { a: 1, b: 2 }, "ab", 3, true, null]'
    found = []
    for each in wrong:
        program = f"{each.text}for (const it of {values}) console.log(JSON.stringify(await {unit}(it)));"
        done = subprocess.run(
            ["node", "--input-type=module"], input=program, capture_output=True, text=True, check=True
        )
        found.append(done.stdout.split())
    assert found == [
        ["[1]", '{"a":1}', '"a"', "4", "false", "null"],
        ["[2]", '{"b":2}', '"b"', "2", "true", "null"],
        ["[1,2,2]", '{"a":1,"b":2}', '"abb"', "3.5", "true", "null"],
    ]


def test_a_wrong_result_of_typed_code_has_a_type() -> None:
    make = for_language("typescript").mutants
    assert make is not None
    made = make(TEXT, "typescript", "clamp", 99, range(9, 10))
    wrong = [each for each in made if each.change.startswith("a result")]
    assert {each.line for each in wrong} == {9}
    assert "((it: any) => " in wrong[0].text
    parsed = tree_of(Source(wrong[0].text), "typescript")
    assert parsed is not None
    assert not parsed.root.has_error


CODE = "export function shipping(weight) {\n  if (weight > 20) return weight + 5;\n  return weight;\n}\n"
TEST = """import test from "node:test";
import assert from "node:assert";
import { shipping } from "./shipping.mjs";

test("light", () => assert.equal(shipping(10), 10));
"""
HEAVY = 'test("heavy", () => assert.equal(shipping(21), 26));\n'


@needs("node")
@pytest.mark.parametrize("tests", [TEST, TEST + HEAVY])
async def test_a_mutant_that_no_test_notices_survives(runtime: Runtime, tests: str) -> None:
    mutants = [each for each in script_mutants_of(CODE, "javascript", "shipping", 99) if "always" in each.change]
    files = {"shipping.mjs": CODE.encode(), "shipping.test.mjs": tests.encode()}
    plan = TestPlan("javascript", tests=("shipping.test.mjs",), files=files)
    names = ["light", "heavy"] if HEAVY in tests else ["light"]
    trial = await try_on_whole(runtime, plan, "shipping.mjs", names, mutants)
    assert trial.tried == len(mutants) == 2
    left = [] if HEAVY in tests else ["`weight > 20` is always false"]
    assert [each.change for each in trial.survivors] == left
