"""The search in JavaScript and TypeScript: small edits are tried in one run of the sandbox, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.engine import Bench, applied, said
from support.judging import MakeCase
from support.processes.tools import needs
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.actions.repair_search.javascript_search import search_script
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.validators.source import Span

pytestmark = needs("node")

LARGEST = """/**
 * The largest number.
 * @example
 * largest([3, 9, 2]) // => 9
 * largest([5]) // => 5
 */
export function largest(numbers) {
  let best = numbers[0];
  for (const number of numbers) {
    if (number   <  best) best = number; // a better one
  }
  return best;
}
"""


async def debug(
    scripted: ScriptedModel, root: Path, text: str, *, at: str = "return", name: str = "shop.mjs", **fields: object
) -> Answer:
    path = root / name
    path.write_text(text)
    scripted.default = Reply.failure(401)
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1),))) as bench:
        language = "typescript" if name.endswith(".ts") else "javascript"
        asked = {"path": path, "workspace": Workspace((root,)), "language": language, **fields}
        return await bench.run("debug", text.replace(at, f"$0{at}", 1), **asked)


async def test_an_example_in_jsdoc_that_fails_is_fixed_without_a_model(scripted: ScriptedModel, root: Path) -> None:
    answer = await debug(scripted, root, LARGEST)
    assert answer.success, answer.message
    assert not scripted.requests
    assert answer.metadata.calls == 0
    fixed = (LARGEST.replace("number   <  best", f"number   {op}  best") for op in (">", ">="))
    assert applied(answer) in fixed, "layout and comments are the user's"
    found = said(answer, Check.SEARCH)
    assert found.verdict is Ruling.PASS
    assert found.detail.startswith(f"found by search, {found.count} candidates tried, ")
    assert said(answer, Check.DOCTEST).verdict is Ruling.PASS


async def test_typescript_is_searched_and_its_types_stay(scripted: ScriptedModel, root: Path) -> None:
    text = "/**\n * clamp(9, 0, 5) returns 5\n * clamp(-1, 0, 5) returns 0\n */\n"
    text += "export function clamp(value: number, low: number, high: number): number {\n"
    text += "  const most: number = Math.max(value as number, high);\n  return Math.max(most, low);\n}\n"
    answer = await debug(scripted, root, text, name="shop.ts")
    assert answer.metadata.calls == 0
    assert applied(answer) == text.replace("Math.max(value", "Math.min(value"), answer.message
    assert not scripted.requests


CART = """export class Cart {
  constructor() {
    this.items = [];
  }

  add(name, count = 1) {
    this.items.push({ name, count });
  }

  total() {
    return this.items.reduce((sum, item) => sum + item.count, 1);
  }
}
"""
CART_TEST = """import test, { describe, it, beforeEach } from "node:test";
import assert from "node:assert";
import { Cart } from "./shop.mjs";

