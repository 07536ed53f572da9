"""The search with failing tests of Vitest and Jest, which run within their own runner, many candidates in one start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.engine import Bench, applied, said
from support.processes.node_projects import node_project
from support.processes.tools import needs
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import ModelError
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

pytestmark = needs("node")

RATES = "export const RATES = { food: 7, other: 19 };\nexport const rate = (kind) => RATES[kind] ?? RATES.other;\n"
CART = """import { rate } from "./rates.js";

export class Cart {
  #items = [];

  add(name, price, kind = "other") {
    this.#items.push({ name, price, kind });
    return this;
  }

  total() {
    let sum = 0;
    for (const { price, kind } of this.#items) {
      sum -= price + (price * rate(kind)) / 100;
    }
    return sum;
  }
}
"""
CART_TEST = """import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Cart } from "./cart.js";

let cart;
let food;
const noted = vi.fn();
beforeEach(() => {
  cart = new Cart();
});

it("is empty", () => expect(cart.total()).toBe(0));

describe("totals", () => {
  beforeAll(async () => {
    food = await Promise.resolve("food");
  });

  it.each([[100, 119], [200, 238]])("of %i", (price, total) => {
    expect(cart.add("a", price).total()).toBeCloseTo(total);
    noted(price);
    expect(noted.mock.calls.length).toBeLessThan(3);
  });

  it("with food", async () => {
    cart.add("a", 100, food);
    await Promise.resolve();
    expect({ total: cart.total() }).toEqual({ total: expect.any(Number) });
    expect(cart.total()).toBe(107);
  });

  it.skip("later", () => expect(1).toBe(2));
});
"""
JEST_TEST = """const { totals } = require("./totals");
const fs = require("fs");

jest.mock("fs");
const noted = jest.fn();

test("shown", () => expect(totals([], () => {})).toMatchSnapshot());
describe("totals", () => {
  let log;
  beforeEach(() => {
    log = jest.fn();
    jest.useFakeTimers();
    fs.readFileSync.mockReturnValue("3");
  });
  afterEach(() => jest.useRealTimers());

  test("of each word", () => {
    expect(totals(["a", "b", "a"], log)).toEqual({ a: 2, b: 1 });
    expect(log).toHaveBeenCalledTimes(3);
    noted();
    expect(noted).toHaveBeenCalledTimes(1);
  });
  test("of none", () => expect(totals([], log)).toStrictEqual({}));
  test("inline", () => expect(totals([], log)).toMatchInlineSnapshot("{}"));
  test("calls back", (done) => {
    totals(["a"], (word) => done(word === "a" ? undefined : new Error(word)));
  });
  test("twice", () => {
    expect.assertions(1);
    for (const count of Object.values(totals(["x", "x"], log))) expect(count).toBe(2);
  });
});
"""
TOTALS = """const totals = (words, log) => {
  const found = {};
  for (const word of words) {
    log(word);
    found[word] = (found[word] ?? 1) + 1;
  }
  return found;
};

module.exports = { totals };
"""


async def debug(scripted: ScriptedModel, path: Path, text: str, at: str = "return") -> Answer:
    """`debug` at a place in a file of a project, without a model."""
    path.write_text(text)
    scripted.default = Reply.failure(401)
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1),))) as bench:
        language = "typescript" if path.suffix == ".ts" else "javascript"
        root = Workspace((path.parent,))
        return await bench.run("debug", text.replace(at, f"$0{at}", 1), path=path, workspace=root, language=language)


def project(name: str) -> Iterator[Path]:
    """A folder with an installed framework, which its package.json names."""
    with node_project(name) as folder:
        (folder / "package.json").write_text(json.dumps({"devDependencies": {name: "*"}}))
        yield folder


vitest = pytest.fixture(name="vitest")(lambda: (yield from project("vitest")))
jest = pytest.fixture(name="jest")(lambda: (yield from project("jest")))


async def test_failing_tests_of_vitest_are_fixed_without_a_model(scripted: ScriptedModel, vitest: Path) -> None:
    (vitest / "rates.js").write_text(RATES)
    (vitest / "cart.test.js").write_text(CART_TEST)
    answer = await debug(scripted, vitest / "cart.js", CART, at="return sum")
    assert applied(answer) == CART.replace("sum -=", "sum +="), answer.message
    assert said(answer, Check.SEARCH).detail.startswith("found by search, ")
    passing = "3 tests pass, 3 of them failed before; 1 more do not execute the change"
    assert said(answer, Check.TESTS).detail == passing, "Vitest itself has judged the fix"
    assert (vitest / "cart.test.js").read_text() == CART_TEST, "what loads the search is written in the sandbox alone"
    assert answer.metadata.calls == 0


def snapshot(jest: Path, text: str) -> None:
    """Writes what the test `shown` compares."""
    (jest / "__snapshots__").mkdir()
    head = "// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n"
    shown = f"\n{text}\n" if "\n" in text else text
    (jest / "__snapshots__/totals.test.js.snap").write_text(f"{head}\nexports[`shown 1`] = `{shown}`;\n")


async def test_failing_tests_of_jest_are_fixed_without_a_model(scripted: ScriptedModel, jest: Path) -> None:
    (jest / "totals.test.js").write_text(JEST_TEST)
    snapshot(jest, "{}")
    answer = await debug(scripted, jest / "totals.js", TOTALS, at="return found")
    assert applied(answer) == TOTALS.replace("?? 1", "?? 0"), answer.message
    assert said(answer, Check.TESTS).verdict is Ruling.PASS
    assert answer.metadata.calls == 0


async def test_typescript_is_searched_with_vitest(scripted: ScriptedModel, vitest: Path) -> None:
    text = 'import { type Item, priced } from "./items";\n\n'
    text += "export function most(items: Item[], least: number): string[] {\n  const found: string[] = [];\n"
    text += "  for (const item of items) {\n    if (priced(item) < least) found.push(item.name as string);\n  }\n"
    text += "  return found;\n}\n"
    (vitest / "items.ts").write_text(
        "export interface Item { name: string; price: number }\n"
        "export const priced = (item: Item): number => item.price;\n"
    )
    (vitest / "most.test.ts").write_text(
        'import { expect, test } from "vitest";\n'
        'import { most } from "./most";\nimport type { Item } from "./items";\n\n'
        'const items: Item[] = [{ name: "a", price: 3 }, { name: "b", price: 5 }, { name: "c", price: 4 }];\n'
        'test("most", () => expect(most(items, 4)).toEqual(["b", "c"]));\n'
        'test("none", () => expect(most(items, 9)).toEqual([]));\n'
    )
    answer = await debug(scripted, vitest / "most.ts", text)
    assert applied(answer) == text.replace("< least", ">= least"), answer.message
    assert answer.metadata.calls == 0


SHOUT = """export function shout(name) {
  if (!name) return "!";
  return name.toLowerCase() + "?";
}
"""
SHOUT_TEST = """import { expect, test } from "vitest";
import { shout } from "./shout.js";