test("empty", () => assert.equal(new Cart().total(), 0));
describe("a cart", () => {
  let cart;
  beforeEach(() => { cart = new Cart(); });
  it("adds", async () => {
    cart.add("a", 2);
    cart.add("b");
    assert.strictEqual(cart.total(), 3);
  });
});
"""


async def test_a_failing_test_is_fixed_and_the_others_still_pass(scripted: ScriptedModel, root: Path) -> None:
    (root / "shop.test.mjs").write_text(CART_TEST)
    answer = await debug(scripted, root, CART, at="return this")
    assert answer.success, answer.message
    assert applied(answer) == CART.replace("item.count, 1", "item.count, 0"), answer.message
    assert answer.metadata.calls == 0
    assert not scripted.requests


async def test_a_commonjs_module_with_its_tests_is_searched(scripted: ScriptedModel, root: Path) -> None:
    text = "const RATE = 119;\nconst net = (price) => Math.ceil((price * 100) / RATE);\nmodule.exports = { net };\n"
    (root / "shop.test.cjs").write_text(
        'const test = require("node:test");\nconst assert = require("node:assert");\n'
        'const { net } = require("./shop.cjs");\n\n'
        'test("whole", () => assert.equal(net(119), 100));\ntest("part", () => assert.equal(net(100), 84));\n'
    )
    answer = await debug(scripted, root, text, at="Math", name="shop.cjs")
    assert applied(answer) in (
        text.replace("ceil", "floor"),
        text.replace("ceil", "round"),
        text.replace("ceil", "trunc"),
    )


@needs("esbuild")
async def test_tests_in_typescript_are_searched(scripted: ScriptedModel, root: Path) -> None:
    text = "export function first(items: string[], count: number): string[] {\n  return items.splice(1, count);\n}\n"
    (root / "shop.test.ts").write_text(
        'import { test } from "node:test";\nimport assert from "node:assert";\nimport { first } from "./shop";\n\n'
        'test("first", () => assert.deepEqual(first(["a", "b", "c"], 2), ["a", "b"]));\n'
        'test("none", () => assert.deepEqual(first([], 2), []));\n'
    )
    answer = await debug(scripted, root, text, name="shop.ts")
    assert "0, count" in applied(answer) or "slice(0" in applied(answer), answer.message
    assert answer.metadata.calls == 0


async def test_what_was_stated_is_searched(scripted: ScriptedModel, root: Path) -> None:
    text = "export function discount(price, rate) {\n  return price * (1 + rate);\n}\n"
    answer = await debug(scripted, root, text, instruction="discount(200, 0.25) returns 250 instead of 150")
    assert "1 - rate" in applied(answer), answer.message
    assert answer.metadata.calls == 0


async def test_a_missing_await_is_found(scripted: ScriptedModel, root: Path) -> None:
    text = "async function price(name) {\n  return name.length;\n}\n\n"
    text += '/** twice("ab") resolves to 4 */\nexport async function twice(name) {\n  const one = price(name);\n'
    text += "  return one + one;\n}\n"
    answer = await debug(scripted, root, text, at="const one")
    assert applied(answer) == text.replace("= price(name)", "= await price(name)"), answer.message


async def test_fixes_that_differ_are_asked_about_with_the_input_that_tells_them_apart(
    scripted: ScriptedModel, root: Path
) -> None:
    text = "/** area(2, 2) => 4 */\nexport function area(width, height) {\n  return width - height;\n}\n"
    answer = await debug(scripted, root, text)
    found = said(answer, Check.SEARCH)
    assert (found.verdict, found.trusted) == (Ruling.UNKNOWN, True), "an editor asks"
    assert "is `" in found.detail
    assert "? Another fix (" in found.detail


async def test_candidates_that_never_end_or_write_files_harm_nothing(scripted: ScriptedModel, root: Path) -> None:
    text = 'import fs from "node:fs";\n\n'
    text += "export function count(n, log) {\n  let found = 0;\n  while (n > 0) {\n    n -= 1;\n    found += 2;\n  }\n"
    text += "  fs.writeFileSync(log, String(found));\n  return found;\n}\n"
    (root / "shop.test.mjs").write_text(
        'import test from "node:test";\nimport assert from "node:assert";\nimport os from "node:os";\n'
        'import { count } from "./shop.mjs";\n\n'
        'test("three", () => assert.equal(count(3, os.tmpdir() + "/log"), 3));\n'
        'test("none", () => assert.equal(count(0, os.tmpdir() + "/log"), 0));\n'
    )
    answer = await debug(scripted, root, text, at="return found")
    assert not {each.name for each in root.iterdir()} - {"shop.mjs", "shop.test.mjs", "tests", "pyproject.toml"}
    found = said(answer, Check.SEARCH)
    assert found.count > 50, "candidates after an endless one are tried"
    assert "found += 1" in applied(answer), answer.message


async def test_a_bug_that_never_ends_is_found(scripted: ScriptedModel, root: Path) -> None:
    text = "/** steps(3) => 3 */\nexport function steps(n) {\n  let found = 0;\n  while (n > 0) {\n    n++;\n"
    text += "    found++;\n  }\n  return found;\n}\n"
    answer = await debug(scripted, root, text)
    assert applied(answer) == text.replace("n++", "n--"), answer.message


SHOUT = """/**
 * shout("bob") => "BOB!"
 * shout("ann") => "ANN!"
 * shout("") => "!"
 */
export function shout(name) {
  if (!name) {
    return "!";
  }
  return name.toLowerCase() + "?";
}
"""


async def test_two_edits_are_tried_if_no_single_one_helps(scripted: ScriptedModel, root: Path) -> None:
    answer = await debug(scripted, root, SHOUT, at="return name")
    fixed = SHOUT.replace("toLowerCase", "toUpperCase").replace('"?"', '"!"')
    assert applied(answer) == fixed, answer.message
    found = said(answer, Check.SEARCH)
    assert found.count > 100, "pairs were tried"
    assert answer.metadata.calls == 0


async def test_two_edits_of_typescript_of_which_one_helps_already(scripted: ScriptedModel, root: Path) -> None:
    text = "/**\n * middle([1, 2]) returns 1.5\n * middle([1, 3, 8]) returns 3\n * middle([5]) returns 5\n */\n"
    text += "export function middle(sorted: number[]): number {\n  const at: number = Math.floor(sorted.length / 2);\n"
    text += "  if (sorted.length % 2 === 1) {\n    return sorted[at - 1] as number;\n  }\n"
    text += "  return (sorted[at - 1] - sorted[at]) / 2;\n}\n"
    answer = await debug(scripted, root, text, name="shop.ts")
    added = text.replace("1] - sorted", "1] + sorted")
    fixed = (added.replace("return sorted[at - 1]", "return sorted[at]"), added.replace("floor", "ceil"))
    assert applied(answer) in fixed, answer.message
    assert answer.metadata.calls == 0


async def test_statements_that_the_failing_run_does_not_execute_are_left_out(
    scripted: ScriptedModel, root: Path
) -> None:
    text = '/** fee("letter", 3) => 7 */\nexport function fee(kind, weight) {\n  switch (kind) {\n'
    text += '    case "letter":\n      return weight * 2 - 1;\n'
    text += "".join(
        f'    case "{kind}":\n      if (weight > {most}) return weight * {most} + 1;\n      return weight + {most};\n'
        for kind, most in {"parcel": 10, "pallet": 100, "truck": 1000}.items()
    )
    text += "    default:\n      return 0;\n  }\n}\n"
    answer = await debug(scripted, root, text, at="return weight * 2")
    assert applied(answer) == text.replace("2 - 1", "2 + 1"), answer.message
    assert said(answer, Check.SEARCH).count < 100, "of almost 400 edits"


async def test_a_failure_that_varies_is_not_searched(make: MakeCase) -> None:
    text = "/** f(1) => 2 */\nexport function f(n) {\n  return Math.random() < 0.5 ? 2 : n;\n}\n"
    case = replace(make(text, text, "f", action="debug"), language="javascript")
    found = [await search_script(case, Span(0, len(text)), None, 1.0) for _ in range(6)]
    assert any(each.problem for each in found)
    assert not any(each.found for each in found if each.problem)


async def test_a_target_that_is_too_long_is_not_searched(make: MakeCase) -> None:
    lines = "  total += n;\n" * 500
    text = f"/** f(1) => 499 */\nexport function f(n) {{\n  let total = 0;\n{lines}  return total;\n}}\n"
    case = replace(make(text, text, "f", action="debug"), language="javascript")
    found = await search_script(case, Span(0, len(text)), None, 1.0)
    assert found.problem == "the code is longer than 500 lines"


async def test_functions_with_jsx_are_not_searched(make: MakeCase) -> None:
    text = "export function Title({ text }) {\n  return <b>{text.trim}</b>;\n}\n"
    case = replace(make(text, text, "Title", action="debug"), language="javascriptreact")
    found = await search_script(case, Span(0, len(text)), None, 1.0)
    assert found.problem == "no function without JSX to change"