test("bob", () => expect(shout("bob")).toBe("BOB!"));
test("ann", () => expect(shout("ann")).toBe("ANN!"));
test("cy", () => expect(shout("cy")).toBe("CY!"));
test("none", () => expect(shout("")).toBe("!"));
"""


async def test_two_edits_are_tried_with_vitest(scripted: ScriptedModel, vitest: Path) -> None:
    (vitest / "shout.test.js").write_text(SHOUT_TEST)
    answer = await debug(scripted, vitest / "shout.js", SHOUT, at="return name")
    fixed = SHOUT.replace("toLowerCase", "toUpperCase").replace('"?"', '"!"')
    assert applied(answer) == fixed, answer.message
    assert said(answer, Check.SEARCH).count > 100, "pairs were tried"
    assert answer.metadata.calls == 0


async def test_candidates_that_wait_without_end_are_interrupted(scripted: ScriptedModel, jest: Path) -> None:
    text = "async function count(n) {\n  let found = 0;\n  while (n > 0) {\n    await null;\n    n -= 1;\n"
    text += "    found += 2;\n  }\n  return found;\n}\n\nmodule.exports = { count };\n"
    (jest / "count.test.js").write_text(
        'const { count } = require("./count");\n\ntest("three", async () => expect(await count(3)).toBe(3));\n'
        'test("none", async () => expect(await count(0)).toBe(0));\n'
    )
    answer = await debug(scripted, jest / "count.js", text, at="return found")
    assert applied(answer) == text.replace("found += 2", "found += 1"), answer.message
    assert sorted(each.name for each in jest.iterdir()) == ["count.js", "count.test.js", "node_modules", "package.json"]


STATE = """const { totals } = require("./totals");
let runs = 0;
test("counts", () => {
  runs += 1;
  if (runs === 1) expect(totals(["a"], () => {})).toEqual({ a: 1 });
});
"""
EARLY = """const { totals } = require("./totals");
let found;
beforeAll(() => {
  found = totals(["a"], () => {});
});
test("counts", () => expect(found).toEqual({ a: 1 }));
"""
COMPARED = """const { totals } = require("./totals");
test("shown", () => expect(totals(["a"], () => {})).toMatchSnapshot());
"""


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("test('x', () => { totals([; });", ""),
        ('const { totals } = require("./totals");\ntest("x", () => expect(totals([])).toEqual({}));', ""),
        (STATE, "No fix searched: the tests keep state between runs. "),
        (EARLY, "No fix searched: the failing tests run the code before they begin. "),
        (COMPARED, "No fix searched: a failing test compares a snapshot. "),
    ],
    ids=["tests that do not parse", "tests that pass", "tests that keep state", "hooks", "snapshots"],
)
async def test_tests_that_show_nothing_are_not_searched(
    scripted: ScriptedModel, jest: Path, tests: str, said: str
) -> None:
    (jest / "totals.test.js").write_text(tests)
    snapshot(jest, '{\n  "a": 1,\n}')
    with pytest.raises(ModelError, match=rf"^{said}scripted "):
        await debug(scripted, jest / "totals.js", TOTALS, at="return found")


async def test_without_the_framework_nothing_is_searched(scripted: ScriptedModel, root: Path) -> None:
    (root / "package.json").write_text(json.dumps({"devDependencies": {"jest": "*"}}))
    (root / "totals.test.js").write_text(JEST_TEST)
    with pytest.raises(ModelError, match=r"^scripted "):
        await debug(scripted, root / "totals.js", TOTALS, at="return found")
